package main

import (
	"math"

	"github.com/spf13/cobra"

	"railyard/model/units"
)

// maxSizes bounds a sweep, so that a mistyped -i ends in an error and not in a week.
const maxSizes = 10_000

// sizeFlags are nccl-tests' size flags, and -s for a single size.
type sizeFlags struct {
	single, begin, end, step string
	factor                   float64
}

func (f *sizeFlags) add(cmd *cobra.Command, begin, end string) {
	fl := cmd.Flags()
	fl.StringVarP(&f.single, "size", "s", "", "one size (1K, 64M, 4G are binary); instead of -b and -e")
	fl.StringVarP(&f.begin, "minbytes", "b", begin, "smallest size")
	fl.StringVarP(&f.end, "maxbytes", "e", end, "largest size")
	fl.StringVarP(&f.step, "stepbytes", "i", "", "fixed increment between sizes; instead of -f")
	fl.Float64VarP(&f.factor, "stepfactor", "f", 2, "factor between sizes")
}

// only leaves -s of the flags, for commands that look at one size.
func (f *sizeFlags) only(cmd *cobra.Command) {
	for _, other := range []string{"minbytes", "maxbytes", "stepbytes", "stepfactor"} {
		must(cmd.Flags().MarkHidden(other))
	}
	cmd.Flags().Lookup("size").Usage = "size (1K, 64M, 4G are binary)"
}

// sizes are the sizes asked for, ascending.
func (f *sizeFlags) sizes(cmd *cobra.Command) ([]units.Bytes, error) {
	changed := cmd.Flags().Changed
	if f.single != "" {
		for _, other := range []string{"minbytes", "maxbytes", "stepbytes", "stepfactor"} {
			if changed(other) {
				return nil, usagef("--%s has no effect with -s: give one or the other", other)
			}
		}
		s, err := parseSize("-s", f.single)
		return []units.Bytes{s}, err
	}
	if f.step != "" && changed("stepfactor") {
		return nil, usagef("-i and -f exclude one another: give one")
	}
	if f.begin == "" || f.end == "" {
		return nil, usagef("which size? give one with -s, or a range with -b and -e")
	}
	begin, err := parseSize("-b", f.begin)
	if err != nil {
		return nil, err
	}
	end, err := parseSize("-e", f.end)
	if err != nil {
		return nil, err
	}
	if begin > end {
		return nil, usagef("-b %v is larger than -e %v", begin, end)
	}
	next, err := f.stepper()
	if err != nil {
		return nil, err
	}
	var out []units.Bytes
	for s := begin; s <= end; s = next(s) {
		if len(out) == maxSizes {
			return nil, usagef("more than %d sizes between %v and %v: choose a larger -i or -f", maxSizes, begin, end)
		}
		out = append(out, s)
	}
	return out, nil
}

// stepper gives the successor of a size.
func (f *sizeFlags) stepper() (func(units.Bytes) units.Bytes, error) {
	if f.step != "" {
		step, err := parseSize("-i", f.step)
		if err != nil {
			return nil, err
		}
		return func(s units.Bytes) units.Bytes { return s + step }, nil
	}
	if !(f.factor > 1) || math.IsInf(f.factor, 0) {
		return nil, usagef("-f %v: the factor must be larger than 1", f.factor)
	}
	return func(s units.Bytes) units.Bytes {
		return max(s+1, units.Bytes(math.Min(float64(s)*f.factor, math.MaxInt64/2)))
	}, nil
}

func parseSize(flag, text string) (units.Bytes, error) {
	s, err := units.ParseBytes(text)
	if err != nil {
		return 0, usagef("%s %s: %v", flag, text, err)
	}
	if s <= 0 {
		return 0, usagef("%s %s: a size must be positive", flag, text)
	}
	return s, nil
}
