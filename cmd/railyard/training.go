package main

import (
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
	topo     topoFlags
	profile  profileFlag
	workload string
	set      []string // of the workload
	gpu      string
	runtime  string
	layout   layoutFlags
}

func (f *trainingFlags) add(cmd *cobra.Command) {
	f.topo.add(cmd)
	f.topo.addLoad(cmd)
	f.profile.add(cmd)
	cmd.Flags().StringVarP(&f.workload, "workload", "w", "", "workload: a shipped name ("+strings.Join(workload.Names(),
		", ")+") or a YAML file")
	cli.Must(cmd.MarkFlagRequired("workload"))
	cli.Must(cmd.RegisterFlagCompletionFunc("workload", cobra.FixedCompletions(workload.Names(), cobra.ShellCompDirectiveDefault)))
	cmd.Flags().StringArrayVar(&f.set, "workload-set", nil, "change a value of the workload file, e.g. transformer.sequence=4096 or "+
		"gradients=fp32")
	cmd.Flags().StringVar(&f.gpu, "gpu", "", "GPU: a shipped name ("+strings.Join(gpu.Names(),
		", ")+") or a YAML file (default: as the topology says)")
	cmd.Flags().StringVar(&f.runtime, "runtime", "nccl", "what predicts collectives: nccl (its choices, by fitted kernels) or railyard "+
		"(the best plan, simulated)")
	cli.OneOf(cmd.Flags(), "runtime", "nccl", "railyard")
	f.layout.add(cmd)
}

// load prepares the predictor and the workload.
func (f *trainingFlags) load() (*step.Predictor, *workload.Workload, error) {
	if _, err := workload.Get(f.workload, f.set...); err != nil {
		return nil, nil, err // before the topology, which may take longer
	}
	t, err := f.topo.load()
	if err != nil {
		return nil, nil, err
	}
	return f.on(t)
}

// on prepares them for a topology that is loaded already, or a part of it.
func (f *trainingFlags) on(t *topology.Topology) (*step.Predictor, *workload.Workload, error) {
	w, err := workload.Get(f.workload, f.set...)
	if err != nil {
		return nil, nil, err
	}
	site, err := f.topo.site()
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
	costs, err := f.profile.machine(t)
	if err != nil {
		return nil, err
	}
	if f.runtime == "nccl" {
		return step.OnNCCL(t, g, costs.NCCL(), part)
	}
	m, err := step.NewMachine(t, g, part)
	return step.NewPredictor(m, step.NewPlanned(costs)), err
}

func (f *trainingFlags) findGPU(t *topology.Topology) (*gpu.GPU, error) {
	if f.gpu == "" {
		return gpu.Of(t)
	}
	g, err := gpu.Get(f.gpu)
	if err != nil {
		return nil, cli.Usagef("--gpu: %v", err)
	}
	return g, nil
}

// best is the layout of the flags, or the best of those that they leave; searched is how many of these were looked at.
func (f *trainingFlags) best(cmd *cobra.Command, p *step.Predictor, w *workload.Workload) (l step.Layout, searched int, err error) {
	if f.layout.text != "" {
		l, err = f.layout.fixed(cmd)
		return l, 0, err
	}
	s, err := f.layout.space(cmd)
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
	l, searched, err := f.best(cmd, p, w)
	if err != nil {
		return nil, nil, 0, err
	}
	r, err = step.Run(p, w, l, o)
	return p, r, searched, err
}

// layoutFlags choose a layout, or the part of it that is fixed.
type layoutFlags struct {
	given            search.Space // without what has to be read yet
	sequence         bool
	order            string
	bucket, compress string
	text             string
}

func (f *layoutFlags) add(cmd *cobra.Command) {
	flags := cli.AddOptions(cmd, "fix", "parts of the layout that are not searched, such as tp=8,zero=1:")
	s := &f.given
	flags.IntVar(&s.Data, "dp", 0, "data parallel replicas")
	flags.IntVar(&s.Tensor, "tp", 0, "tensor parallel GPUs")
	flags.IntVar(&s.Pipeline, "pp", 0, "pipeline stages")
	flags.IntVar(&s.Context, "cp", 0, "context parallel GPUs")
	flags.IntVar(&s.Expert, "ep", 0, "expert parallel GPUs")
	flags.IntVar(&s.Virtual, "vpp", 0, "chunks of layers a pipeline stage (interleaved 1F1B)")
	flags.IntVar(&s.Zero, "zero", -1, "ZeRO stage: 0 (DDP), 1, 2, 3 (FSDP)")
	flags.IntVar(&s.MicroBatch, "micro-batch", 0, "samples in a forward pass of a GPU")
	flags.IntVar(&s.GlobalBatch, "global-batch", 0, "samples in a step (default: the workload's)")
	flags.BoolVar(&f.sequence, "sequence-parallel", true, "cut norms and residuals along the sequence over the tensor axis")
	flags.StringVar((*string)(&s.Recompute), "recompute", "", "activations that are computed again: none, selective, full")
	flags.StringVar(&f.order, "order", "", "placement, innermost axis first, e.g. tensor<context<data<pipeline")
	flags.StringVar(&f.bucket, "bucket", "", "gradients that are reduced at once, e.g. 25M (default: 25M with ZeRO 0, else as "+
		"Megatron-Core)")
	flags.StringVar(&f.compress, "compress", "", "send gradients as fp16, bf16 or fp8")
	cli.AtLeast(flags.FlagSet, 1, "dp", "tp", "pp", "cp", "ep", "vpp", "micro-batch", "global-batch")
	cli.Between(flags.FlagSet, 0, 3, "zero")
	cli.OneOf(flags.FlagSet, "recompute", string(workload.NoRecompute), string(workload.SelectiveRecompute),
		string(workload.FullRecompute))
	cmd.Flags().StringVar(&f.text, "layout", "", `the whole layout, as results show it: "dp8 tp8 pp4 zero1 mb1 gb1024 sp"`)
}

// space is what the flags leave free.
func (f *layoutFlags) space(cmd *cobra.Command) (search.Space, error) {
	s := f.given
	if cli.OptionsOf(cmd, "fix").Changed("sequence-parallel") {
		s.Sequence = &f.sequence
	}
	return s, f.rest(&s)
}

// rest reads the flags that are not searched.
func (f *layoutFlags) rest(s *search.Space) error {
	if f.order != "" {
		l, err := step.ParseLayout(f.order)
		if err != nil || !strings.Contains(f.order, "<") {
			return cli.Usagef("--fix order=%s: name all axes, innermost first, e.g. tensor<context<data<pipeline", f.order)
		}
		s.Order = l.Order
	}
	if f.bucket != "" {
		b, err := units.ParseBytes(f.bucket)
		if err != nil || b <= 0 {
			return cli.Usagef("--fix bucket=%s: must be a size such as 25M", f.bucket)
		}
		s.Base.Bucket = b
	}
	p, err := step.ParseCompression(f.compress)
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
	l, err := step.ParseLayout(f.text)
	if err != nil {
		return l, cli.Usagef("--%v", err)
	}
	if !strings.Contains(" "+f.text, " gb") {
		return l, cli.Usagef("--layout %q says nothing of the samples in a step: add the global batch, such as gb1024", f.text)
	}
	var s search.Space
	err = f.rest(&s)
	l.Bucket = s.Base.Bucket
	return l, err
}
