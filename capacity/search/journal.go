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

// Schema is the version of journals.
const Schema = "railyard.search-journal/v2"

// OpenJournal opens or creates a journal of a shard of so many layouts. The key is all that rows depend on: a journal
// of another search is refused.
func OpenJournal(path, key string, layouts int, shard journal.Shard) (*Journal, error) {
	h, err := journal.NewHeader(Schema, key, layouts)
	if err != nil {
		return nil, err
	}
	h.Shard = shard.String() // the best of a shard say which of its layouts are not timed
	j := &Journal{rows: map[string]Row{}}
	j.file, err = journal.Open(path, "search", h, func(number int, line []byte) error {
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
