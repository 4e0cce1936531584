package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
)

// Merged is what the journals of several shards hold together.
type Merged struct {
	Header  Header
	Rows    []Line // by point
	Missing int    // points without a row
}

// Line is a row, and where it was read.
type Line struct {
	Point  int
	Text   []byte
	Path   string
	Number int
}

// Merge reads journals of one subject. A row that two of them hold must be the same in both.
func Merge(paths []string) (*Merged, error) {
	m := &Merged{}
	byPoint := map[int]Line{}
	for i, path := range paths {
		if err := m.read(path, i == 0, byPoint); err != nil {
			return nil, err
		}
	}
	for _, r := range byPoint {
		m.Rows = append(m.Rows, r)
	}
	slices.SortFunc(m.Rows, func(a, b Line) int { return a.Point - b.Point })
	m.Missing = m.Header.Points - len(m.Rows)
	return m, nil
}

func (m *Merged) read(path string, first bool, byPoint map[int]Line) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := 0
	err = EachLine(f, path, func(number int, text []byte) error {
		lines++
		if number == 1 {
			return m.header(path, text, first)
		}
		r := Line{Point: -1, Text: text, Path: path, Number: number}
		if err := json.Unmarshal(text, &struct{ Point *int }{&r.Point}); err != nil || r.Point < 0 || r.Point >= m.Header.Points {
			return fmt.Errorf("%s:%d: not the row of one of %d points", path, number, m.Header.Points)
		}
		if have, ok := byPoint[r.Point]; ok && !bytes.Equal(have.Text, text) {
			return fmt.Errorf("%s:%d: point %d has another answer in %s:%d: they are not of one %s", path, number, r.Point, have.Path,
				have.Number, m.Header.Schema)
		}
		byPoint[r.Point] = r
		return nil
	})
	if err == nil && lines == 0 {
		return fmt.Errorf("%s is empty: not a journal", path)
	}
	return err
}

// header takes the first line of a journal, which all have alike, but for the shard.
func (m *Merged) header(path string, line []byte, first bool) error {
	h, err := ParseHeader(path, line)
	if err != nil {
		return err
	}
	h.Shard = ""
	if first {
		m.Header = h
		return nil
	}
	if a, b := h.line(), m.Header.line(); !bytes.Equal(a, b) {
		return fmt.Errorf("%s holds another question than the file before it", path)
	}
	return nil
}

// Write writes the journal of all the work.
func (m *Merged) Write(w io.Writer) error {
	if _, err := w.Write(m.Header.line()); err != nil {
		return err
	}
	for _, r := range m.Rows {
		if _, err := w.Write(append(r.Text, '\n')); err != nil {
			return err
		}
	}
	return nil
}
