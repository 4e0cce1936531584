package sweep

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"

	"railyard/capacity/journal"
)

// Merged is what several shards' journals hold together.
type Merged struct {
	Header  Header
	Rows    []Row // by point
	Missing int   // points without a row
}

// Merge reads journals of one sweep. A row that two of them hold must be the same in both.
func Merge(paths []string) (*Merged, error) {
	m := &Merged{}
	byPoint := map[int]Row{}
	for i, path := range paths {
		if err := m.read(path, i == 0, byPoint); err != nil {
			return nil, err
		}
	}
	total, err := Count(m.Header.Axes)
	if err != nil {
		return nil, err
	}
	for _, r := range byPoint {
		if r.Point < 0 || r.Point >= total {
			return nil, fmt.Errorf("a row of point %d: the sweep has %d", r.Point, total)
		}
		m.Rows = append(m.Rows, r)
	}
	slices.SortFunc(m.Rows, func(a, b Row) int { return a.Point - b.Point })
	m.Missing = total - len(m.Rows)
	return m, nil
}

func (m *Merged) read(path string, first bool, byPoint map[int]Row) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := 0
	err = journal.EachLine(f, path, func(number int, line []byte) error {
		lines++
		if number == 1 {
			return m.header(path, line, first)
		}
		r, err := rowOf(path, number, line)
		if err != nil {
			return err
		}
		if have, ok := byPoint[r.Point]; ok && !same(have, r) {
			return fmt.Errorf("%s:%d: point %d has another answer in a file before: they are not of one sweep", path, number, r.Point)
		}
		byPoint[r.Point] = r
		return nil
	})
	if err == nil && lines == 0 {
		return fmt.Errorf("%s is empty: not a sweep's journal", path)
	}
	return err
}

func (m *Merged) header(path string, line []byte, first bool) error {
	var h Header
	if err := json.Unmarshal(line, &h); err != nil || h.Schema != Schema {
		return fmt.Errorf("%s:1: not a journal of schema %s", path, Schema)
	}
	if first {
		m.Header = h
		return nil
	}
	a, _ := json.Marshal(h)
	b, _ := json.Marshal(m.Header)
	if !bytes.Equal(a, b) {
		return fmt.Errorf("%s holds another sweep than the file before it", path)
	}
	return nil
}

func same(a, b Row) bool {
	return a.Error == b.Error && bytes.Equal(a.Answer, b.Answer) && slices.Equal(a.Set, b.Set)
}

// WriteJSONLines writes the rows as a journal of the whole sweep.
func (m *Merged) WriteJSONLines(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if err := e.Encode(m.Header); err != nil {
		return err
	}
	for _, r := range m.Rows {
		if err := e.Encode(r); err != nil {
			return err
		}
	}
	return nil
}
