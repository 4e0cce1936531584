package measurement

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"railyard/model/units"
)

// maxErrors bounds how many bad cells are reported at once.
const maxErrors = 20

// Line is a line of a CSV file, whose cells are known by the names of their columns. What is wrong with
// cells is noted and reported once the file is read.
type Line struct {
	No    int // in the file, from 1
	file  string
	at    map[string]int
	cells []string
	bad   bool
	errs  []error
}

// Lines visits the lines of a CSV file whose first line names its columns, in any order, at least those that are needed. Lines that
// begin with # are left out. Everything that is wrong is an error with file, line and column, all of them at once; reading ends after
// some 20.
func Lines(in io.Reader, file string, visit func(*Line), needed ...string) error {
	_, err := lines(in, file, '#', visit, needed)
	return err
}

// FileLines are the Lines of a file of a file system, nil being this machine's.
func FileLines(files fs.FS, name string, visit func(*Line), needed ...string) error {
	open := func(name string) (fs.File, error) { return os.Open(name) }
	if files != nil {
		open = files.Open
	}
	f, err := open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return Lines(f, name, visit, needed...)
}

// lines returns the header too, nil where there is none that can be used; comment marks lines below it that are left out.
func lines(r io.Reader, file string, comment rune, visit func(*Line), needed []string) ([]string, error) {
	in := csv.NewReader(r)
	in.FieldsPerRecord = -1
	in.Comment = '#'
	header, err := in.Read()
	switch {
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%s:1: the file is empty: the first line must name the columns, at least %s", file,
			strings.Join(needed, ", "))
	case err != nil:
		return nil, fmt.Errorf("%s: the header: %w", file, err)
	}
	in.Comment = comment
	l := &Line{file: file, at: map[string]int{}}
	for i, name := range header {
		header[i] = strings.TrimSpace(strings.TrimPrefix(name, "\ufeff"))
		l.at[header[i]] = i
	}
	if err := checkHeader(header, needed); err != nil {
		line, _ := in.FieldPos(0)
		return nil, fmt.Errorf("%s:%d: %w", file, line, err)
	}
	for {
		l.cells, err = in.Read()
		if errors.Is(err, io.EOF) {
			return header, errors.Join(l.errs...)
		}
		if err != nil {
			return header, errors.Join(append(l.errs, fmt.Errorf("%s: %w", file, err))...)
		}
		l.No, _ = in.FieldPos(0)
		if len(l.errs) >= maxErrors {
			return header, errors.Join(append(l.errs, fmt.Errorf("%s:%d: and perhaps more: reading ended after %d errors", file, l.No,
				len(l.errs)))...)
		}
		l.bad = false
		if len(l.cells) != len(header) {
			l.Fail("row", "%d cells for %d columns", len(l.cells), len(header))
			continue
		}
		visit(l)
	}
}

// checkHeader reports missing and repeated columns.
func checkHeader(header, needed []string) error {
	var missing []string
	for _, need := range needed {
		if !slices.Contains(header, need) {
			missing = append(missing, fmt.Sprintf("%q", need))
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("there is no column %s; the first line must name the columns, at least %s (found: %s)",
			strings.Join(missing, " and no "), strings.Join(needed, ", "), strings.Join(header, ", "))
	}
	for i, name := range header {
		if name == "" {
			return fmt.Errorf("column %d has no name", i+1)
		}
		if at := slices.Index(header, name); at < i {
			return fmt.Errorf("columns %d and %d are both named %q: rename one", at+1, i+1, name)
		}
	}
	return nil
}

// Fail notes what is wrong with a cell.
func (l *Line) Fail(column, format string, args ...any) {
	l.bad = true
	l.errs = append(l.errs, fmt.Errorf("%s:%d: %s: %s", l.file, l.No, column, fmt.Sprintf(format, args...)))
}

// Good reports whether nothing was wrong with the line's cells so far.
func (l *Line) Good() bool { return !l.bad }

// Given wants cells that are not empty.
func (l *Line) Given(columns ...string) {
	for _, c := range columns {
		if l.Cell(c) == "" {
			l.Fail(c, "must be given")
		}
	}
}

// Cell is the text of a column without blanks around it, "" where the file does not have it.
func (l *Line) Cell(column string) string {
	if i, ok := l.at[column]; ok {
		return strings.TrimSpace(l.cells[i])
	}
	return ""
}

// Whole is a whole number from lo to hi, 0 where the cell is empty.
func (l *Line) Whole(column string, lo, hi int) int {
	return parsed(l, column, fmt.Sprintf("a whole number from %d to %d", lo, hi), func(text string) (int, bool) {
		n, err := strconv.Atoi(text)
		return n, err == nil && n >= lo && n <= hi
	})
}

// parsed is what a cell says, which must be something; zero where it is empty or is something else.
func parsed[T any](l *Line, column, must string, parse func(string) (T, bool)) (none T) {
	text := l.Cell(column)
	if text == "" {
		return none
	}
	v, ok := parse(text)
	if !ok {
		l.Fail(column, "%q is not %s", text, must)
		return none
	}
	return v
}

// Count is the number of some things, at least one; 0 where the cell is empty.
func (l *Line) Count(column string) int { return l.Whole(column, 1, maxCount) }

// Number is a number that is not negative, 0 where the cell is empty.
func (l *Line) Number(column string) float64 {
	return parsed(l, column, "a number of zero or more", func(text string) (float64, bool) {
		v, err := strconv.ParseFloat(text, 64)
		return v, err == nil && v >= 0 && !math.IsInf(v, 0)
	})
}

// Size is a number of bytes, 0 where the cell is empty.
func (l *Line) Size(column string) units.Bytes {
	return parsed(l, column, "a number of bytes", func(text string) (units.Bytes, bool) {
		size, err := units.ParseBytes(text)
		return size, err == nil && size >= 0
	})
}
