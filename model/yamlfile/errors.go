package yamlfile

import (
	"fmt"
	"sort"
	"strings"
)

// Error is one mistake in a file: where, what is wrong, what would be right.
type Error struct {
	File      string
	Line, Col int
	Msg       string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Msg)
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg)
}

// Errors are all mistakes of a file, in the order of its lines.
type Errors []*Error

func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, x := range e {
		lines[i] = x.Error()
	}
	return strings.Join(lines, "\n")
}

// maxErrors bounds what a hostile file can make us collect and print.
const maxErrors = 100

// Diagnostics collects mistakes while reading goes on.
type Diagnostics struct {
	File    string
	errs    Errors
	dropped int // mistakes beyond maxErrors
}

// Add notes a mistake; line 0 where none is known.
func (d *Diagnostics) Add(line, col int, format string, args ...any) {
	if len(d.errs) < maxErrors {
		d.errs = append(d.errs, &Error{File: d.File, Line: line, Col: col, Msg: fmt.Sprintf(format, args...)})
	} else {
		d.dropped++
	}
}

// Append adds mistakes of another file.
func (d *Diagnostics) Append(more Errors) { d.errs = append(d.errs, more...) }

// Total is the number of mistakes so far.
func (d *Diagnostics) Total() int { return len(d.errs) + d.dropped }

// Err is nil or all mistakes, sorted by place.
func (d *Diagnostics) Err() error {
	if len(d.errs) == 0 {
		return nil
	}
	sort.SliceStable(d.errs, func(i, j int) bool {
		a, b := d.errs[i], d.errs[j]
		if a.File != b.File {
			return a.File < b.File
		}
		if a.Line != b.Line {
			return a.Line < b.Line
		}
		return a.Col < b.Col
	})
	if d.dropped > 0 {
		return append(d.errs[:len(d.errs):len(d.errs)], &Error{File: d.File, Msg: fmt.Sprintf("and %d more", d.dropped)})
	}
	return d.errs
}
