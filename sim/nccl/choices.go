package nccl

import (
	"slices"
	"strings"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/units"
)

// plain is an algorithm's or protocol's name in profiles; "" leaves the choice to NCCL.
func plain(name string) string {
	switch name = strings.ToLower(name); name {
	case "default", "-":
		return ""
	case "nvlstree":
		return "nvls_tree"
	case "collnet (sharp)":
		return collNet
	case "collnetdirect":
		return "collnet_direct"
	case "collnetchain":
		return "collnet_chain"
	}
	return name
}

// collNet is any way through the network's switches.
const collNet = "collnet"

// isA reports whether an algorithm, or protocol, is what was asked for.
func isA(name, asked string) bool {
	return asked == "" || name == asked || asked == collNet && strings.HasPrefix(name, collNet)
}

func orAny(name string) string {
	if name == "" {
		return "any"
	}
	return name
}

// choice is a way to run a collective; chosen where NCCL's model picked it.
type choice struct {
	algorithm, protocol string
	chosen              bool
	own                 units.Time
}

// choices are what may run: NCCL's candidates that agree with what is asked for, its
// first choice first; for point-to-point collectives and foreign GPUs, all kernels of
// the profile that make the collective.
func (r *Runtime) choices(a Ask) []choice {
	algorithm, protocol := plain(a.Algorithm), plain(a.Protocol)
	if c, ok := r.pointToPoint(a); ok {
		return []choice{c}
	}
	var out []choice
	if r.model != nil {
		list, _ := r.model.Candidates(a.Kind, a.Size) // none: a collective without a cost model
		for _, e := range list {
			c := choice{plain(e.Algo.String()), plain(e.Proto.String()), false, e.Time}
			if isA(c.algorithm, algorithm) && isA(c.protocol, protocol) {
				c.chosen = len(out) == 0
				out = append(out, c)
			}
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, p := range []*cost.Profile{r.profile, r.general} {
		for _, kind := range append([]collective.Kind{a.Kind}, similar[a.Kind]...) {
			if out = slices.DeleteFunc(fitted(p, kind, algorithm, protocol), r.cannotRun); len(out) > 0 {
				return out
			}
		}
	}
	if r.model != nil {
		return nil
	}
	return constants(algorithm, protocol)
}

// constants are the ways that NCCL's constants cost on any GPUs: rings.
func constants(algorithm, protocol string) (out []choice) {
	for _, p := range []string{"ll", "simple"} {
		if (algorithm == "" || algorithm == "ring") && (protocol == "" || protocol == p) {
			out = append(out, choice{algorithm: "ring", protocol: p})
		}
	}
	return out
}

// cannotRun reports whether a way needs switches that reduce where there are none; what
// NCCL's own model offers, it has asked itself.
func (r *Runtime) cannotRun(c choice) bool {
	return r.model == nil && !r.reduces && (c.algorithm == "nvls" || c.algorithm == "nvls_tree")
}

// smallMessage is the message to a peer below which NCCL's point-to-point transfers take
// LL: measured times on H100 and B200 rise up to there and are flat from there on (series
// aic-*-alltoall-*); NCCL_P2P_LL_THRESHOLD, 16 KiB, is for each channel to a peer.
const smallMessage = 64 * units.KiB

// pointToPoint is the one way to make collectives of sends and receives.
func (r *Runtime) pointToPoint(a Ask) (choice, bool) {
	message := a.Size
	switch a.Kind {
	case collective.AllToAll, collective.AllToAllV:
		message /= units.Bytes(r.rates.ranks)
	case collective.SendRecv:
	default:
		return choice{}, false
	}
	if message < smallMessage {
		return choice{algorithm: "p2p", protocol: "ll"}, true
	}
	return choice{algorithm: "p2p", protocol: "simple"}, true
}

// fitted are the ways to make a collective that a profile has kernels for.
func fitted(p *cost.Profile, k collective.Kind, algorithm, protocol string) []choice {
	var out []choice
	for i := range p.Kernels {
		x := &p.Kernels[i]
		c := choice{algorithm: x.Algorithm, protocol: x.Protocol}
		if x.Collective == k.String() && isA(x.Algorithm, algorithm) && isA(x.Protocol, protocol) &&
			!slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}
