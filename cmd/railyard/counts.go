package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/model/collective"
	"railyard/model/units"
	"railyard/report"
)

// countMatrix is what a file says that ranks send one another.
type countMatrix struct {
	file    string
	counts  [][]int64 // [source][destination]
	lines   []int     // of the file, by source
	element int       // bytes of what is counted
}

// readCounts reads the file that --counts names, once.
func (f *collFlags) readCounts(kind collective.Kind) error {
	if f.Counts == "" {
		if f.CountsOf != "" && f.CountsOf != "bytes" {
			return cli.Usagef("--counts-of has no effect without --counts")
		}
		return nil
	}
	if kind != collective.AllToAllV {
		return cli.Usagef("--counts has no effect on %v: leave it out, or choose all_to_allv", kind)
	}
	if f.matrix != nil {
		return nil
	}
	m := &countMatrix{file: f.Counts, element: 1}
	if f.CountsOf != "bytes" {
		dtype, err := collective.ParseDType(f.CountsOf)
		if err != nil {
			return cli.Usagef("--counts-of: %v, or bytes", err)
		}
		m.element = dtype.Size()
	}
	in, err := os.Open(f.Counts)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := m.read(in); err != nil {
		return err
	}
	f.matrix = m
	return nil
}

// read reads a square matrix; blank lines and those after # are left out.
func (m *countMatrix) read(in io.Reader) error {
	r := csv.NewReader(in)
	r.Comment, r.FieldsPerRecord, r.TrimLeadingSpace, r.ReuseRecord = '#', -1, true, true
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		var wrong *csv.ParseError
		if errors.As(err, &wrong) {
			return fmt.Errorf("%s:%d: %w", m.file, wrong.Line, wrong.Err)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", m.file, err)
		}
		line, _ := r.FieldPos(0)
		row := make([]int64, len(record))
		for i, text := range record {
			c, err := units.ParseBytes(text)
			if err != nil || c < 0 {
				_, column := r.FieldPos(i)
				return fmt.Errorf("%s:%d:%d: %q is not a count", m.file, line, column, text)
			}
			row[i] = int64(c)
		}
		switch {
		case len(m.counts) > 0 && len(row) != len(m.counts[0]):
			return fmt.Errorf("%s:%d: %d counts, but %d in line %d: every rank sends to every rank, be it 0", m.file, line, len(row),
				len(m.counts[0]), m.lines[0])
		case len(m.counts) == len(row):
			return fmt.Errorf("%s:%d: a row too many: the %d before have %d counts each", m.file, line, len(m.counts), len(row))
		}
		m.counts, m.lines = append(m.counts, row), append(m.lines, line)
	}
	if len(m.counts) == 0 {
		return fmt.Errorf("%s: there is no count in it", m.file)
	}
	if n := len(m.counts[0]); len(m.counts) < n {
		return fmt.Errorf("%s:%d: %d rows of %d counts: a row for each rank is needed, be it of zeros", m.file, m.lines[len(m.lines)-1],
			len(m.counts), n)
	}
	return m.check()
}

// check holds the counts to their bounds, which the planner has as well, but without lines.
func (m *countMatrix) check() error {
	const most = 1 << 40
	var sum int64
	for i, row := range m.counts {
		for j, c := range row {
			if c > most {
				return fmt.Errorf("%s:%d: rank %d sends %d to rank %d: more than 2^40", m.file, m.lines[i], i, c, j)
			}
			sum = max(sum, c)
		}
	}
	if sum == 0 {
		return fmt.Errorf("%s: all counts are zero: there is nothing to send", m.file)
	}
	return nil
}

// size is the largest row in bytes.
func (m *countMatrix) size() units.Bytes {
	return units.Bytes(collective.Spec{Counts: m.counts}.LargestRow() * int64(m.element))
}

// describe is what documents say of the matrix.
func (m *countMatrix) describe() *report.Counts {
	if m == nil {
		return nil
	}
	out := &report.Counts{File: m.file, LargestRow: int64(m.size())}
	for _, row := range m.counts {
		for _, c := range row {
			out.Total += c * int64(m.element)
			if c == 0 {
				out.ZeroPairs++
			}
		}
	}
	return out
}

// asCounted reports whether a run is of the size that its counts have.
func (f *planFlags) asCounted(cmd *cobra.Command) bool {
	return f.Coll.Counts != "" && !f.Sizes.Given(cmd)
}

// allSizes are the sizes asked for; without any, that of the counts.
func (f *planFlags) allSizes(cmd *cobra.Command) ([]units.Bytes, error) {
	if !f.asCounted(cmd) {
		return f.Sizes.Sizes(cmd)
	}
	kind, err := collective.Parse(f.Coll.Name)
	if err != nil {
		return nil, cli.Usage(err)
	}
	if err := f.Coll.readCounts(kind); err != nil {
		return nil, err
	}
	return []units.Bytes{f.Coll.matrix.size()}, nil
}

// wholeElements refuses counts that are no whole number of elements of a run's type.
func (f *planFlags) wholeElements(cmd *cobra.Command, dtype collective.DType) error {
	m := f.Coll.matrix
	if m == nil || !f.asCounted(cmd) {
		return nil
	}
	for i, row := range m.counts {
		for j, c := range row {
			if bytes := c * int64(m.element); bytes%int64(dtype.Size()) != 0 {
				return fmt.Errorf("%s:%d: rank %d sends %d bytes to rank %d, which are no whole number of %v: choose another type with "+
					"-d, or give a size to scale the counts to", m.file, m.lines[i], i, bytes, j, dtype)
			}
		}
	}
	return nil
}
