// Package proof holds ways to run a collective against what a library would choose by itself: by measurements where there are such,
// else by predictions. A way is faster, or slower, only beyond what repeats differ by.
package proof

import (
	"cmp"
	"slices"
	"strings"

	"railyard/model/collective"
	"railyard/model/measurement"
	"railyard/model/units"
	"railyard/sim/nccl"
)

// Enough is how many measurements of either side make their own spread the noise: all of one side below all of the other happens by
// chance in 1 of 252. With fewer, repeats are taken to differ as runs of others did (nccl.Repeats).
const Enough = 5

// Times are measurements, or one prediction, of a case.
type Times []units.Time

// Median is the middle one.
func (t Times) Median() units.Time { return slices.Sorted(slices.Values(t))[len(t)/2] }

// Faster reports whether t lies below o beyond noise.
func (t Times) Faster(o Times) bool {
	noise := nccl.Repeats
	if min(len(t), len(o)) >= Enough {
		noise = 1
	}
	return float64(slices.Max(t))*noise < float64(slices.Min(o))
}

// Case is what is run.
type Case struct {
	Kind collective.Kind
	Size units.Bytes
}

// Setting is how, as profiles name it (nccl.Plain); NCCL's own choice is Own.
type Setting struct{ Algorithm, Protocol string }

// Own is what a library chooses by itself.
var Own = Setting{"default", "default"}

// Rows are measured times of cases in one launch mode, on so many GPUs.
type Rows map[Case]map[Setting]Times

// Read takes the rows of a set that were launched so on so many GPUs, with right results. Those on registered windows are another
// library's way and left out.
func Read(set *measurement.Set, launch string, gpus int) Rows {
	out := Rows{}
	cell := func(m measurement.Row, column string) string {
		if i := slices.Index(set.Header, column); i >= 0 && i < len(m.Columns) {
			return m.Columns[i]
		}
		return ""
	}
	for _, m := range set.Rows {
		wrong := cell(m, "wrong")
		if m.Unusable != "" || m.Launch != launch || m.GPUs != gpus || cell(m, "registration") == "window" ||
			wrong != "" && strings.Trim(wrong, "0") != "" && wrong != "-1" {
			continue
		}
		c, w := Case{m.Collective, m.Size}, Setting{named(m.Algo), named(m.Proto)}
		if out[c] == nil {
			out[c] = map[Setting]Times{}
		}
		out[c][w] = append(out[c][w], m.Time)
	}
	return out
}

func named(name string) string { return cmp.Or(nccl.Plain(name), "default") }

// Sizes are those at which a library's own choice was measured, ascending.
func (r Rows) Sizes(k collective.Kind) (out []units.Bytes) {
	for c, ways := range r {
		if c.Kind == k && len(ways[Own]) > 0 {
			out = append(out, c.Size)
		}
	}
	slices.Sort(out)
	return out
}

// Verdict is a way beside the library's own choice.
type Verdict struct {
	Setting   Setting
	Time, Own units.Time
	Measured  bool
	Faster    bool
	Slower    bool
}

// verdict compares.
func verdict(w Setting, times, own Times, measured bool) Verdict {
	return Verdict{Setting: w, Time: times.Median(), Own: own.Median(), Measured: measured, Faster: times.Faster(own),
		Slower: own.Faster(times)}
}
