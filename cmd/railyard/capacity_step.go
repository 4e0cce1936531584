package main

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"railyard/capacity/step"
	"railyard/cmd/internal/cli"
	"railyard/internal/outfile"
	"railyard/model/trace"
	"railyard/model/units"
	"railyard/report"
)

type capacityStepFlags struct {
	training trainingFlags
	format   cli.FormatFlag
	measured string
	trace    string
	overflow bool
	top      int
	journal  string
	shard    shardFlag
}

func newCapacityStep() *cobra.Command {
	var f capacityStepFlags
	cmd := &cobra.Command{
		Use:  "step",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.training.add(cmd)
	f.format.Add(cmd)
	how := cli.AddOptions(cmd, "how", "how the step is predicted, such as measured-step=180ms:")
	how.StringVar(&f.measured, "measured-step", "", "forward and backward computation of a step on one GPU as you measured it, e.g. "+
		"180ms, instead of the model's")
	cmd.Flags().StringVar(&f.trace, "trace", "", "write the timeline for Perfetto into this file")
	cli.Writes(cmd, "trace")
	cmd.Flags().IntVar(&f.top, "top", 0, "search all layouts and show so many of the best")
	cli.Between(cmd.Flags(), 1, 1000, "top")
	cmd.Flags().StringVar(&f.journal, "journal", "", "search all layouts and keep each one's row in this file, from which a killed "+
		"search goes on")
	f.shard.add(cmd)
	how.BoolVar(&f.overflow, "ignore-memory", false, "predict although it does not fit into memory (needs --layout)")
	return cmd
}

func (f *capacityStepFlags) run(cmd *cobra.Command) error {
	if cmd.Flags().Changed("top") || f.journal != "" || f.shard != "" {
		return f.search(cmd)
	}
	o := step.Options{AllowOverflow: f.overflow, Timeline: f.trace != ""}
	if f.overflow && f.training.layout.text == "" {
		return cli.Usagef("--how ignore-memory needs --layout: the search takes only what fits")
	}
	if f.measured != "" {
		t, err := units.ParseTime(f.measured)
		if err != nil || t <= 0 {
			return cli.Usagef("--how measured-step=%s: must be a time such as 180ms", f.measured)
		}
		o.Measured = t
	}
	p, r, searched, err := f.training.step(cmd, o)
	if err != nil {
		return err
	}
	if f.trace != "" {
		if err := outfile.Write(f.trace, func(w io.Writer) error { return trace.WriteChrome(w, r.Trace()) }); err != nil {
			return err
		}
	}
	d := stepDocument(p.Machine(), r, searched)
	notes, err := publishedNotes(p, r)
	d.Notes = append(d.Notes, notes...)
	return errors.Join(err, f.format.Emit(cmd, d))
}

func ms(t units.Time) float64 { return t.Microseconds() / 1e3 }

// stepDocument is a result for the report.
func stepDocument(m *step.Machine, r *step.Result, searched int) *report.StepDocument {
	d := &report.StepDocument{Schema: "railyard.step/v1", Topology: m.Topology.Name(), GPU: m.GPU.Title, GPUs: m.Topology.NumRanks(),
		Workload: r.Workload.Name, Layout: r.Layout.String(), Runtime: r.Runtime, Searched: searched,
		StepMS: ms(r.Time), ComputeMS: ms(r.Compute), CommunicationMS: ms(r.Communication), ExposedMS: ms(r.ExposedTotal()),
		BubbleMS: ms(r.Bubble),
		MFU:      r.MFU(), TFLOPS: r.FLOPS() / 1e12, Unit: r.Workload.Unit, UnitsPerSecond: r.UnitsPerSecond(),
		ScalingEfficiency: r.ScalingEfficiency(),
		Bottleneck:        r.Bottleneck(), LimitingLink: r.LimitingLink(""), Collectives: []report.StepCollective{}, Notes: r.Notes}
	for _, x := range r.Parts() {
		d.Parts = append(d.Parts, report.StepPart{Name: x.Name, TimeMS: ms(x.Time), Share: x.Time.Seconds() / r.Time.Seconds()})
	}
	for _, c := range r.Collectives {
		d.Collectives = append(d.Collectives, report.StepCollective{Axis: string(c.Axis), Collective: c.Kind.String(), What: c.What,
			SizeBytes: int64(c.Size), Ranks: c.Ranks, Network: c.Network,
			Schedule: c.Schedule, Limit: c.Limit, TimeUS: c.Time.Microseconds(), Count: c.Count, TotalMS: ms(c.Total()),
			ExposedMS: ms(c.Exposed)})
	}
	low, high := r.Band()
	d.LowMS, d.HighMS, d.Class = ms(low), ms(high), string(step.ClassOf(r.Workload, &r.Layout))
	x, g := &r.Memory, float64(units.GiB)
	d.Memory = report.StepMemory{Stage: x.Stage, Parameters: x.Parameters / g, Gradients: x.Gradients / g, Optimizer: x.Optimizer / g,
		Activations: x.Activations / g, Gathered: x.Gathered / g, Reserve: x.Reserve / g, Total: x.Total() / g,
		Capacity: float64(x.Capacity) / g}
	return d
}
