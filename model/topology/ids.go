package topology

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var idPattern = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_.-]*?)(?:\[([0-9,-]+)\])?$`)

// expandIDs turns "gpu[0-3,6]" into gpu0 … gpu3, gpu6; a plain name stands for itself.
func expandIDs(pattern string) ([]string, error) {
	m := idPattern.FindStringSubmatch(pattern)
	if m == nil {
		return nil, fmt.Errorf("%q is not an id: write a name such as gpu0 or gpu[0-7]", shorten(pattern))
	}
	if m[2] == "" {
		return []string{m[1]}, nil
	}
	var ranges [][2]int
	n := 0
	for part := range strings.SplitSeq(m[2], ",") {
		lo, hi, ok := idRange(part)
		if !ok || hi >= maxTemplateDevices {
			return nil, fmt.Errorf("%q: %q is not a range such as 0-7 (up to %d)", shorten(pattern), shorten(part), maxTemplateDevices-1)
		}
		ranges = append(ranges, [2]int{lo, hi})
		if n += hi - lo + 1; n > maxTemplateDevices {
			return nil, fmt.Errorf("%q names more than %d devices", shorten(pattern), maxTemplateDevices)
		}
	}
	out := make([]string, 0, n)
	for _, r := range ranges {
		for i := r[0]; i <= r[1]; i++ {
			out = append(out, m[1]+strconv.Itoa(i))
		}
	}
	return out, nil
}

// namePattern is a range of names that nodes have elsewhere: dgx[01-18], c[1-4]-ib.
var namePattern = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_.-]*)\[([0-9,-]+)\]([A-Za-z0-9_.-]*)$`)

// nodeNames are the names of an entry of nodes that lists them as a range, numbers as wide as they are written; nil where it has a
// number put behind its name.
func nodeNames(n nodeSpec) (out []string, err error) {
	if idPattern.MatchString(n.Name) && !strings.Contains(n.Name, "[") {
		return nil, nil
	}
	m := namePattern.FindStringSubmatch(n.Name)
	if m == nil {
		return nil, fmt.Errorf("%q is not a name: write letters, digits, _, . and -, or a range of names such as dgx[01-18]",
			shorten(n.Name))
	}
	for part := range strings.SplitSeq(m[2], ",") {
		lo, hi, ok := idRange(part)
		if !ok || hi-lo >= maxCount-len(out) {
			return nil, fmt.Errorf("%q: %q is not a range such as 01-18", shorten(n.Name), shorten(part))
		}
		first, _, _ := strings.Cut(part, "-")
		for i := range hi - lo + 1 { // the number after the largest is none
			out = append(out, fmt.Sprintf("%s%0*d%s", m[1], len(first), lo+i, m[3]))
		}
	}
	return out, nil
}

// shorten keeps a message readable whatever the file holds.
func shorten(s string) string {
	if len(s) > 60 {
		return strings.ToValidUTF8(s[:60], "") + "…"
	}
	return s
}

func idRange(s string) (lo, hi int, ok bool) {
	a, b, both := strings.Cut(s, "-")
	if !both {
		b = a
	}
	lo, err1 := strconv.Atoi(a)
	hi, err2 := strconv.Atoi(b)
	return lo, hi, err1 == nil && err2 == nil && lo <= hi
}
