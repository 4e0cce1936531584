package nccl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"railyard/model/collective"
	"railyard/model/units"
)

// Plain is an algorithm's or protocol's name in profiles; "" leaves the choice to NCCL.
func Plain(name string) string {
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

// Known fails on names of algorithms and protocols that NCCL does not have; "" and default leave the choice to NCCL.
func Known(algorithm, protocol string) error {
	for _, x := range []struct {
		what, name string
		have       []string
	}{{"algorithm", algorithm, append(algoNames[:len(algoNames):len(algoNames)], collNet, copyEngine)},
		{"protocol", protocol, append(protoNames[:len(protoNames):len(protoNames)], "copy")}} {
		known := func(have string) bool { return Plain(have) == Plain(x.name) }
		if Plain(x.name) != "" && !slices.ContainsFunc(x.have, known) {
			return fmt.Errorf("NCCL has no %s %q: it has %s", x.what, x.name, strings.Join(x.have, ", "))
		}
	}
	return nil
}

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

// choice is a way to run a collective.
type choice struct {
	algorithm, protocol string
	own, latency        units.Time // NCCL's own estimate, and what of it moves no bytes
}

// choices are what may run: NCCL's candidates that agree with what is asked for, its
// first choice first; for point-to-point collectives and foreign GPUs, what its constants say.
func (r *Runtime) choices(a Ask) []choice {
	algorithm, protocol := Plain(a.Algorithm), Plain(a.Protocol)
	if c, ok := r.pointToPoint(a); ok {
		return []choice{c}
	}
	var out []choice
	if r.model != nil {
		list, _ := r.model.Candidates(a.Kind, a.Size) // none: a collective without a cost model
		for _, e := range list {
			c := choice{Plain(e.Algo.String()), Plain(e.Proto.String()), e.Time, e.Latency}
			if isA(c.algorithm, algorithm) && isA(c.protocol, protocol) {
				out = append(out, c)
			}
		}
	}
	if r.model == nil {
		return r.constants(a)
	}
	return out
}

// constants are the ways on GPUs that NCCL has no model of, the fastest by its constants first.
func (r *Runtime) constants(a Ask) []choice {
	algorithm, protocol := Plain(a.Algorithm), Plain(a.Protocol)
	var out []choice
	took := map[choice]units.Time{}
	for _, c := range []choice{{algorithm: "ring", protocol: "ll"}, {algorithm: "ring", protocol: "simple"},
		{algorithm: "tree", protocol: "ll"}, {algorithm: "tree", protocol: "simple"}} {
		w, err := r.work(a, c)
		if err != nil || !isA(c.algorithm, algorithm) || !isA(c.protocol, protocol) ||
			c.algorithm == "tree" && r.rates.nodes == 1 {
			continue
		}
		k := r.prior(a.Kind, c)
		k.Fill = 0 // NCCL's model knows no pipelines
		_, took[c] = r.spend(&k, &w)
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(x, y choice) int { return cmp.Compare(took[x], took[y]) })
	return out
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
