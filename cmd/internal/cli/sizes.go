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
	Single, Begin, End, step string
	factor                   float64
}

// RangeFlags are those that say a range.
var RangeFlags = []string{"minbytes", "maxbytes", "stepbytes", "stepfactor"}

// Given reports whether a command was told sizes.
func (f *SizeFlags) Given(cmd *cobra.Command) bool {
	return slices.ContainsFunc(append([]string{"size"}, RangeFlags...), cmd.Flags().Changed)
}

// Add adds the flags with the range that they have by default.
func (f *SizeFlags) Add(cmd *cobra.Command, begin, end string) {
	fl := cmd.Flags()
	fl.StringVarP(&f.Single, "size", "s", "", "one size (1K, 64M, 4G are binary); instead of -b and -e")
	fl.StringVarP(&f.Begin, "minbytes", "b", begin, "smallest size")
	fl.StringVarP(&f.End, "maxbytes", "e", end, "largest size")
	fl.StringVarP(&f.step, "stepbytes", "i", "", "fixed increment between sizes; instead of -f")
	fl.Float64VarP(&f.factor, "stepfactor", "f", 2, "factor between sizes")
}

// Only leaves -s of the flags, for commands that look at one size.
func (f *SizeFlags) Only(cmd *cobra.Command) {
	for _, other := range RangeFlags {
		Must(cmd.Flags().MarkHidden(other))
	}
	cmd.Flags().Lookup("size").Usage = "size (1K, 64M, 4G are binary)"
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
	if f.step != "" && changed("stepfactor") {
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
	if f.step != "" {
		step, err := ParseSize("-i", f.step)
		if err != nil {
			return nil, err
		}
		return func(s units.Bytes) units.Bytes { return s + step }, nil
	}
	if !(f.factor > 1) || math.IsInf(f.factor, 0) {
		return nil, Usagef("-f %v: the factor must be larger than 1", f.factor)
	}
	return func(s units.Bytes) units.Bytes {
		return max(s+1, units.Bytes(math.Min(float64(s)*f.factor, math.MaxInt64/2)))
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
