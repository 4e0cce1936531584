package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"railyard/model/collective"
	"railyard/model/measurement"
	"railyard/model/units"
	"railyard/report/table"
	"railyard/study/tuning"
)

// writeTables writes Markdown: all_reduce in full, the others ours / NCCL, then what
// holds for all.
func writeTables(w io.Writer, cases []*compared) {
	for _, gpus := range gpuNumbers(cases) {
		list := chosenCases(cases, func(k tuning.Key) bool {
			return k.Kind == collective.AllReduce && k.GPUs == gpus && k.DType == "float32"
		})
		if len(list) == 0 {
			continue
		}
		fmt.Fprintf(w, "All-reduce, float32, %d GPUs, µs:\n\n| size | ours | NCCL | NCCL, windows | others | goal | predicted (probe) | "+
			"error | how |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n", gpus)
		for _, c := range list {
			fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s | %+.0f %% | %s |\n", spaced(c.key.Size), ours(c), threeDigits(c.nccl),
				threeDigits(c.windows), threeDigits(c.peer.us), threeDigits(c.goal), threeDigits(c.probe),
				100*c.miss(c.probe), c.best.Variant)
		}
		fmt.Fprintln(w)
	}
	for _, dtype := range []string{"float32", "bfloat16"} {
		for _, kind := range tuning.Kinds {
			if kind != collective.AllReduce || dtype != "float32" {
				writePairs(w, cases, kind, dtype)
			}
		}
	}
	for _, dtype := range []string{"float32", "bfloat16"} {
		for _, kind := range tuning.Kinds {
			writeStreams(w, cases, kind, dtype)
		}
	}
	writeSummary(w, cases)
}

// writePairs is a table of ours / NCCL for every other size, on all numbers of GPUs; with
// what others took where that was measured.
func writePairs(w io.Writer, cases []*compared, kind collective.Kind, dtype string) {
	list := chosenCases(cases, func(k tuning.Key) bool { return k.Kind == kind && k.DType == dtype && sizeParity(k.Size) == 0 })
	what := "ours / NCCL"
	others := slices.ContainsFunc(list, func(c *compared) bool { return c.peer.us > 0 })
	if others {
		what += " / others"
	}
	writeGrid(w, fmt.Sprintf("%v, %s, µs, %s", kind, dtype, what), gpuNumbers(cases), list, func(c *compared) string {
		cell := ours(c) + " / " + threeDigits(c.nccl)
		if others {
			cell += " / " + cmp.Or(threeDigits(c.peer.us), "–")
		}
		return cell
	})
}

// writeStreams are tables of what operations launched one by one take, where that was measured.
func writeStreams(w io.Writer, cases []*compared, kind collective.Kind, dtype string) {
	list := slices.DeleteFunc(chosenCases(cases, func(k tuning.Key) bool { return k.Kind == kind && k.DType == dtype }),
		func(c *compared) bool { return c.stream.ours == 0 })
	writeGrid(w, fmt.Sprintf("%v, %s, launched one by one on streams, µs, ours / NCCL / NCCL, windows", kind, dtype), gpuNumbers(list),
		list, func(c *compared) string {
			return bolder(c.stream.ours, c.stream.nccl) + " / " + cmp.Or(threeDigits(c.stream.nccl), "–") + " / " +
				cmp.Or(threeDigits(c.stream.windows), "–")
		})
}

// writeGrid is a table of cases: a row a size, a column a number of GPUs.
func writeGrid(w io.Writer, title string, numbers []int, list []*compared, cell func(*compared) string) {
	var sizes []units.Bytes
	for _, c := range list {
		if !slices.Contains(sizes, c.key.Size) {
			sizes = append(sizes, c.key.Size)
		}
	}
	if len(sizes) == 0 {
		return
	}
	slices.Sort(sizes)
	fmt.Fprintf(w, "%s:\n\n| size |", title)
	for _, gpus := range numbers {
		fmt.Fprintf(w, " %d GPUs |", gpus)
	}
	fmt.Fprintf(w, "\n|%s\n", strings.Repeat(" --- |", 1+len(numbers)))
	for _, size := range sizes {
		fmt.Fprintf(w, "| %s |", spaced(size))
		for _, gpus := range numbers {
			text := "–"
			for _, c := range list {
				if c.key.Size == size && c.key.GPUs == gpus {
					text = cell(c)
				}
			}
			fmt.Fprintf(w, " %s |", text)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
}

// writePeers says which other libraries were beside, whether in the same run, and what
// they could not do.
func writePeers(w io.Writer, cases []*compared, left peersLeft) {
	fastest, runs, beside, same := map[string]int{}, map[string]bool{}, 0, 0
	for _, c := range cases {
		if c.peer.us == 0 {
			continue
		}
		beside++
		fastest[c.peer.name]++
		if c.peer.run != "" && c.peer.run == c.best.Run {
			same++
			runs[c.peer.run] = true
		}
	}
	if beside == 0 && len(left) == 0 {
		return
	}
	fmt.Fprintf(w, "\nOthers: %d cases, %d of them in one run with ours", beside, same)
	if same > 0 {
		fmt.Fprintf(w, " (%s)", strings.Join(slices.Sorted(maps.Keys(runs)), ", "))
	}
	fmt.Fprint(w, "; fastest:")
	for i, name := range slices.Sorted(maps.Keys(fastest)) {
		fmt.Fprintf(w, "%s %s in %d", []string{"", ","}[min(i, 1)], name, fastest[name])
	}
	fmt.Fprintln(w, ".")
	for _, why := range slices.Sorted(maps.Keys(left)) {
		fmt.Fprintf(w, "Not counted: %s (rows: %d).\n", why, left[why])
	}
}

func writeSummary(w io.Writer, cases []*compared) {
	var slower, behind, others []string
	for _, c := range cases {
		name := fmt.Sprintf("%v %s %s on %d GPUs (%s against ", c.key.Kind, c.key.DType, spaced(c.key.Size), c.key.GPUs,
			threeDigits(c.best.US))
		if c.best.US > c.nccl {
			slower = append(slower, name+threeDigits(c.nccl)+")")
		}
		if c.peer.us > 0 && c.best.US > c.peer.us {
			others = append(others, name+threeDigits(c.peer.us)+")")
		}
		if c.windows > 0 && c.best.US > c.windows {
			behind = append(behind, name+threeDigits(c.windows)+")")
		}
	}
	fmt.Fprintf(w, "%d cases; slower than NCCL's default in %s; slower than NCCL on symmetric windows in %s; slower than others in %s.\n\n",
		len(cases), named(slower), named(behind), named(others))
	for _, gpus := range gpuNumbers(cases) {
		small := chosenCases(cases, func(k tuning.Key) bool {
			return k.Kind == collective.AllReduce && k.GPUs == gpus && k.DType == "float32" && k.Size <= 4*units.MiB
		})
		fmt.Fprintf(w, "All-reduce up to 4 MiB, float32, %d GPUs: geometric mean %.2f× against NCCL's default, "+
			"%.2f× against the fastest "+
			"of all beside.\n", gpus,
			geomean(small, func(c *compared) float64 { return c.nccl }), geomean(small, (*compared).fastestOther))
	}
	fmt.Fprintf(w, "\n| mean error of the prediction | cases | probe alone | fitted on all | fitted on every other size |\n| --- | --- | "+
		"--- | --- | --- |\n")
	line := func(name string, list []*compared) {
		if len(list) > 0 {
			fmt.Fprintf(w, "| %s | %d | %.1f %% | %.1f %% | %.1f %% |\n", name, len(list),
				100*meanMiss(list, func(c *compared) float64 { return c.probe }),
				100*meanMiss(list, func(c *compared) float64 { return c.fitted }), 100*meanMiss(list,
					func(c *compared) float64 { return c.cross }))
		}
	}
	for _, kind := range tuning.Kinds {
		line(kind.String(), chosenCases(cases, func(k tuning.Key) bool { return k.Kind == kind }))
	}
	for _, gpus := range gpuNumbers(cases) {
		line(fmt.Sprintf("%d GPUs", gpus), chosenCases(cases, func(k tuning.Key) bool { return k.GPUs == gpus }))
	}
	line("all", cases)
}

// named counts what it lists.
func named(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return fmt.Sprintf("%d: %s", len(list), strings.Join(list, ", "))
}

// gpuNumbers are the numbers of GPUs that cases have, falling.
func gpuNumbers(cases []*compared) (out []int) {
	for _, c := range cases {
		if !slices.Contains(out, c.key.GPUs) {
			out = append(out, c.key.GPUs)
		}
	}
	slices.SortFunc(out, func(a, b int) int { return b - a })
	return out
}

func chosenCases(cases []*compared, want func(tuning.Key) bool) (out []*compared) {
	for _, c := range cases {
		if want(c.key) {
			out = append(out, c)
		}
	}
	return out
}

// geomean is the geometric mean of what others take over what ours do.
func geomean(cases []*compared, of func(*compared) float64) float64 {
	var more []float64
	for _, c := range cases {
		more = append(more, of(c)/c.best.US-1)
	}
	return measurement.Bias(more)
}

// ours is bold where NCCL's default is faster.
func ours(c *compared) string { return bolder(c.best.US, c.nccl) }

func bolder(us, other float64) string {
	if other > 0 && us > other {
		return "**" + threeDigits(us) + "**"
	}
	return threeDigits(us)
}

// threeDigits is a time with three digits, nothing where there is none.
func threeDigits(us float64) string {
	switch {
	case us == 0:
		return ""
	case us >= 1000:
		return strconv.FormatFloat(us, 'f', 0, 64)
	}
	return strconv.FormatFloat(us, 'f', max(2-int(math.Floor(math.Log10(us))), 0), 64)
}

// spaced is a size as text is written.
func spaced(b units.Bytes) string {
	s := b.String()
	at := strings.IndexFunc(s, func(r rune) bool { return r > '9' })
	return s[:at] + " " + s[at:]
}

// comparedRow is a case with predictions of it.
type comparedRow struct {
	Collective string  `json:"collective"`
	GPUs       int     `json:"gpus"`
	DType      string  `json:"dtype"`
	Size       int64   `json:"size_bytes"`
	Algorithm  string  `json:"algo"`
	Mechanism  string  `json:"mechanism"`
	Slices     int     `json:"slices"`
	Blocks     int     `json:"blocks"`
	US         float64 `json:"time_us" digits:"3"`
	BusBW      float64 `json:"busbw_GBps" digits:"3"`
	NCCL       float64 `json:"nccl_us" digits:"3"`
	Windows    float64 `json:"nccl_windows_us" digits:"3"`
	Bound      float64 `json:"bound_us" digits:"3"`
	Probe      float64 `json:"predicted_us" digits:"3"`
	ProbeMiss  float64 `json:"error" digits:"3"`
	Fitted     float64 `json:"fitted_us" digits:"3"`
	FittedMiss float64 `json:"fitted_error" digits:"3"`
	Cross      float64 `json:"fitted_on_others_us" digits:"3"`
	CrossMiss  float64 `json:"fitted_on_others_error" digits:"3"`
}

// writeCompared writes all cases with predictions.
func writeCompared(w io.Writer, cases []*compared) error {
	var rows []comparedRow
	for _, c := range cases {
		k, v := c.key, c.best.Variant
		rows = append(rows, comparedRow{Collective: k.Kind.String(), GPUs: k.GPUs, DType: k.DType, Size: int64(k.Size),
			Algorithm: v.Algorithm, Mechanism: v.Mechanism(), Slices: v.Slices, Blocks: v.How.Blocks, US: c.best.US,
			BusBW: float64(k.Size) / c.best.US / 1e3 * k.Kind.BusFactor(k.GPUs), NCCL: c.nccl, Windows: c.windows, Bound: c.bound,
			Probe: c.probe, ProbeMiss: c.miss(c.probe), Fitted: c.fitted, FittedMiss: c.miss(c.fitted), Cross: c.cross,
			CrossMiss: c.miss(c.cross)})
	}
	return table.WriteRows(w, rows)
}
