package cluster

import (
	"fmt"
	"strconv"
	"strings"
)

// maxNodes bounds lists of nodes: "n[0-999999999]" is twelve bytes.
const maxNodes = 1 << 16

// Hostnames are the nodes of a list as Slurm writes it, in its order:
// "n[1-3,07-09],a[01-02]x[1-2]-ib" is n1, n2, n3, n07, n08, n09, a01x1-ib, a01x2-ib, …; numbers are as wide as
// the first one of their range. More than 65536 are an error, and so is what is no such list.
func Hostnames(list string) ([]string, error) {
	var out []string
	for rest := list; rest != ""; {
		item, after := cutItem(rest)
		names, err := expandItem(item, maxNodes-len(out))
		if err != nil {
			return nil, fmt.Errorf("nodes %.200q: %w", list, err)
		}
		out, rest = append(out, names...), after
	}
	return out, nil
}

// cutItem is what stands before the first comma outside brackets, and what follows it.
func cutItem(list string) (item, after string) {
	depth := 0
	for i, c := range []byte(list) {
		switch {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == ',' && depth == 0:
			return list[:i], list[i+1:]
		}
	}
	return list, ""
}

// expandItem multiplies the brackets of an item, the last one fastest.
func expandItem(item string, most int) ([]string, error) {
	names := []string{""}
	for rest := item; ; {
		literal, after, bracket := strings.Cut(rest, "[")
		if i := strings.IndexFunc(literal, notInName); i >= 0 {
			return nil, fmt.Errorf("%q is in no node's name", literal[i])
		}
		parts := []string{literal}
		if bracket {
			inside, behind, closed := strings.Cut(after, "]")
			if !closed {
				return nil, fmt.Errorf("[ without ]")
			}
			numbers, err := expandRanges(inside, most/len(names))
			if err != nil {
				return nil, err
			}
			for i, n := range numbers {
				numbers[i] = literal + n
			}
			parts, rest = numbers, behind
		}
		if len(parts) > most/len(names) {
			return nil, fmt.Errorf("more than %d nodes", maxNodes)
		}
		names = product(names, parts)
		if !bracket {
			break
		}
	}
	if names[0] == "" {
		return nil, fmt.Errorf("a name is missing next to a comma")
	}
	return names, nil
}

func notInName(c rune) bool {
	return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.')
}

func product(a, b []string) []string {
	out := make([]string, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			out = append(out, x+y)
		}
	}
	return out
}

// expandRanges is the inside of brackets: numbers and ranges of them.
func expandRanges(text string, most int) (out []string, err error) {
	for _, part := range strings.Split(text, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		from, err := digits(low)
		if err != nil {
			return nil, err
		}
		to, err := digits(high)
		if err != nil {
			return nil, err
		}
		if to < from {
			return nil, fmt.Errorf("range %s falls", part)
		}
		if to-from >= uint64(most-len(out)) {
			return nil, fmt.Errorf("more than %d nodes", maxNodes)
		}
		for n := from; n <= to; n++ {
			out = append(out, fmt.Sprintf("%0*d", len(low), n))
		}
	}
	return out, nil
}

// digits reads a number without a sign of at most 18 digits.
func digits(text string) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || len(text) > 18 {
		return 0, fmt.Errorf("%.40q is no number of a node", text)
	}
	return n, nil
}
