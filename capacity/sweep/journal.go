package sweep

import (
	"encoding/json"
	"fmt"

	"railyard/capacity/journal"
)

// Schema is the version of the journals.
const Schema = "railyard.sweep/v1"

// Header is a journal's first line: what was asked. A journal only goes on with the same.
type Header struct {
	Schema   string   `json:"schema"`
	Question []string `json:"question"` // the command without the swept values
	Inputs   string   `json:"inputs"`   // hash of the files that it reads
	Axes     []Axis   `json:"axes"`
	Version  string   `json:"version"`
}

// Row is a point's answer, or why it has none.
type Row struct {
	Point  int             `json:"point"`
	Set    []string        `json:"set"`
	Answer json.RawMessage `json:"answer,omitempty"`
	Error  string          `json:"error,omitempty"`
}

// Journal is a file of rows that grows (capacity/journal).
type Journal struct {
	file *journal.File
	done map[int]bool
}

// Open opens a journal, or makes it. Another question's journal is an error.
func Open(path string, h Header) (*Journal, error) {
	j := &Journal{done: map[int]bool{}}
	var err error
	j.file, err = journal.Open(path, "sweep", h, func(number int, line []byte) error {
		r, err := rowOf(path, number, line)
		j.done[r.Point] = true
		return err
	})
	return j, err
}

func rowOf(path string, number int, line []byte) (r Row, err error) {
	if err = json.Unmarshal(line, &r); err != nil {
		err = fmt.Errorf("%s:%d: not a row of a sweep: %v", path, number, err)
	}
	return r, err
}

// Done reports whether a point has its row.
func (j *Journal) Done(point int) bool { return j.done[point] }

// Add writes a row, whole or not at all.
func (j *Journal) Add(r Row) error {
	err := journal.Add(j.file, r)
	if err == nil {
		j.done[r.Point] = true
	}
	return err
}

// Close closes the file.
func (j *Journal) Close() error { return j.file.Close() }
