package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"railyard/capacity/step"
	"railyard/internal/outfile"
	"railyard/model/workload"
)

// refits are how often shares are fitted at most: what a step takes is nearly linear in them, so that the second changes little.
const refits = 5

// refit fits what frameworks add until that changes nothing, and writes it into a file like model/workload/frameworks.yaml.
func (f *stepsFlags) refit(cmd *cobra.Command) error {
	fitted := map[workload.Share]bool{}
	for changed, i := true, 0; changed && i < refits; i++ {
		d, err := newStepFiles(f.Rows).validate(cmd)
		if err != nil {
			return err
		}
		changed = false
		factors := d.ShareFactors()
		for _, name := range slices.Sorted(maps.Keys(factors)) {
			share := workload.ParseShare(name)
			changed, fitted[share] = share.Scale(factors[name]) || changed, true
		}
	}
	for _, share := range workload.Launches() {
		fitted[share] = true
		if err := f.walk(cmd, share); err != nil {
			return err
		}
	}
	text, err := os.ReadFile(f.Refit)
	if err != nil {
		return err
	}
	for share := range fitted {
		for _, place := range share.Places() {
			if text, err = rewritten(text, place); err != nil {
				return fmt.Errorf("%s: %w", f.Refit, err)
			}
		}
	}
	return outfile.Write(f.Refit, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// walk goes to the time of a launch at which steps with experts are least off in the mean.
func (f *stepsFlags) walk(cmd *cobra.Command, s workload.Share) error {
	least, err := f.expertsOff(cmd)
	for _, way := range []float64{workload.LaunchStep, -workload.LaunchStep} {
		for err == nil {
			before, _ := s.Value()
			s.Scale((before + way) / before)
			var off float64
			if off, err = f.expertsOff(cmd); off >= least {
				s.Scale(before / (before + way))
				break
			}
			least = off
		}
	}
	return err
}

// expertsOff is how far predictions of steps with experts are off in the mean, as logarithms.
func (f *stepsFlags) expertsOff(cmd *cobra.Command) (float64, error) {
	d, err := newStepFiles(f.Rows).validate(cmd)
	if err != nil {
		return 0, err
	}
	sum, n := 0.0, 0.0
	for i := range d.Rows {
		if r := &d.Rows[i]; r.Class == string(step.Experts) && r.Off != nil {
			sum, n = sum+math.Abs(math.Log1p(*r.Off)), n+1
		}
	}
	return sum / n, nil
}

// rewritten is the text with what a share is now. Attention may have none.
func rewritten(text []byte, s workload.Share) ([]byte, error) {
	value, ok := s.Value()
	if !ok {
		return text, nil
	}
	number := regexp.MustCompile(`(?m)(^  ` + s.Framework + `:\n(?:    .*\n)*?    ` + s.Key + `: \{.*?\b` + s.GPU + `: )[0-9.]+`)
	at := number.FindSubmatchIndex(text)
	if at == nil {
		return nil, fmt.Errorf("has no %s", s)
	}
	return slices.Concat(text[:at[3]], strconv.AppendFloat(nil, value, 'f', -1, 64), text[at[1]:]), nil
}
