package nccl

import (
	"reflect"
	"slices"
	"testing"

	"railyard/internal/long"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/topologies"
)

// rounding is what weights between a kernel and the library's estimate may differ by where a machine's links do.
const rounding = 1.01

// On every topology, links of any class that are faster make nothing slower that NCCL chose before, as long as its search finds the
// same channels: other channels, and another choice, are what NCCL itself would take.
func TestFasterLinksAreNotSlower(t *testing.T) {
	compared := 0
	for _, name := range topologies.Names() {
		for _, nodes := range long.Or([]int{2}, []int{1, 2, 3, 4}) {
			topo, err := topology.Load(topologies.Source, name, topology.Options{Nodes: nodes})
			if err != nil || topo.NumRanks() < 2 { // files without a network, and one GPU
				continue
			}
			profile := machineOf(t, topo)
			slow := runtime(t, topo, profile)
			for _, c := range topo.Classes() {
				for _, factor := range long.Or([]float64{2}, []float64{1.1, 2, 4}) {
					faster, err := topo.Faster(c.Name, factor)
					if err != nil { // no links of it are in use
						continue
					}
					if fast := runtime(t, faster, profile); sameChannels(slow, fast) {
						compared += notSlower(t, slow, fast, c.Name)
					}
				}
			}
		}
	}
	if compared < 4000 {
		t.Errorf("only %d predictions compared", compared)
	}
}

// sameChannels reports whether NCCL's search finds the same on two machines, but for rates.
func sameChannels(a, b *Runtime) bool {
	if a.model == nil || b.model == nil {
		return a.model == b.model
	}
	return slices.EqualFunc(a.model.found, b.model.found, func(x, y *found) bool {
		for _, of := range []func(*found) *channels{func(f *found) *channels { return f.ring }, func(f *found) *channels { return f.tree },
			func(f *found) *channels { return f.nvls }} {
			if p, q := of(x), of(y); p.n != q.n || !reflect.DeepEqual(p.intra, q.intra) || !reflect.DeepEqual(p.inter, q.inter) {
				return false
			}
		}
		return true
	})
}

// notSlower compares what NCCL chooses on the slower of two machines, of all collectives, and counts.
func notSlower(t *testing.T, slow, fast *Runtime, class string) (compared int) {
	t.Helper()
	for _, k := range everyKind {
		for _, size := range []units.Bytes{units.KiB, 256 * units.KiB, 8 * units.MiB, 64 * units.MiB, 4 * units.GiB} {
			chosen := predict(t, slow, Ask{Kind: k, Size: size})
			a := Ask{Kind: k, Algorithm: chosen.Algorithm, Protocol: chosen.Protocol, Size: size}
			before := predict(t, slow, a)
			after, err := fast.Predict(a)
			if err != nil {
				continue // which NCCL does not offer there
			}
			if compared++; float64(after.Time) > rounding*float64(before.Time) {
				t.Errorf("%s, %d ranks: with faster %s %v of %v by %s/%s takes %v, before %v", slow.topo.Name(), slow.rates.ranks,
					class, k, size,
					before.Algorithm, before.Protocol, after.Time, before.Time)
			}
		}
	}
	return compared
}
