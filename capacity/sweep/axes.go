// Package sweep asks one question for every combination of field values: in parallel, in
// shards for many machines, into a journal that a killed run goes on with.
package sweep

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxPoints bounds a sweep: more are a slip of the hand rather than a question.
const MaxPoints = 100_000

// Axis is a field and the values that it takes.
type Axis struct {
	Field  string   `json:"field"`
	Values []string `json:"values"`
}

// ParseAxis reads "field=1,2,4", "field=1..4" (integers, both ends) or a mix of them.
func ParseAxis(text string) (Axis, error) {
	field, list, ok := strings.Cut(text, "=")
	if !ok || strings.TrimSpace(field) == "" || strings.TrimSpace(list) == "" {
		return Axis{}, fmt.Errorf("%q: write field=value,value or field=1..4", text)
	}
	a := Axis{Field: field}
	for item := range strings.SplitSeq(list, ",") {
		lo, hi, isRange := strings.Cut(item, "..")
		if !isRange {
			a.Values = append(a.Values, item)
			continue
		}
		from, err1 := strconv.Atoi(lo)
		to, err2 := strconv.Atoi(hi)
		switch {
		case err1 != nil || err2 != nil || from > to:
			return Axis{}, fmt.Errorf("%q: a range is two integers, the lower first, such as 1..4", item)
		case to-from >= MaxPoints:
			return Axis{}, fmt.Errorf("%q: more than %d values: give fewer, or a list of those that matter", item, MaxPoints)
		}
		for v := from; v <= to; v++ {
			a.Values = append(a.Values, strconv.Itoa(v))
		}
	}
	seen := map[string]bool{}
	for _, v := range a.Values {
		if seen[v] {
			return Axis{}, fmt.Errorf("%q: the value %s appears twice", text, v)
		}
		seen[v] = true
	}
	return a, nil
}

// Count is the number of points; an error where it is above MaxPoints or a field has two axes.
func Count(axes []Axis) (int, error) {
	n, seen := 1, map[string]bool{}
	for _, a := range axes {
		if seen[a.Field] {
			return 0, fmt.Errorf("%s is given twice: list all its values in one place", a.Field)
		}
		seen[a.Field] = true
		if n *= len(a.Values); n > MaxPoints {
			return 0, fmt.Errorf("the sweep has more than %d points: leave out values, or ask for parts of it", MaxPoints)
		}
	}
	return n, nil
}

// Point is a combination: "field=value" by axis. The last axis varies fastest.
func Point(axes []Axis, i int) []string {
	out := make([]string, len(axes))
	for k := len(axes) - 1; k >= 0; k-- {
		n := len(axes[k].Values)
		out[k] = axes[k].Field + "=" + axes[k].Values[i%n]
		i /= n
	}
	return out
}
