package search

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Journal is a file of rows, one JSON object a line behind a header, that survives a kill
// at any moment: rows are appended whole, and half a line at the end is dropped when the
// file is opened again.
type Journal struct {
	f    *os.File
	rows map[string]Row
}

// header is the first line: what the rows are of.
type header struct {
	Schema string `json:"schema"`
	Key    string `json:"key"`
}

// Schema is the version of journals.
const Schema = "railyard.search/v1"

// OpenJournal opens or creates a journal. The key is all that rows depend on: a journal
// of another search is refused.
func OpenJournal(path, key string) (*Journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	j := &Journal{f: f, rows: map[string]Row{}}
	if err := j.load(path, key); err != nil {
		f.Close()
		return nil, err
	}
	return j, nil
}

// load reads what is there.
func (j *Journal) load(path, key string) error {
	data, err := io.ReadAll(j.f)
	if err != nil {
		return err
	}
	whole := data[:bytes.LastIndexByte(data, '\n')+1]
	if len(whole) == 0 {
		if len(data) > 0 && data[0] != '{' {
			return fmt.Errorf("%s is not a journal of a search: name another file", path)
		}
		if err := j.truncate(0); err != nil {
			return err
		}
		return j.line(header{Schema, key})
	}
	for n, line := range bytes.Split(bytes.TrimSuffix(whole, []byte("\n")), []byte("\n")) {
		if err := j.read(n, line, path, key); err != nil {
			return err
		}
	}
	return j.truncate(int64(len(whole)))
}

func (j *Journal) truncate(size int64) error {
	_, err := j.f.Seek(size, io.SeekStart)
	return errors.Join(err, j.f.Truncate(size))
}

// read takes one line in.
func (j *Journal) read(n int, line []byte, path, key string) error {
	if n == 0 {
		var h header
		if err := json.Unmarshal(line, &h); err != nil || h.Schema != Schema {
			return fmt.Errorf("%s is not a journal of a search: name another file", path)
		}
		if h.Key != key {
			return fmt.Errorf("%s is the journal of another search (%s, this one is %s): name another file, or delete it", path, h.Key, key)
		}
		return nil
	}
	var r Row
	if err := json.Unmarshal(line, &r); err != nil || r.Layout == "" {
		return fmt.Errorf("%s:%d: not a row of a search: %q", path, n+1, line)
	}
	if _, twice := j.rows[r.Layout]; twice {
		return fmt.Errorf("%s:%d: %s appears twice", path, n+1, r.Layout)
	}
	j.rows[r.Layout] = r
	return nil
}

// append adds rows with one write.
func (j *Journal) append(rows []Row) error {
	var out bytes.Buffer
	for _, r := range rows {
		text, err := json.Marshal(r)
		if err != nil {
			return err
		}
		out.Write(append(text, '\n'))
	}
	_, err := j.f.Write(out.Bytes())
	return err
}

func (j *Journal) line(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = j.f.Write(append(text, '\n'))
	return err
}

// Close closes the file.
func (j *Journal) Close() error { return j.f.Close() }
