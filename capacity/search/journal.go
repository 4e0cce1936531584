package search

import (
	"encoding/json"
	"fmt"

	"railyard/capacity/journal"
)

// Journal keeps every layout's row (capacity/journal), so that a killed search goes on.
type Journal struct {
	file *journal.File
	rows map[string]Row
}

// header is the first line: what the rows are of.
type header struct {
	Schema string `json:"schema"`
	Key    string `json:"key"`
}

// Schema is the version of journals.
const Schema = "railyard.search-journal/v1"

// OpenJournal opens or creates a journal. The key is all that rows depend on: a journal
// of another search is refused.
func OpenJournal(path, key string) (*Journal, error) {
	j := &Journal{rows: map[string]Row{}}
	var err error
	j.file, err = journal.Open(path, "search", header{Schema, key}, func(number int, line []byte) error {
		var r Row
		if err := json.Unmarshal(line, &r); err != nil || r.Layout == "" {
			return fmt.Errorf("%s:%d: not a row of a search: %q", path, number, line)
		}
		if _, twice := j.rows[r.Layout]; twice {
			return fmt.Errorf("%s:%d: %s appears twice", path, number, r.Layout)
		}
		j.rows[r.Layout] = r
		return nil
	})
	return j, err
}

// Close closes the file.
func (j *Journal) Close() error { return j.file.Close() }
