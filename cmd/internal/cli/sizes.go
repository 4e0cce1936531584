package cli

import (
	"math"
	"slices"

	"github.com/spf13/cobra"

	"railyard/model/units"
)

// maxSizes bounds a sweep, so that a mistyped -i ends in an error and not in a week.
const maxSizes = 10_000

// SizeFlags are nccl-tests' size flags, and -s for a single size.
type SizeFlags struct {
	Single string  `flag:"size,s"`
	Begin  string  `flag:"minbytes,b"`
	End    string  `flag:"maxbytes,e"`
	Step   string  `flag:"stepbytes,i"`
	Factor float64 `flag:"stepfactor,f,default=2"`
}

// RangeFlags are those that say a range.
var RangeFlags = []string{"minbytes", "maxbytes", "stepbytes", "stepfactor"}

// Given reports whether a command was told sizes.
func (f *SizeFlags) Given(cmd *cobra.Command) bool {
	return slices.ContainsFunc(append([]string{"size"}, RangeFlags...), cmd.Flags().Changed)
}

// Sizes are the sizes asked for, ascending.
func (f *SizeFlags) Sizes(cmd *cobra.Command) ([]units.Bytes, error) {
	changed := cmd.Flags().Changed
	if f.Single != "" {
		if err := NoEffect(cmd, "with -s: give one or the other", RangeFlags...); err != nil {
			return nil, err
		}
		s, err := ParseSize("-s", f.Single)
		return []units.Bytes{s}, err
	}
	if f.Step != "" && changed("stepfactor") {
		return nil, Usagef("-i and -f exclude one another: give one")
	}
	if f.Begin == "" || f.End == "" {
		return nil, Usagef("which size? give one with -s, or a range with -b and -e")
	}
	begin, err := ParseSize("-b", f.Begin)
	if err != nil {
		return nil, err
	}
	end, err := ParseSize("-e", f.End)
	if err != nil {
		return nil, err
	}
	if begin > end {
		return nil, Usagef("-b %v is larger than -e %v", begin, end)
	}
	next, err := f.stepper()
	if err != nil {
		return nil, err
	}
	var out []units.Bytes
	for s := begin; s <= end; s = next(s) {
		if len(out) == maxSizes {
			return nil, Usagef("more than %d sizes between %v and %v: choose a larger -i or -f", maxSizes, begin, end)
		}
		out = append(out, s)
	}
	return out, nil
}

// stepper gives the successor of a size.
func (f *SizeFlags) stepper() (func(units.Bytes) units.Bytes, error) {
	if f.Step != "" {
		step, err := ParseSize("-i", f.Step)
		if err != nil {
			return nil, err
		}
		return func(s units.Bytes) units.Bytes { return s + step }, nil
	}
	if !(f.Factor > 1) || math.IsInf(f.Factor, 0) {
		return nil, Usagef("-f %v: the factor must be larger than 1", f.Factor)
	}
	return func(s units.Bytes) units.Bytes {
		return max(s+1, units.Bytes(math.Min(float64(s)*f.Factor, math.MaxInt64/2)))
	}, nil
}

// ParseSize reads a size that a flag gives.
func ParseSize(flag, text string) (units.Bytes, error) {
	s, err := units.ParseBytes(text)
	if err != nil {
		return 0, Usagef("%s %s: %v", flag, text, err)
	}
	if s <= 0 {
		return 0, Usagef("%s %s: a size must be positive", flag, text)
	}
	return s, nil
}
