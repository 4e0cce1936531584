package sweep

import (
	"encoding/json"
	"fmt"

	"railyard/capacity/journal"
)

// Schema is the version of the journals.
const Schema = "railyard.sweep/v2"

// Question is what a sweep asks.
type Question struct {
	Words   []string `json:"question"` // the command without the swept values
	Inputs  string   `json:"inputs"`   // hash of the files that it reads
	Axes    []Axis   `json:"axes"`
	Version string   `json:"version"`
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
	*journal.File // nil: nobody keeps the rows
	done          map[int]bool
	each          func(Row) // is told of every row; may be nil
}

// Open opens a journal, or makes it, and tells each of the rows that it has and that it gets; without a path, only that. Another
// question's journal is an error.
func Open(path string, q Question, each func(Row)) (*Journal, error) {
	total, err := Count(q.Axes)
	if err != nil {
		return nil, err
	}
	h, err := journal.NewHeader(Schema, q, total)
	if err != nil {
		return nil, err
	}
	j := &Journal{done: map[int]bool{}, each: each}
	if path == "" {
		return j, nil
	}
	j.File, err = journal.Open(path, "sweep", h, func(number int, line []byte) error {
		r, err := rowOf(path, number, line)
		j.has(r)
		return err
	})
	return j, err
}

// has takes up a row.
func (j *Journal) has(r Row) {
	j.done[r.Point] = true
	if j.each != nil {
		j.each(r)
	}
}

// Close closes the file, if there is one.
func (j *Journal) Close() error {
	if j.File == nil {
		return nil
	}
	return j.File.Close()
}

func rowOf(path string, number int, line []byte) (r Row, err error) {
	if err = json.Unmarshal(line, &r); err != nil {
		err = fmt.Errorf("%s:%d: not a row of a sweep: %v", path, number, err)
	}
	return r, err
}

// Add writes a row, whole or not at all.
func (j *Journal) Add(r Row) error {
	if j.File != nil {
		if err := journal.Add(j.File, r); err != nil {
			return err
		}
	}
	j.has(r)
	return nil
}

// Rows are the rows of journals that journal.Merge has put together, and the question that they answer.
func Rows(m *journal.Merged) (q Question, rows []Row, err error) {
	if m.Header.Schema != Schema {
		return q, nil, fmt.Errorf("a journal of schema %s: a sweep's are of %s", m.Header.Schema, Schema)
	}
	if err := json.Unmarshal(m.Header.Of, &q); err != nil {
		return q, nil, fmt.Errorf("not the header of a sweep: %w", err)
	}
	for _, line := range m.Rows {
		r, err := rowOf(line.Path, line.Number, line.Text)
		if err != nil {
			return q, nil, err
		}
		rows = append(rows, r)
	}
	return q, rows, nil
}
