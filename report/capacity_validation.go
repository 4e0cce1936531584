package report

import (
	"fmt"
	"io"
	"math"
	"strings"
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
	GPU       string   `json:"gpu"`
	GPUs      int      `json:"gpus" text:"GPUs"`
	Workload  string   `json:"workload"`
	Layout    string   `json:"layout" text:"layout"`
	Published float64  `json:"published_s" text:"published"`
	Predicted float64  `json:"predicted_s" text:"predicted" zero:"–" doc:"0: none"`
	Off       *float64 `json:"error" text:"error" as:"error" doc:"null without a prediction"`
	MFU       float64  `json:"predicted_mfu" as:"share"`
	MemoryGiB float64  `json:"predicted_memory_gib"`
	Note      string   `json:"note" text:"note" doc:"why there is no prediction, or what was chosen"`
}

// Finish computes the errors.
func (d *StepValidation) Finish() {
	for i := range d.Rows {
		if e := d.Rows[i].Error(); !math.IsNaN(e) {
			d.Rows[i].Off = &e
		}
	}
}

// Footer is the mean errors of each series.
func (d *StepValidation) Footer() []string {
	var out []string
	names, count, abs, signed := d.summary()
	for _, n := range names {
		out = append(out, fmt.Sprintf("%s: mean absolute error %.1f %%, mean error %+.1f %% (%d rows)", n, 100*abs[n]/float64(count[n]),
			100*signed[n]/float64(count[n]), count[n]))
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

// series is the part of an id that rows of one source share.
func (r *StepValidationRow) series() string {
	name, _, _ := strings.Cut(r.ID, "-")
	return name + " on " + r.GPU
}

// mean of absolute and of signed errors by series, in the order of the rows.
func (d *StepValidation) summary() (names []string, count map[string]int, abs, signed map[string]float64) {
	count, abs, signed = map[string]int{}, map[string]float64{}, map[string]float64{}
	for i := range d.Rows {
		r := &d.Rows[i]
		if math.IsNaN(r.Error()) {
			continue
		}
		for _, name := range []string{r.series(), "all"} {
			if count[name] == 0 {
				names = append(names, name)
			}
			count[name]++
			abs[name] += math.Abs(r.Error())
			signed[name] += r.Error()
		}
	}
	return names, count, abs, signed
}

func seconds(v float64) string {
	if v == 0 {
		return "–"
	}
	return fmt.Sprintf("%.4g", v)
}

func errorPercent(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return fmt.Sprintf("%+.1f", 100*v)
}

// WriteMarkdown writes the page docs/capacity-validation.md.
func (d *StepValidation) WriteMarkdown(w io.Writer) error {
	l := &lines{w: w}
	l.printf("# Training steps: published against predicted\n\n")
	l.printf("Written by `lab steps -o docs` from validation/steps.csv. No constant of the step model is fitted\n")
	l.printf("to these rows: GPUs are fitted on single kernels (validation/gpu-products.csv, gpu-attention.csv, gpu-steady.csv),\n")
	l.printf("communication on nccl-tests. A `*` in a layout is a number that was not published: the fastest prediction is taken.\n")
	l.printf("A positive error is a step that is predicted too long. What the model leaves out (data loading, launch gaps,\n")
	l.printf("stragglers, the software of the row's day) makes predictions too short.\n\n")
	l.printf("Held out: the rows of MLPerf, which were added when the model was finished, and the ten rows of whole layers in\n")
	l.printf("gpu-steady.csv, which report/fit's tests predict within 4 %%. GPT-3 on 10,752 GPUs showed a mistake at first (+40 %%): a\n")
	l.printf("pod that is not full made the model count all units on every spine; that was mended, no constant was changed,\n")
	l.printf("and the row is not blind any more. The layout and the FLOP/s of megatron-7.5B could not be looked up again: they are not confirmed.\n\n")
	l.printf("Times that were not published as such: Llama 3's follow from the FLOP/s of its table 4, with attention counted (as in the MFU that the paper\n")
	l.printf("cites; with 6 FLOP a parameter and token alone the three rows would be 8, 35 and 180 %% off); Megatron-LM's from its equation 3. MPT's network was\n")
	l.printf("not published: 400 Gb/s (H100) and 200 Gb/s (A100) a GPU are assumed; its mixed precision DEFAULT reduces gradients in FP32 (PURE: in BF16), its attention is\n")
	l.printf("FlashAttention-2. NeMo's recomputation is taken as none. MLPerf's BERT packs two samples into 512 tokens and computes logits of masked tokens alone; the\n")
	l.printf("model computes all. Its ResNet-50 loads and decodes images, which the model does not. Llama 2 70B with LoRA is missing: frozen weights\n")
	l.printf("cannot be described yet.\n\n")
	names, count, abs, signed := d.summary()
	l.printf("| rows | number | mean absolute error | mean error |\n| --- | ---: | ---: | ---: |\n")
	for _, n := range names {
		l.printf("| %s | %d | %.1f %% | %+.1f %% |\n", n, count[n], 100*abs[n]/float64(count[n]), 100*signed[n]/float64(count[n]))
	}
	l.printf("\n| id | GPUs | layout | published s | predicted s | error %% | predicted MFU %% | note |\n| --- | ---: | --- | ---: | ---: | ---: | ---: | --- |\n")
	sources := []string{}
	seen := map[string]bool{}
	for i := range d.Rows {
		r := &d.Rows[i]
		l.printf("| %s | %d × %s | %s | %.4g | %s | %s | %.1f | %s |\n", r.ID, r.GPUs, r.GPU, r.Layout, r.Published, seconds(r.Predicted),
			errorPercent(r.Error()), 100*r.MFU, r.Note)
		if !seen[r.Source] {
			seen[r.Source] = true
			sources = append(sources, r.Source)
		}
	}
	l.printf("\nSources:\n\n")
	for _, s := range sources {
		l.printf("- %s\n", s)
	}
	return l.err
}
