// Package journal is a file of JSON lines behind a header that says of what they are. It
// survives a kill or a full disk at any moment: what is in it is never written again, rows
// are appended whole or not at all, and half a line at the end is dropped when the file is
// opened again.
package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// maxLine bounds a row.
const maxLine = 16 << 20

// File is an open journal.
type File struct{ file *os.File }

// Open opens a journal, or makes it, and hands the rows that it has to row. A file with another header, of another subject
// ("search"), is an error, and so is one that another process has open.
func Open(path, subject string, header Header, row func(line int, text []byte) error) (*File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fmt.Errorf("%s is no regular file: a journal must be one", path), f.Close())
	}
	if lock(f) {
		return nil, errors.Join(fmt.Errorf("%s is being written by another process: wait until that has ended", path), f.Close())
	}
	j := &File{f}
	if err := j.take(path, subject, bytes.TrimSuffix(header.line(), []byte("\n")), row); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return j, nil
}

// take reads what is there and leaves the file at the end of the last whole line.
func (j *File) take(path, subject string, want []byte, row func(int, []byte) error) error {
	whole := int64(0)
	err := EachLine(j.file, path, func(number int, line []byte) error {
		whole += int64(len(line)) + 1
		switch {
		case number > 1:
			return row(number, line)
		case !bytes.Equal(line, want):
			return fmt.Errorf("%s holds another %s (or one of another version): name a new file, or take this one away", path, subject)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if whole == 0 {
		if err := j.ours(path, subject, want); err != nil {
			return err
		}
	}
	if err := j.file.Truncate(whole); err != nil {
		return err
	}
	if _, err := j.file.Seek(whole, io.SeekStart); err != nil {
		return err
	}
	if whole == 0 {
		return j.write(append(want, '\n'))
	}
	return nil
}

// ours reports whether a file without a whole line is the beginning of a header, and may
// be overwritten.
func (j *File) ours(path, subject string, want []byte) error {
	begin := make([]byte, len(want)+1)
	n, err := j.file.ReadAt(begin, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if !bytes.HasPrefix(want, begin[:n]) {
		return fmt.Errorf("%s is not the journal of a %s: name another file", path, subject)
	}
	return nil
}

// EachLine calls do for every line that ends, without its end; what comes after the last
// end is left out.
func EachLine(r io.Reader, path string, do func(number int, line []byte) error) error {
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

// Add appends rows with one write, all of them or none.
func Add[R any](j *File, rows ...R) error {
	var out bytes.Buffer
	for _, r := range rows {
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		out.Write(append(line, '\n'))
	}
	return j.write(out.Bytes())
}

// write takes back what was written of lines that do not fit on the disk.
func (j *File) write(lines []byte) error {
	if len(lines) == 0 {
		return nil
	}
	at, err := j.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(lines); err != nil {
		_, back := j.file.Seek(at, io.SeekStart)
		return errors.Join(err, j.file.Truncate(at), back)
	}
	return nil
}

// Close closes the file.
func (j *File) Close() error { return j.file.Close() }
