package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"railyard/model/gpu"
	"railyard/report/table"
)

// StepValidation are published steps beside predicted ones.
type StepValidation struct {
	Schema string              `json:"schema" const:"railyard.step-validation/v1" doc:"published training steps beside predicted ones"`
	Rows   []StepValidationRow `json:"rows" csv:""`
}

// StepValidationRow is one of them.
type StepValidationRow struct {
	ID        string   `json:"id" text:"id"`
	Source    string   `json:"source"`
	Topology  string   `json:"topology"`
	GPU       string   `json:"gpu" text:"GPU"`
	GPUs      int      `json:"gpus" text:"GPUs"`
	Workload  string   `json:"workload"`
	Class     string   `json:"class" text:"class"`
	Framework string   `json:"framework"`
	Stepped   bool     `json:"gpu_in_fit" doc:"whether what software adds is fitted on steps of the same GPU; else the band is wider"`
	Share     string   `json:"share" doc:"of the computation that the framework adds: its place in frameworks.yaml"`
	Hidden    bool     `json:"share_hidden" doc:"launches of experts hide the computation, and what comes on top of it"`
	Layout    string   `json:"layout" text:"layout"`
	Published float64  `json:"published_s" text:"published"`
	Predicted float64  `json:"predicted_s" text:"predicted" zero:"–" doc:"0: none"`
	Low       float64  `json:"low_s" doc:"between this and high_s nine of ten steps lie"`
	High      float64  `json:"high_s"`
	Adds      float64  `json:"framework_s" doc:"what the framework adds"`
	Off       *float64 `json:"error" text:"error" as:"error" doc:"null without a prediction"`
	LeftOut   *float64 `json:"error_left_out" text:"left out" as:"error" doc:"with what the framework adds fitted without this source"`
	MFU       float64  `json:"predicted_mfu" text:"predicted MFU" as:"share"`
	MemoryGiB float64  `json:"predicted_memory_gib"`

	PublishedGiB float64 `json:"published_memory_gib" doc:"0: not published"`

	Refused bool   `json:"refused" doc:"it would not fit in any framework, by our count of its memory"`
	Note    string `json:"note" text:"note" doc:"why there is no prediction, or what was chosen"`
}

// Finish computes the errors.
func (d *StepValidation) Finish() {
	for i := range d.Rows {
		if e := d.Rows[i].Error(); !math.IsNaN(e) {
			d.Rows[i].Off = &e
		}
	}
	for i, e := range d.without((*StepValidationRow).Series) {
		d.Rows[i].LeftOut = e
	}
}

// Footer is the mean errors of each series.
func (d *StepValidation) Footer() []string {
	var out []string
	for _, s := range d.summary() {
		out = append(out, fmt.Sprintf("%s: mean absolute error %s, mean error %+.1f %%; without its source %s; %s inside the band "+
			"(%d rows)", s.Rows, table.Percent(s.Abs), 100*s.Signed, table.Percent(s.Left), table.Percent(s.Inside), s.Number))
	}
	bands, unseen := d.Bands(), d.UnseenBands(gpu.LoadsApart())
	for _, class := range slices.Sorted(maps.Keys(bands)) {
		out = append(out, fmt.Sprintf("band of %s: ± %.2f as a logarithm, ± %.2f on a GPU of which no step is in the fit", class,
			bands[class], unseen[class]))
	}
	return out
}

// Error is the relative error; NaN without a prediction.
func (r *StepValidationRow) Error() float64 {
	if r.Predicted == 0 {
		return math.NaN()
	}
	return r.Predicted/r.Published - 1
}

// Series is the part of an id that rows of one source share.
func (r *StepValidationRow) Series() string {
	name, _, _ := strings.Cut(r.ID, "-")
	return name
}

// summary is the mean errors by series, in the order of the rows.
func (d *StepValidation) summary() []seriesErrors {
	var out []seriesErrors
	for i := range d.Rows {
		r := &d.Rows[i]
		e := r.Error()
		if math.IsNaN(e) {
			continue
		}
		for _, name := range []string{"all", r.Class, r.Series() + " on " + r.GPU} {
			at := slices.IndexFunc(out, func(s seriesErrors) bool { return s.Rows == name })
			if at < 0 {
				at = len(out)
				out = append(out, seriesErrors{Rows: name})
			}
			s := &out[at]
			s.add(e, *r.LeftOut, r.Published >= r.Low && r.Published <= r.High)
		}
	}
	return out
}

// seriesErrors is the mean errors of a series.
type seriesErrors struct {
	Rows   string  `json:"rows" text:"rows"`
	Number int     `json:"number" text:"number"`
	Abs    float64 `json:"mean_absolute_error" text:"mean absolute error" as:"share"`
	Signed float64 `json:"mean_error" text:"mean error" as:"error"`
	Left   float64 `json:"mean_absolute_error_left_out" text:"without its source" as:"share"`
	Inside float64 `json:"inside_band" text:"inside the band" as:"share"`
}

// add takes a row's errors into the means.
func (s *seriesErrors) add(e, left float64, inside bool) {
	n := float64(s.Number)
	mean := func(of *float64, x float64) { *of = (*of*n + x) / (n + 1) }
	mean(&s.Abs, math.Abs(e))
	mean(&s.Signed, e)
	mean(&s.Left, math.Abs(left))
	in := 0.0
	if inside {
		in = 1
	}
	mean(&s.Inside, in)
	s.Number++
}

// Blocks are the tables of docs/capacity-validation.md, and the sources.
func (d *StepValidation) Blocks() []table.Block {
	var sources strings.Builder
	seen := map[string]bool{}
	for i := range d.Rows {
		if s := d.Rows[i].Source; !seen[s] {
			seen[s] = true
			sources.WriteString("- " + s + "\n")
		}
	}
	return []table.Block{{Name: "series", Text: table.Of(d.summary()).Markdown()}, {Name: "steps", Text: table.Of(d.Rows).Markdown()},
		{Name: "sources", Text: sources.String()}}
}
