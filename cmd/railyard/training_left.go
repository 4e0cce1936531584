package main

import (
	"cmp"
	"slices"

	"github.com/spf13/cobra"

	"railyard/capacity/search"
	"railyard/capacity/step"
	"railyard/cmd/internal/cli"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/model/workload"
)

// lost reports whether the layout is searched on a machine whose faults leave fewer GPUs.
func (f *trainingFlags) lost(p *step.Predictor) (bool, error) {
	if len(f.Topo.Fail) == 0 || f.Layout.Text != "" {
		return false, nil
	}
	before := f.Topo
	before.Fail, before.Slow, before.Loads = nil, nil, nil
	t, err := before.load()
	return err == nil && t.NumRanks() > p.Machine().Topology.NumRanks(), err
}

// chosen is the layout of a step, the machine that it uses, and how many of its GPUs that leaves out: of what is left of one, the part
// on which the step is fastest.
func (f *trainingFlags) chosen(cmd *cobra.Command, p *step.Predictor, w *workload.Workload) (q *step.Predictor, l step.Layout,
	searched, idle int, err error) {
	lost, err := f.lost(p)
	if err != nil {
		return nil, l, 0, 0, err
	}
	if !lost {
		l, searched, err = f.best(cmd, p, w)
		return p, l, searched, 0, err
	}
	s, err := f.Layout.space(cmd)
	if err != nil {
		return nil, l, 0, 0, err
	}
	s.Narrow = true
	left := search.Left{All: p, Part: f.part(p.Machine().Topology)}
	bar := cli.NewProgress(cmd.ErrOrStderr(), "layouts")
	best, err := left.Search(cmd.Context(), w, s, search.Options{Top: 1, Progress: bar.Set})
	bar.Finish()
	if err != nil {
		return nil, l, 0, 0, err
	}
	return best.Predictor, best.Result.Layout, best.Searched, best.Idle, nil
}

// part makes parts of a machine that has lost GPUs, for search.Left: the GPUs left out are those of the nodes that have fewest first,
// then those of the last nodes.
func (f *trainingFlags) part(t *topology.Topology) func(idle int) (*step.Predictor, error) {
	ranks := make([][]int, t.NumNodes())
	for r := range t.NumRanks() {
		ranks[t.NodeOf(r)] = append(ranks[t.NodeOf(r)], r)
	}
	order := make([]int, len(ranks))
	for i := range order {
		order[i] = len(ranks) - 1 - i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(ranks[a]), len(ranks[b])) })
	return func(idle int) (*step.Predictor, error) {
		part := *f
		part.Topo.Fail = slices.Concat(f.Topo.Fail, without(t, ranks, order, idle))
		p, _, err := part.load()
		return p, err
	}
}

// without are the faults that leave out so many GPUs of the nodes in an order; a node that has none left goes as a whole.
func without(t *topology.Topology, ranks [][]int, order []int, idle int) []string {
	var out []string
	for _, n := range order {
		if idle >= len(ranks[n]) {
			out, idle = append(out, "node:"+t.NodeName(n)), idle-len(ranks[n])
			continue
		}
		for _, r := range ranks[n][len(ranks[n])-idle:] {
			out = append(out, "gpu:"+t.DeviceName(t.Ranks()[r]))
		}
		break
	}
	return out
}

// idleNote says that a layout leaves GPUs out.
func idleNote(idle int) []string {
	if idle == 0 {
		return nil
	}
	return []string{units.Counted(idle, "GPU") + " idle: no layout that uses more of them is faster and fits"}
}
