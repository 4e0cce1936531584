package sweep

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Schema is the version of the journals.
const Schema = "railyard.sweep/v1"

// maxLine bounds a row.
const maxLine = 16 << 20

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

// Journal is a file of rows that grows; what is in it is never written again.
type Journal struct {
	file *os.File
	done map[int]bool
}

// Open opens a journal, or makes it. A last line that was cut off by a kill or a full
// disk is taken away; rows before it stay. Another question's journal is an error.
func Open(path string, h Header) (*Journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fmt.Errorf("%s is no regular file: a journal must be one", path), f.Close())
	}
	j := &Journal{file: f, done: map[int]bool{}}
	if err := j.take(path, h); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return j, nil
}

func (j *Journal) take(path string, h Header) error {
	want, err := json.Marshal(h)
	if err != nil {
		return err
	}
	whole := int64(0)
	err = eachLine(j.file, path, func(number int, line []byte) error {
		whole += int64(len(line)) + 1
		if number == 1 {
			if !bytes.Equal(line, want) {
				return fmt.Errorf("%s holds another sweep (or one of another version): name a new file, or take this one away", path)
			}
			return nil
		}
		var r Row
		if err := json.Unmarshal(line, &r); err != nil {
			return fmt.Errorf("%s:%d: not a row of a sweep: %v", path, number, err)
		}
		j.done[r.Point] = true
		return nil
	})
	if err != nil {
		return err
	}
	if err := j.file.Truncate(whole); err != nil {
		return err
	}
	if _, err := j.file.Seek(whole, io.SeekStart); err != nil {
		return err
	}
	if whole == 0 {
		return j.write(want)
	}
	return nil
}

// eachLine calls do for every line that ends; what comes after the last end is left out.
func eachLine(r io.Reader, path string, do func(number int, line []byte) error) error {
	in := bufio.NewReaderSize(r, 1<<16)
	for number := 1; ; number++ {
		line, err := in.ReadBytes('\n')
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case len(line) > maxLine:
			return fmt.Errorf("%s:%d: longer than %d MiB", path, number, maxLine>>20)
		}
		if err := do(number, line[:len(line)-1]); err != nil {
			return err
		}
	}
}

// Done reports whether a point has its row.
func (j *Journal) Done(point int) bool { return j.done[point] }

// Add writes a row, whole or not at all.
func (j *Journal) Add(r Row) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := j.write(line); err != nil {
		return err
	}
	j.done[r.Point] = true
	return nil
}

func (j *Journal) write(line []byte) error {
	at, err := j.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return errors.Join(err, j.file.Truncate(at))
	}
	return nil
}

// Close closes the file.
func (j *Journal) Close() error { return j.file.Close() }
