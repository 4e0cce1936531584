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

// capacityStepFlags say which step is predicted, or which are searched.
type capacityStepFlags struct {
	Training trainingFlags
	Format   cli.FormatFlag
	Measured string    `flag:"how measured-step"`
	Overflow bool      `flag:"how ignore-memory"`
	Trace    string    `flag:"trace,writes"`
	Top      int       `flag:"top,lo=1,hi=1000"`
	Journal  string    `flag:"journal"`
	Shard    shardFlag `flag:"shard"`
}

// Run predicts the step.
func (f *capacityStepFlags) Run(cmd *cobra.Command, _ []string) error {
	if cmd.Flags().Changed("top") || f.Journal != "" || f.Shard != "" {
		return f.search(cmd)
	}
	o := step.Options{AllowOverflow: f.Overflow, Timeline: f.Trace != ""}
	if f.Overflow && f.Training.Layout.Text == "" {
		return cli.Usagef("--how ignore-memory needs --layout: the search takes only what fits")
	}
	if f.Measured != "" {
		t, err := units.ParseTime(f.Measured)
		if err != nil || t <= 0 {
			return cli.Usagef("--how measured-step=%s: must be a time such as 180ms", f.Measured)
		}
		o.Measured = t
	}
	p, r, searched, err := f.Training.step(cmd, o)
	if err != nil {
		return err
	}
	if f.Trace != "" {
		if err := outfile.Write(f.Trace, func(w io.Writer) error { return trace.WriteChrome(w, r.Trace()) }); err != nil {
			return err
		}
	}
	d := stepDocument(p.Machine(), r, searched)
	notes, err := publishedNotes(p, r)
	d.Notes = append(d.Notes, notes...)
	return errors.Join(err, f.Format.Emit(cmd, d))
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
