package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"railyard/capacity/step"
	"railyard/cmd/internal/cli"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/model/workload"
	"railyard/report"
	"railyard/validation"
)

func newSteps() *cobra.Command {
	var format cli.FormatFlag
	var out string
	cmd := &cobra.Command{
		Use:     "steps",
		Short:   "Predict published training steps, and show the errors",
		Example: "  lab steps -o docs",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := format.Check(); err != nil {
				return err
			}
			d, err := validateSteps(cmd)
			if err != nil {
				return err
			}
			if out != "" {
				if err := fillPage(filepath.Join(out, "capacity-validation.md"), d.Blocks()); err != nil {
					return err
				}
			}
			return format.Emit(cmd, d)
		},
	}
	format.Add(cmd)
	cmd.Flags().StringVarP(&out, "output", "o", "", "directory for capacity-validation.md")
	return cmd
}

// publishedStep is a row of validation/steps.csv.
type publishedStep struct {
	id, source, topology string
	nodes                int
	workload             string
	set                  []string
	layout               string
	seconds              float64
}

func publishedSteps() ([]publishedStep, error) {
	data, err := validation.Files.ReadFile("steps.csv")
	if err != nil {
		return nil, err
	}
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("validation/steps.csv: %w", err)
	}
	var out []publishedStep
	for i, r := range rows[1:] {
		nodes, err1 := strconv.Atoi(r[3])
		s, err2 := strconv.ParseFloat(r[7], 64)
		if err1 != nil || err2 != nil || !(s > 0) {
			return nil, fmt.Errorf("validation/steps.csv:%d: nodes and step_s must be positive numbers", i+2)
		}
		out = append(out, publishedStep{r[0], r[1], r[2], nodes, r[4], strings.FieldsFunc(r[5], func(c rune) bool { return c == ';' }),
			r[6], s})
	}
	return out, nil
}

func validateSteps(cmd *cobra.Command) (*report.StepValidation, error) {
	rows, err := publishedSteps()
	if err != nil {
		return nil, err
	}
	d := &report.StepValidation{Schema: "railyard.step-validation/v1"}
	machines := map[string]*step.Predictor{}
	bar := cli.NewProgress(cmd.ErrOrStderr(), "steps")
	for i := range rows {
		r, err := rows[i].predict(machines)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", rows[i].id, err)
		}
		d.Rows = append(d.Rows, r)
		bar.Set(i+1, len(rows))
	}
	bar.Finish()
	d.Finish()
	return d, cmd.Context().Err()
}

// predict is a row with its prediction, or with why there is none.
func (s *publishedStep) predict(machines map[string]*step.Predictor) (report.StepValidationRow, error) {
	out := report.StepValidationRow{ID: s.id, Source: s.source, Topology: s.topology, Workload: s.workload, Layout: s.layout,
		Published: s.seconds}
	key := fmt.Sprintf("%s:%d", s.topology, s.nodes)
	p := machines[key]
	if p == nil {
		var err error
		if p, err = (machine{topology: s.topology, options: topology.Options{Nodes: s.nodes}}).predictor(); err != nil {
			return out, err
		}
		machines[key] = p
	}
	w, err := workload.Get(s.workload, s.set...)
	if err != nil {
		return out, err
	}
	out.GPU, out.GPUs = p.Machine().GPU.Name, p.Machine().Topology.NumRanks()
	best, err := s.fastest(p, w)
	if err != nil {
		out.Note = err.Error()
		return out, nil
	}
	out.Predicted, out.MFU, out.MemoryGiB = best.Time.Seconds(), best.MFU(), best.Memory.Total()/float64(units.GiB)
	if strings.Contains(s.layout, "*") {
		out.Note = fmt.Sprintf("mb%d vpp%d taken", best.Layout.MicroBatch, best.Layout.Virtual)
	}
	if !best.Memory.Fits() {
		out.Note += fmt.Sprintf(" predicted memory %.0f GiB, of %.0f", out.MemoryGiB, float64(best.Memory.Capacity)/float64(units.GiB))
	}
	return out, nil
}

// fastest tries the numbers that were not published. What is published with its
// micro-batch has run, so that it is predicted even if our count of its memory is too
// high: frameworks free what we count (Llama 3, section 3.3.2). Of unknown micro-batches
// those that fit are tried.
func (s *publishedStep) fastest(p *step.Predictor, w *workload.Workload) (*step.Result, error) {
	var best *step.Result
	var why error
	for _, text := range expandStars(s.layout) {
		l, err := step.ParseLayout(text)
		if err != nil {
			return nil, err
		}
		r, err := step.Run(p, w, l, step.Options{AllowOverflow: !strings.Contains(s.layout, "mb*")})
		if err != nil {
			why = err
		} else if best == nil || r.Time < best.Time {
			best = r
		}
	}
	if best == nil {
		return nil, why
	}
	return best, nil
}

// expandStars replaces mb* and vpp* by the numbers that are tried.
func expandStars(layout string) []string {
	out := []string{layout}
	for _, name := range []string{"mb", "vpp"} {
		var next []string
		for _, text := range out {
			if !slices.Contains(strings.Fields(text), name+"*") {
				next = append(next, text)
				continue
			}
			for _, n := range []int{1, 2, 3, 4, 5, 6, 8, 16} {
				next = append(next, strings.Replace(text, name+"*", fmt.Sprintf("%s%d", name, n), 1))
			}
		}
		out = next
	}
	return out
}
