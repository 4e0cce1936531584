// Package hostlist reads and writes lists of names as Slurm does: node[0-3,7],login.
package hostlist

import (
	"fmt"
	"strconv"
	"strings"
)

// Write writes names in their order.
func Write(names []string) string {
	var out []string
	for i := 0; i < len(names); {
		stem, number := numbered(names[i])
		if number == "" {
			out = append(out, names[i])
			i++
			continue
		}
		var ranges []string
		for i < len(names) && sameStem(names[i], stem) {
			first, last := i, i
			for last+1 < len(names) && follows(names[last], names[last+1]) {
				last++
			}
			_, from := numbered(names[first])
			if _, to := numbered(names[last]); last > first {
				from += "-" + to
			}
			ranges = append(ranges, from)
			i = last + 1
		}
		if len(ranges) == 1 && !strings.Contains(ranges[0], "-") {
			out = append(out, stem+ranges[0])
			continue
		}
		out = append(out, stem+"["+strings.Join(ranges, ",")+"]")
	}
	return strings.Join(out, ",")
}

// numbered parts a name's number at its end from what stands before it.
func numbered(name string) (stem, number string) {
	stem = strings.TrimRight(name, "0123456789")
	return stem, name[len(stem):]
}

func sameStem(name, stem string) bool {
	s, number := numbered(name)
	return s == stem && number != ""
}

// follows reports whether b is the name after a: the next number, as wide.
func follows(a, b string) bool {
	x, m := numbered(a)
	y, n := numbered(b)
	i, err := strconv.Atoi(m)
	return x == y && err == nil && n == fmt.Sprintf("%0*d", len(m), i+1)
}

// maxHosts is how many names a hostlist stands for at most.
const maxHosts = 1 << 20

// Read are the names that a list stands for. A name has one range at most.
func Read(list string) (out []string, err error) {
	for list != "" {
		end, depth := len(list), 0
		for i, c := range list {
			if c == '[' {
				depth++
			} else if c == ']' {
				depth--
			} else if c == ',' && depth == 0 {
				end = i
				break
			}
		}
		one := list[:end]
		list = strings.TrimPrefix(list[end:], ",")
		if out, err = appendHosts(out, one); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func appendHosts(out []string, one string) ([]string, error) {
	stem, inside, ranged := strings.Cut(one, "[")
	if !ranged {
		if one == "" || strings.ContainsAny(one, "] \t") {
			return nil, fmt.Errorf("%q is no list of names such as node[0-3,7]", one)
		}
		return append(out, one), nil
	}
	inside, tail, closed := strings.Cut(inside, "]")
	if !closed || strings.ContainsAny(tail, "[]") {
		return nil, fmt.Errorf("%q: a name has one range in brackets, such as node[0-3,7]", one)
	}
	for part := range strings.SplitSeq(inside, ",") {
		from, to, both := strings.Cut(part, "-")
		if !both {
			to = from
		}
		a, err1 := strconv.Atoi(from)
		b, err2 := strconv.Atoi(to)
		if err1 != nil || err2 != nil || a < 0 || b < a {
			return nil, fmt.Errorf("%q: %q is no range such as 0-3", one, part)
		}
		if b-a >= maxHosts-len(out) {
			return nil, fmt.Errorf("%q: more than %d names", one, maxHosts)
		}
		for i := a; i <= b; i++ {
			out = append(out, fmt.Sprintf("%s%0*d%s", stem, len(from), i, tail))
		}
	}
	return out, nil
}
