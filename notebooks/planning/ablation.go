package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"railyard/internal/gen"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/study/score"
	"railyard/topologies"
)

// machine is a topology that the ablation plans for.
type machine struct {
	name  string
	build func() (*topology.Topology, error)
}

// most bounds the GPUs of a machine of the ablation.
const most = 128

// machines are the shipped topologies on 1 to 16 nodes, DGX H100 that have lost parts, and random graphs, among them
// those of families that no algorithm was made for and clusters of random nodes that have lost a part.
func machines() []machine {
	var out []machine
	for _, name := range topologies.Names() {
		for _, nodes := range []int{1, 2, 4, 16} {
			out = append(out, machine{fmt.Sprintf("%s × %d", name, nodes), func() (*topology.Topology, error) {
				return topology.Load(topologies.Source, name, topology.Options{Nodes: nodes})
			}})
		}
	}
	for _, nodes := range []int{2, 4, 16} {
		for _, faults := range lost {
			out = append(out, machine{fmt.Sprintf("dgx-h100 × %d without %s", nodes, faults), func() (*topology.Topology, error) {
				return without("dgx-h100", nodes, faults)
			}})
		}
	}
	for _, name := range []string{"mesh4x3", "mesh5x5", "star8"} {
		out = append(out, machine{name, func() (*topology.Topology, error) {
			return topology.Load(topologies.Source, "planner/testdata/"+name+".yaml", topology.Options{})
		}})
	}
	for seed := range int64(32) {
		out = append(out, machine{fmt.Sprintf("uneven %d", seed), func() (*topology.Topology, error) { return gen.Uneven(seed), nil }},
			machine{fmt.Sprintf("random %d", seed), func() (*topology.Topology, error) { return gen.Topology(seed), nil }},
			machine{fmt.Sprintf("random %d without a link", seed), func() (*topology.Topology, error) { return withoutLink(seed) }})
	}
	for seed := range uint64(24) {
		out = append(out, drawn(seed))
	}
	for _, family := range gen.Families() {
		for seed := range int64(3) {
			out = append(out, machine{fmt.Sprintf("unseen %s %d", family, seed), func() (*topology.Topology, error) {
				return gen.Unseen(family, seed), nil
			}})
		}
	}
	return out
}

// withoutLink is a random topology of which a random link has lost half of its rate.
func withoutLink(seed int64) (*topology.Topology, error) {
	t := gen.Topology(seed)
	rng := rand.New(rand.NewPCG(uint64(seed), 1))
	ends := strings.Split(t.LinkName(topology.LinkID(rng.IntN(len(t.Links())))), "->")
	f, err := topology.ParseFault("link:" + strings.Join(ends, "--") + "=0.5")
	if err != nil {
		return nil, err
	}
	return t.Degrade([]topology.Fault{f})
}

// drawn is a shipped machine other than the DGX H100, on two to four nodes, that has lost one to three adapters or links inside
// nodes, or half of their rates.
func drawn(seed uint64) machine {
	rng := rand.New(rand.NewPCG(seed, 3))
	names := slices.DeleteFunc(topologies.Names(), func(name string) bool { return name == "dgx-h100" })
	name, nodes := names[rng.IntN(len(names))], 2+rng.IntN(3)
	return machine{fmt.Sprintf("drawn %d without parts of %s × %d", seed, name, nodes), func() (*topology.Topology, error) {
		t, err := topology.Load(topologies.Source, name, topology.Options{Nodes: nodes})
		if err != nil {
			return nil, err
		}
		var parts []string
		for i, d := range t.Devices() {
			if d.Kind == topology.NIC {
				parts = append(parts, "nic:"+t.DeviceName(topology.DeviceID(i)))
			}
		}
		for i, l := range t.Links() {
			if t.Devices()[l.From].Node >= 0 && t.Devices()[l.To].Node >= 0 {
				parts = append(parts, "link:"+strings.ReplaceAll(t.LinkName(topology.LinkID(i)), "->", "--"))
			}
		}
		var list []topology.Fault
		for range 1 + rng.IntN(3) {
			f, err := topology.ParseFault(parts[rng.IntN(len(parts))] + []string{"", "=0.5"}[rng.IntN(2)])
			if err != nil {
				return nil, err
			}
			list = append(list, f)
		}
		return t.WithoutInNetwork().Degrade(list)
	}}
}

// without is a shipped topology that has lost parts.
func without(name string, nodes int, faults string) (*topology.Topology, error) {
	whole, err := topology.Load(topologies.Source, name, topology.Options{Nodes: nodes})
	if err != nil {
		return nil, err
	}
	var list []topology.Fault
	for _, text := range strings.Fields(faults) {
		f, err := topology.ParseFault(text)
		if err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	return whole.WithoutInNetwork().Degrade(list)
}

// row is what the best algorithm gains over all others for a collective at a size.
type row struct {
	machine   string
	kind      collective.Kind
	costs     string
	size      units.Bytes
	algorithm string
	time      units.Time
	gain      float64 // how much longer the best of the others takes: 0.02 is 2 %
	behind    string  // that one
}

func (r row) where() string { return fmt.Sprintf("%s, %v, %v, %s", r.machine, r.kind, r.size, r.costs) }

// ablation prints, for each algorithm, where it comes first and what plans would lose without it. Algorithms named in its
// arguments are left out from the start: what is left out together may be missed though each alone is not. With
// "--on PATTERN" first, only machines are looked at whose names match that regular expression.
func ablation(leftOut []string) {
	list := machines()
	if len(leftOut) > 1 && leftOut[0] == "--on" {
		on := regexp.MustCompile(leftOut[1])
		list, leftOut = slices.DeleteFunc(list, func(m machine) bool { return !on.MatchString(m.name) }), leftOut[2:]
	}
	rows := allRows(list, leftOut)
	fmt.Printf("%d rows:\n\n", len(rows))
	head("algorithm", "first", "by 2 % and more: shipped", "degraded", "random", "most (%)", "where", "then")
	for _, a := range planner.Algorithms() {
		first, by, best := 0, [len(kinds)]int{}, row{}
		for _, r := range rows {
			if r.algorithm != a.Name {
				continue
			}
			if first++; r.gain >= 0.02 {
				by[r.of()]++
			}
			if r.gain > best.gain {
				best = r
			}
		}
		if best.gain == 0 {
			fmt.Printf("| %s | %d | 0 | 0 | 0 | – | | |\n", a.Name, first)
			continue
		}
		fmt.Printf("| %s | %d | %d | %d | %d | %.1f | %s | %s |\n", a.Name, first, by[0], by[1], by[2], 100*best.gain, best.where(),
			best.behind)
	}
}

// kinds are the patterns that tell machines by their names: those as they are shipped, those that have lost parts, and
// those that no algorithm was made for: random graphs, and others than the DGX H100 that have lost parts drawn at random.
var kinds = [3]*regexp.Regexp{regexp.MustCompile(""), regexp.MustCompile(" without "), regexp.MustCompile("^(uneven|random|unseen|drawn) ")}

// of is the last kind that a row's machine is of.
func (r row) of() int {
	for i := len(kinds) - 1; ; i-- {
		if kinds[i].MatchString(r.machine) {
			return i
		}
	}
}

// allRows plans on all processors; the rows are in the order of machines.
func allRows(list []machine, leftOut []string) []row {
	out := make([][]row, len(list))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range list {
		g.Go(func() error {
			out[i] = list[i].rows(leftOut)
			for _, r := range out[i] {
				fmt.Fprintf(os.Stderr, "%s\t%s\t%d\t%.4f\t%s\n", r.where(), r.algorithm, r.time, r.gain, r.behind)
			}
			return nil
		})
	}
	_ = g.Wait() // nothing fails
	return slices.Concat(out...)
}

// rows are those of a machine, none where there is no such machine or one of too many GPUs.
func (m machine) rows(leftOut []string) []row {
	t, err := m.build()
	if err != nil || t.NumRanks() > most || t.NumRanks() < 2 {
		return nil
	}
	var out []row
	for _, kind := range collective.All() {
		spec := collective.Spec{Kind: kind, Ranks: t.NumRanks()}
		if kind == collective.AllToAllV {
			spec.Counts = skewed(t.NumRanks())
		}
		for _, costs := range costsOn(t) {
			sizes := []units.Bytes{units.KiB, 32 * units.KiB, units.MiB, 32 * units.MiB, units.GiB}
			switch {
			case costs == cost.Ideal:
				sizes = sizes[len(sizes)-1:]
			case kind == collective.Barrier:
				sizes = sizes[:1] // it has none
			}
			x := ablated{m.name, t, spec, costs}
			out = append(out, x.rows(sizes, leftOut)...)
		}
	}
	return out
}

// costsOn are line rates with and without latencies and, where the GPUs are known, what railyard's kernels take on them.
func costsOn(t *topology.Topology) []*cost.Profile {
	out := []*cost.Profile{cost.Line, cost.Ideal}
	if m, err := cost.MachineFor(t); err == nil {
		own := *m.Own(t)
		own.Name = "own"
		out = append(out, &own)
	}
	return out
}

// skewed are counts of an all_to_allv: few ranks send and get much, as experts do.
func skewed(ranks int) [][]int64 {
	rng := rand.New(rand.NewPCG(uint64(ranks), 2))
	out := make([][]int64, ranks)
	for i := range out {
		for range ranks {
			out[i] = append(out[i], []int64{0, 1, 1, 2, 2, 4, 16}[rng.IntN(7)])
		}
	}
	return out
}

// ablated is a question that is asked again without the algorithm that answers it.
type ablated struct {
	name  string
	t     *topology.Topology
	spec  collective.Spec
	costs *cost.Profile
}

func (x ablated) rows(sizes []units.Bytes, leftOut []string) []row {
	plans, err := x.plan(sizes, leftOut)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s, %v: %v\n", x.name, x.spec.Kind, err)
		return nil
	}
	out := make([]row, len(sizes))
	again := map[string][]int{} // by algorithm: rows
	for i, p := range plans {
		out[i] = row{machine: x.name, kind: x.spec.Kind, costs: x.costs.Name, size: sizes[i], algorithm: p.Schedule.Algorithm,
			time: p.Prediction.Time}
		if p.RunnerUp != nil {
			out[i].gain, out[i].behind = p.RunnerLoss(), planner.Name(p.RunnerUp)
		}
		if p.RunnerUp == nil || p.RunnerLoss() >= 0.02 {
			again[p.Schedule.Algorithm] = append(again[p.Schedule.Algorithm], i)
		}
	}
	for _, algorithm := range slices.Sorted(maps.Keys(again)) {
		x.without(algorithm, out, again[algorithm], leftOut)
	}
	return out
}

// without plans rows again without an algorithm: where there is no plan then, it gains everything.
func (x ablated) without(algorithm string, rows []row, which []int, leftOut []string) {
	var sizes []units.Bytes
	for _, i := range which {
		sizes = append(sizes, rows[i].size)
	}
	plans, err := x.plan(sizes, append(slices.Clone(leftOut), algorithm))
	for k, i := range which {
		r := &rows[i]
		if err != nil {
			r.gain, r.behind = 9.99, "nothing"
			continue
		}
		r.gain, r.behind = plans[k].Prediction.Time.Seconds()/max(r.time.Seconds(), 1e-12)-1, planner.Name(plans[k].Schedule)
	}
}

func (x ablated) plan(sizes []units.Bytes, leftOut []string) ([]planner.Row, error) {
	scorer := score.New(x.t, x.costs)
	scorer.Limit = int64(planner.DefaultBudget)
	return planner.Plan(x.t, x.spec, sizes, scorer, planner.PlanOptions{Without: leftOut})
}
