package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"railyard/model/health"
	"railyard/model/survey"
	"railyard/model/topology"
	"railyard/model/units"
)

// affinity tells which adapters GPUs are near, whether those over which they send are others, and which NCCL_IB_HCA leaves out.
func affinity(s *health.State) {
	gpus, hca, takers := pathsOf(s), adapterFilter(s), map[string]int{}
	for _, ways := range gpus {
		for _, w := range ways {
			if w.Yes("taken") {
				takers[w.Adapter()]++
			}
		}
	}
	for _, ways := range gpus {
		p, far := s.Part(health.GPU, health.OfLink(ways[0].Name)), ways[0].Number("far")
		from, _ := ways[0].Fact("far")
		s.Set(p, "nic", ways[0].Adapter(), from.From)
		s.Set(p, "nic_far", far, from.From)
		compare(s, ways, hca, takers)
	}
	leftOut(s, gpus, hca)
}

// pathsOf are the ways of each GPU, nearest first.
func pathsOf(s *health.State) (gpus [][]*health.Part) {
	for _, w := range s.Parts(health.Path) {
		if _, ok := w.Fact("far"); !ok {
			continue
		}
		if n := len(gpus); n == 0 || health.OfLink(gpus[n-1][0].Name) != health.OfLink(w.Name) {
			gpus = append(gpus, nil)
		}
		gpus[len(gpus)-1] = append(gpus[len(gpus)-1], w)
	}
	for _, ways := range gpus {
		slices.SortStableFunc(ways, func(a, b *health.Part) int { return cmp.Compare(a.Number("far"), b.Number("far")) })
	}
	return gpus
}

// compare says of the ways that a GPU takes which would be better: the nearest; of those, to the adapter that the fewest GPUs send over.
func compare(s *health.State, ways []*health.Part, hca filter, takers map[string]int) {
	near := nearestUsable(s, ways)
	if len(near) == 0 {
		return
	}
	best := slices.MinFunc(near, func(a, b *health.Part) int { return cmp.Compare(takers[a.Adapter()], takers[b.Adapter()]) })
	for _, w := range ways {
		if !w.Yes("taken") {
			continue
		}
		if _, known := w.Fact("direct"); !known {
			s.Set(w, "direct", directly(s, w), derived)
		}
		s.Set(w, "adapter", w.Adapter(), derived)
		s.Set(w, "where", health.PathWords(int(w.Number("far"))), derived)
		s.Set(w, "better", best.Adapter(), derived)
		s.Set(w, "better_far", best.Number("far"), derived)
		s.Set(w, "better_where", health.PathWords(int(best.Number("far"))), derived)
		s.Set(w, "pin", hca.pin(best.Adapter()), derived)
	}
}

// nearestUsable are the ways of a GPU to those adapters that are nearest of all that jobs may use.
func nearestUsable(s *health.State, ways []*health.Part) (out []*health.Part) {
	for _, w := range ways {
		if usable(s, w.Adapter()) && (len(out) == 0 || w.Number("far") == out[0].Number("far")) {
			out = append(out, w)
		}
	}
	return out
}

// usable reports whether jobs may use an adapter: where ports are known, its is up, and it is of the type that jobs use.
func usable(s *health.State, adapter string) bool {
	_, ported := s.Host().Fact("nics_used")
	state, isPort := s.Fact(health.NIC, adapter, "state")
	used, isKnown := s.Fact(health.NIC, adapter, "used")
	return (state.Is == "Active" || !isPort && !ported) && (!isKnown || used.Is == true)
}

// directly reports whether NCCL lets an adapter reach a GPU's memory, unless the machine says otherwise.
func directly(s *health.State, w *health.Part) bool {
	level := topology.RouteKind(topology.GDRLevel)
	if v, ok := s.Fact(health.Variable, "NCCL_NET_GDR_LEVEL", "value"); ok {
		if said, ok := topology.ParseGDRLevel(v.Is.(string)); ok {
			level = said
		}
	}
	return topology.NICPath{Kind: topology.PIX + topology.RouteKind(w.Number("far"))}.GPUDirect(level)
}

// leftOut says which adapters NCCL_IB_HCA leaves out though they are nearer to GPUs than any that it leaves; nothing where it names none
// of those that are known, as where these are numbered only.
func leftOut(s *health.State, gpus [][]*health.Part, hca filter) {
	known := slices.ContainsFunc(slices.Concat(gpus...), func(w *health.Part) bool {
		return slices.ContainsFunc(hca.names, func(name string) bool { return hca.matches(name, w.Adapter()) })
	})
	if !known {
		return
	}
	var all, out []string
	var alone []int
	for _, ways := range gpus {
		near, passed := nearestUsable(s, ways), false
		for _, w := range near {
			all, passed = append(all, w.Adapter()), passed || hca.passes(w.Adapter())
		}
		if passed || len(near) == 0 {
			continue
		}
		n, _ := strconv.Atoi(health.OfLink(near[0].Name))
		alone = append(alone, n)
		for _, w := range near {
			out = append(out, w.Adapter())
		}
	}
	slices.Sort(all)
	slices.Sort(out)
	all, out = slices.Compact(all), slices.Compact(out)
	if p := s.Part(health.Variable, hcaVariable); len(all) > 0 {
		s.Set(p, "left_out", strings.Join(out, ", "), derived)
		noun := map[bool]string{true: "GPU ", false: "GPUs "}[len(alone) == 1]
		s.Set(p, "left_alone", noun+units.Ranges(alone, ", "), derived)
		left := len(all) - len(out)
		if left == 0 { // farther ones take their place
			left = min(len(hca.leaves(s)), len(all)-1)
		}
		s.Set(p, "left_share", float64(left)/float64(len(all)), derived)
		s.Set(p, "pin", hca.with(out), derived)
	}
}

// hcaVariable names adapters for NCCL, or what their names begin with (src/transport/net_ib of NCCL).
const hcaVariable = "NCCL_IB_HCA"

// filter is which adapters it leaves NCCL.
type filter struct {
	marks string   // before the names: ^ excludes, = asks for whole names
	names []string // with ports; spaces belong to them
	known []string // adapters of the machine
}

func adapterFilter(s *health.State) (f filter) {
	for _, w := range s.Parts(health.Path) {
		f.known = append(f.known, w.Adapter())
	}
	v, ok := s.Fact(health.Variable, hcaVariable, "value")
	if !ok {
		return f
	}
	names := strings.TrimLeft(strings.TrimSpace(v.Is.(string)), "^=")
	f.marks = strings.TrimSuffix(strings.TrimSpace(v.Is.(string)), names)
	f.names = slices.DeleteFunc(strings.Split(names, ","), func(name string) bool { return name == "" || name[0] == ':' })
	return f
}

// matches reports whether a name of the filter is an adapter's.
func (f *filter) matches(name, adapter string) bool {
	name, _, _ = strings.Cut(name, ":")
	return adapter == name || !strings.Contains(f.marks, "=") && strings.HasPrefix(adapter, name)
}

func (f *filter) passes(adapter string) bool {
	named := len(f.names) == 0 || slices.ContainsFunc(f.names, func(name string) bool { return f.matches(name, adapter) })
	return named != strings.Contains(f.marks, "^")
}

// leaves are the adapters that pass and that jobs may use.
func (f *filter) leaves(s *health.State) []string {
	left := slices.DeleteFunc(slices.Clone(f.known), func(a string) bool { return !f.passes(a) || !usable(s, a) })
	slices.Sort(left)
	return slices.Compact(left)
}

// with is a value that leaves some adapters as well, by whole names: as a beginning, mlx5_1 would leave mlx5_10, too.
func (f *filter) with(adapters []string) string {
	left := slices.DeleteFunc(slices.Clone(f.known), func(a string) bool { return !f.passes(a) && !slices.Contains(adapters, a) })
	slices.SortFunc(left, survey.Natural)
	return "=" + strings.Join(slices.Compact(left), ",")
}

// pin is what makes NCCL take an adapter: of those that it may use, which must be the same for all ranks, it takes the nearest.
func (f *filter) pin(adapter string) string {
	if f.passes(adapter) {
		return fmt.Sprintf("let NCCL see that %s is nearer: where containers or virtual machines hide it, by NCCL_TOPO_FILE", adapter)
	}
	return fmt.Sprintf("pin it to %s: %s=%s , the same on all ranks; NCCL gives each GPU its nearest", adapter, hcaVariable,
		f.with([]string{adapter}))
}
