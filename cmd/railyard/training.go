package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"railyard/capacity/search"
	"railyard/capacity/step"
	"railyard/cmd/internal/cli"
	"railyard/model/gpu"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/model/workload"
)

// trainingFlags choose a workload, a machine and how they meet.
type trainingFlags struct {
	Topo     topoFlags
	Profile  profileFlag
	Workload string   `flag:"workload,w,need,complete={workloads},files"`
	Set      []string `flag:"workload-set"` // of the workload
	Gpu      string   `flag:"gpu"`
	Runtime  string   `flag:"runtime,default=nccl,one=nccl|railyard"`
	Layout   layoutFlags
}

// load prepares the predictor and the workload.
func (f *trainingFlags) load() (*step.Predictor, *workload.Workload, error) {
	if _, err := workload.Get(f.Workload, f.Set...); err != nil {
		return nil, nil, err // before the topology, which may take longer
	}
	t, err := f.Topo.load()
	if err != nil {
		return nil, nil, err
	}
	return f.on(t)
}

// on prepares them for a topology that is loaded already, or a part of it.
func (f *trainingFlags) on(t *topology.Topology) (*step.Predictor, *workload.Workload, error) {
	w, err := workload.Get(f.Workload, f.Set...)
	if err != nil {
		return nil, nil, err
	}
	site, err := f.Topo.site()
	if err != nil {
		return nil, nil, err
	}
	p, err := f.predictor(t, site.Part)
	return p, w, err
}

// predictor prepares one for a topology, of which part makes smaller ones.
func (f *trainingFlags) predictor(t *topology.Topology, part func(nodes, gpus int) (*topology.Topology, error)) (*step.Predictor, error) {
	g, err := f.findGPU(t)
	if err != nil {
		return nil, err
	}
	costs, err := f.Profile.machine(t)
	if err != nil {
		return nil, err
	}
	if f.Runtime == "nccl" {
		return step.OnNCCL(t, g, costs.NCCL(), part)
	}
	m, err := step.NewMachine(t, g, part)
	return step.NewPredictor(m, step.NewPlanned(costs)), err
}

func (f *trainingFlags) findGPU(t *topology.Topology) (*gpu.GPU, error) {
	if f.Gpu == "" {
		return gpu.Of(t)
	}
	g, err := gpu.Get(f.Gpu)
	if err != nil {
		return nil, cli.Usagef("--gpu: %v", err)
	}
	return g, nil
}

// best is the layout of the flags, or the best of those that they leave; searched is how many of these were looked at.
func (f *trainingFlags) best(cmd *cobra.Command, p *step.Predictor, w *workload.Workload) (l step.Layout, searched int, err error) {
	if f.Layout.Text != "" {
		l, err = f.Layout.fixed(cmd)
		return l, 0, err
	}
	s, err := f.Layout.space(cmd)
	if err != nil {
		return l, 0, err
	}
	s.Narrow = true
	bar := cli.NewProgress(cmd.ErrOrStderr(), "layouts")
	r, err := search.Run(cmd.Context(), p, w, s, search.Options{Top: 1, Progress: bar.Set})
	bar.Finish()
	if err != nil {
		return l, 0, err
	}
	return r.Best[0].Layout, r.Layouts, nil
}

// step is a step in that layout.
func (f *trainingFlags) step(cmd *cobra.Command, o step.Options) (p *step.Predictor, r *step.Result, searched int, err error) {
	p, w, err := f.load()
	if err != nil {
		return nil, nil, 0, err
	}
	p, l, searched, idle, err := f.chosen(cmd, p, w)
	if err != nil {
		return nil, nil, 0, err
	}
	if r, err = step.Run(p, w, l, o); err != nil {
		return p, r, searched, err
	}
	r.Notes = slices.Concat(r.Notes, f.Layout.changed(w, &l), idleNote(idle))
	return p, r, searched, nil
}

// layoutFlags choose a layout, or the part of it that is fixed.
type layoutFlags struct {
	Given    search.Space // without what has to be read yet
	Sequence bool         `flag:"fix sequence-parallel,default=true"`
	Order    string       `flag:"fix order"`
	Bucket   string       `flag:"fix bucket"`
	Compress string       `flag:"fix compress"`
	Text     string       `flag:"layout"`
}

// space is what the flags leave free.
func (f *layoutFlags) space(cmd *cobra.Command) (search.Space, error) {
	s := f.Given
	if cli.OptionsOf(cmd, "fix").Changed("sequence-parallel") {
		s.Sequence = &f.Sequence
	}
	return s, f.rest(&s)
}

// changed says that a search took another global batch than the workload's.
func (f *layoutFlags) changed(w *workload.Workload, l *step.Layout) []string {
	if f.Text != "" {
		return nil
	}
	return f.Given.Changed(w, l)
}

// rest reads the flags that are not searched.
func (f *layoutFlags) rest(s *search.Space) error {
	if f.Order != "" {
		l, err := step.ParseLayout(f.Order)
		if err != nil || !strings.Contains(f.Order, "<") {
			return cli.Usagef("--fix order=%s: name all axes, innermost first, e.g. tensor<context<data<pipeline", f.Order)
		}
		s.Order = l.Order
	}
	if f.Bucket != "" {
		b, err := units.ParseBytes(f.Bucket)
		if err != nil || b <= 0 {
			return cli.Usagef("--fix bucket=%s: must be a size such as 25M", f.Bucket)
		}
		s.Base.Bucket = b
	}
	p, err := step.ParseCompression(f.Compress)
	if err != nil {
		return cli.Usagef("--fix compress: %v", err)
	}
	s.Base.Compress = p
	return nil
}

// fixed is the layout of --layout.
func (f *layoutFlags) fixed(cmd *cobra.Command) (step.Layout, error) {
	if err := cli.NoEffect(cmd, "with --layout: leave one of them out", "fix dp", "fix tp", "fix pp", "fix cp", "fix ep", "fix vpp",
		"fix zero",
		"fix micro-batch", "fix global-batch", "fix sequence-parallel", "fix recompute", "fix order", "fix compress"); err != nil {
		return step.Layout{}, err
	}
	l, err := step.ParseLayout(f.Text)
	if err != nil {
		return l, cli.Usagef("--%v", err)
	}
	if !strings.Contains(" "+f.Text, " gb") {
		return l, cli.Usagef("--layout %q says nothing of the samples in a step: add the global batch, such as gb1024", f.Text)
	}
	var s search.Space
	err = f.rest(&s)
	l.Bucket = s.Base.Bucket
	return l, err
}
