package main

import (
	"strings"

	"railyard/cmd/internal/cli"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/sim"
)

// stragglerFlags say which ranks start late.
type stragglerFlags struct {
	Specs []string `flag:"straggler"`
	Seed  uint64   `flag:"seed,default=1"`
}

const stragglerForms = "write gpu:NAME=20us, exp:5us or normal:10us,2us"

// stragglers are the flags understood.
type stragglers struct {
	fixed   []units.Time // by rank
	spreads []sim.Spread
}

func (f *stragglerFlags) parse(topo *topology.Topology) (*stragglers, error) {
	if len(f.Specs) == 0 {
		return nil, nil
	}
	x := &stragglers{fixed: make([]units.Time, topo.NumRanks())}
	for _, s := range f.Specs {
		kind, rest, _ := strings.Cut(s, ":")
		var err error
		if kind == "gpu" {
			err = x.addGPU(topo, rest)
		} else {
			err = x.addSpread(kind, rest)
		}
		if err != nil {
			return nil, cli.Usagef("--straggler %s: %v", s, err)
		}
	}
	return x, nil
}

// addGPU reads NAME=20us.
func (x *stragglers) addGPU(topo *topology.Topology, text string) error {
	name, delay, ok := strings.Cut(text, "=")
	if !ok {
		return cli.Usagef(stragglerForms)
	}
	by, err := parseDelay(delay)
	if err != nil {
		return err
	}
	d, err := gpuNamed(topo, name)
	if err != nil {
		return err
	}
	x.fixed[topo.RankOf(d)] += by
	return nil
}

// addSpread reads exp:MEAN and normal:MEAN,DEVIATION.
func (x *stragglers) addSpread(kind, text string) error {
	mean, deviation, both := strings.Cut(text, ",")
	if (kind != "exp" || both) && (kind != "normal" || !both) {
		return cli.Usagef(stragglerForms)
	}
	s := sim.Spread{Exponential: kind == "exp"}
	var err error
	if s.Mean, err = parseDelay(mean); err != nil {
		return err
	}
	if both {
		if s.Deviation, err = parseDelay(deviation); err != nil {
			return err
		}
	}
	x.spreads = append(x.spreads, s)
	return nil
}

func parseDelay(text string) (units.Time, error) {
	t, err := units.ParseTime(text)
	if err != nil {
		return 0, err
	}
	if t < 0 || t > 1e18 {
		return 0, cli.Usagef("%s: a delay must be from 0 to ten days", text)
	}
	return t, nil
}

// random reports whether the delays depend on the seed.
func (x *stragglers) random() bool { return x != nil && len(x.spreads) > 0 }

// delays are those of all ranks for a seed; nil where there are no stragglers.
func (x *stragglers) delays(seed uint64) []units.Time {
	if x == nil {
		return nil
	}
	out := append([]units.Time{}, x.fixed...)
	for i, s := range x.spreads {
		s.Draw(out, seed+uint64(i)<<32)
	}
	return out
}
