package main

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"railyard/capacity/search"
	"railyard/capacity/step"
	"railyard/cmd/internal/cli"
	"railyard/model/units"
	"railyard/model/workload"
	"railyard/report"
)

// search finds the best layouts of all.
func (f *capacityStepFlags) search(cmd *cobra.Command) error {
	if err := cli.NoEffect(cmd, "on a search (--top, --journal), of which --fix takes parts: leave one of them out", "layout", "how",
		"trace"); err != nil {
		return err
	}
	cli.KeepIn(cmd, f.Journal)
	top := cmp.Or(f.Top, 10)
	s, err := f.Training.Layout.space(cmd)
	if err != nil {
		return err
	}
	p, w, err := f.Training.load()
	if err != nil {
		return err
	}
	bar := cli.NewProgress(cmd.ErrOrStderr(), "layouts")
	o := search.Options{Top: top, Progress: bar.Set}
	if o.Shard, err = f.Shard.shard(f.Journal); err != nil {
		return err
	}
	if f.Journal != "" {
		layouts := len(s.Layouts(w, p.Machine().Topology.NumRanks()))
		if o.Journal, err = search.OpenJournal(f.Journal, searchKey(p, w, s, top), layouts, o.Shard); err != nil {
			return err
		}
		defer o.Journal.Close()
	}
	ctx, stop := cli.UntilInterrupt(cmd)
	defer stop()
	r, err := search.Run(ctx, p, w, s, o)
	bar.Finish()
	if err != nil {
		return cli.Interrupted(ctx, f.Journal, err)
	}
	if f.Shard != "" {
		return f.Shard.said(cmd, f.Journal)
	}
	d := searchDocument(p, w, r)
	if d.Notes, err = publishedNotes(p, r.Best[0]); err != nil {
		return err
	}
	d.Notes = append(d.Notes, s.Changed(w, &r.Best[0].Layout)...)
	return f.Format.Emit(cmd, d)
}

// searchKey is all that the rows of a search depend on.
func searchKey(p *step.Predictor, w *workload.Workload, s search.Space, top int) string {
	transformer := ""
	if w.Transformer != nil {
		transformer = fmt.Sprintf("%+v", *w.Transformer)
	}
	x := *w
	x.Transformer = nil
	g := *p.Machine().GPU
	text := fmt.Sprintf("%s|%s|%s|%+v|%+v|%s|%s|%d", version, p.Machine().Topology.Hash(), p.Runtime(), g, x, transformer, s, top)
	return fmt.Sprintf("%s on %s, %x", w.Name, p.Machine().Topology.Name(),
		sha256.Sum256([]byte(text)))[:len(w.Name)+len(p.Machine().Topology.Name())+6+16]
}

// searchDocument puts the best beside what the others lose.
func searchDocument(p *step.Predictor, w *workload.Workload, r *search.Result) *report.SearchDocument {
	d := &report.SearchDocument{Schema: "railyard.search/v1", Topology: p.Machine().Topology.Name(), GPUs: p.Machine().Topology.NumRanks(),
		Workload: w.Name, Runtime: p.Runtime(),
		Layouts: r.Layouts, Timed: r.Timed, Pruned: r.Pruned, TooLarge: r.Memory, Resumed: r.Resumed, Unit: w.Unit}
	best := r.Best[0]
	for i, x := range r.Best {
		why := "best; " + x.Bottleneck()
		if i > 0 {
			why = losses(best, x)
		}
		d.Rows = append(d.Rows, report.SearchRow{Layout: x.Layout.String(), StepMS: ms(x.Time), MFU: x.MFU(),
			UnitsPerSecond: x.UnitsPerSecond(), MemoryGiB: x.Memory.Total() / float64(units.GiB),
			Slower: x.Time.Seconds()/best.Time.Seconds() - 1, Why: why})
	}
	return d
}

// losses says which parts of a step take longer than in the best one, the largest first.
func losses(best, x *step.Result) string {
	before := map[string]units.Time{}
	for _, p := range best.Parts() {
		before[p.Name] = p.Time
	}
	var out []string
	for range 2 {
		most, name := units.Time(0), ""
		for _, p := range x.Parts() {
			if d := p.Time - before[p.Name]; d > most {
				most, name = d, p.Name
			}
		}
		if name == "" {
			break
		}
		out = append(out, fmt.Sprintf("%s +%.1f ms", name, ms(most)))
		before[name] = units.MaxTime
	}
	if len(out) == 0 {
		return "as fast"
	}
	return strings.Join(out, ", ")
}
