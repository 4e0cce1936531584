package nccl

import (
	"slices"

	"railyard/model/topology"
)

// ProfileFor is the name of the shipped profile whose kernels were fitted on hardware
// like a topology's.
func ProfileFor(t *topology.Topology) string {
	if p := t.Profile(); p != "" && p != "host" {
		return p
	}
	rate, medium := fastestLink(t)
	switch {
	case medium == topology.XGMI:
		return "mi300x"
	case medium == topology.PCIe:
		return byRate(rate, []generationRate{{50e9, "pcie5"}, {25e9, "pcie4"}, {0, "pcie3"}})
	}
	m, err := New(t, Options{})
	if err != nil {
		return General
	}
	if m.ComputeCapability() >= 100 && graceBlackwell(t) {
		return "gb200"
	}
	return byRate(float64(m.ComputeCapability()), []generationRate{{100, "b200"}, {90, "h100"}, {80, "a100"}, {70, "v100"}, {0, "p100"}})
}

// graceBlackwell reports whether rank 0 hangs on its CPU over NVLink-C2C.
func graceBlackwell(t *topology.Topology) bool {
	return slices.ContainsFunc(t.Out(t.Ranks()[0]), func(l topology.LinkID) bool { return t.Class(l).Medium == topology.C2C })
}

type generationRate struct {
	from float64
	name string
}

func byRate(v float64, list []generationRate) string {
	for _, g := range list {
		if v >= g.from {
			return g.name
		}
	}
	return General
}

// fastestLink is what rank 0 talks to other GPUs over: a scale-up link, else PCIe.
func fastestLink(t *topology.Topology) (rate float64, medium topology.Medium) {
	medium = topology.PCIe
	for _, l := range t.Out(t.Ranks()[0]) {
		c := t.Class(l)
		switch c.Medium {
		case topology.NVLink, topology.XGMI:
			return float64(c.Rate), c.Medium
		case topology.PCIe:
			rate = max(rate, float64(c.Rate))
		}
	}
	return rate, medium
}
