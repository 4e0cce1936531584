package step

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"railyard/model/workload"
)

// ParseLayout reads a layout as String writes it: words such as dp8, tp4, pp2, cp2, ep8,
// vpp2, zero1, mb1, gb1024, sp, selective, full, offload40, fp8 and, at last, an order of axes such
// as tensor<data<context<pipeline, in any order. What is missing is 1, none or the default.
func ParseLayout(text string) (Layout, error) {
	l := Layout{Data: 1, Tensor: 1, Pipeline: 1, Context: 1, Expert: 1, Virtual: 1, MicroBatch: 1, GlobalBatch: 1,
		Recompute: workload.NoRecompute, Order: DefaultOrder}
	numbers := map[string]*int{"dp": &l.Data, "tp": &l.Tensor, "pp": &l.Pipeline, "cp": &l.Context, "ep": &l.Expert,
		"vpp": &l.Virtual, "zero": &l.Zero, "mb": &l.MicroBatch, "gb": &l.GlobalBatch,
		"offload": &l.Offload}
	seen := map[string]bool{}
	for _, word := range strings.Fields(text) {
		name := strings.TrimRightFunc(word, unicode.IsDigit)
		if seen[name] {
			return l, fmt.Errorf("layout %q: %s appears twice", text, name)
		}
		seen[name] = true
		if at := numbers[name]; at != nil {
			n, err := strconv.Atoi(word[len(name):])
			if err != nil {
				return l, fmt.Errorf("layout %q: %s needs a number after it", text, word)
			}
			*at = n
			continue
		}
		if err := l.word(word); err != nil {
			return l, fmt.Errorf("layout %q: %w", text, err)
		}
	}
	return l, nil
}

// word reads what is no number.
func (l *Layout) word(word string) error {
	switch {
	case word == "sp":
		l.Sequence = true
	case word == string(workload.SelectiveRecompute) || word == string(workload.FullRecompute):
		l.Recompute = workload.Recompute(word)
	case strings.Contains(word, "<"):
		return l.order(word)
	default:
		p, err := ParseCompression(word)
		if err != nil {
			return fmt.Errorf("%q is not known: write dp8 tp4 pp2 cp2 ep8 vpp2 zero1 mb1 gb1024 sp selective offload40 fp8", word)
		}
		l.Compress = p
	}
	return nil
}

// order reads axes, innermost first.
func (l *Layout) order(word string) error {
	var axes []workload.Axis
	for _, name := range strings.Split(word, "<") {
		axes = append(axes, workload.Axis(name))
	}
	l.Order = axes
	return l.checkOrder()
}
