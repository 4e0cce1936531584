package journal

import (
	"encoding/json"
	"fmt"
)

// Header is a journal's first line: all that its rows depend on. A journal only goes on with the same.
type Header struct {
	Schema string          `json:"schema"`
	Of     json.RawMessage `json:"of"`              // the question
	Points int             `json:"points"`          // rows of all the work; every row says of which it is
	Shard  string          `json:"shard,omitempty"` // i/n, where rows depend on what else is in the journal
}

// NewHeader is the header of a question's rows.
func NewHeader(schema string, of any, points int) (Header, error) {
	text, err := json.Marshal(of)
	return Header{Schema: schema, Of: text, Points: points}, err
}

// ParseHeader reads the first line of a journal.
func ParseHeader(path string, line []byte) (h Header, err error) {
	if err := json.Unmarshal(line, &h); err != nil || h.Schema == "" || h.Points < 0 || !json.Valid(h.Of) {
		return h, fmt.Errorf("%s:1: not the first line of a journal", path)
	}
	return h, nil
}

// line is the header as journals hold it.
func (h Header) line() []byte {
	line, err := json.Marshal(h)
	if err != nil {
		panic(err) // Of is JSON
	}
	return append(line, '\n')
}
