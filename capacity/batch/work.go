package batch

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"railyard/capacity/journal"
	"railyard/internal/outfile"
)

// Schema is the version of what a directory says of its work.
const Schema = "railyard.batch/v1"

// Shard and Journal stand for a shard's number and for the file of its rows in the words of a command.
const (
	Shard   = "\x00shard"
	Journal = "\x00journal"
)

// Work is a question in shards, each of which a command answers into a journal and goes on with when it is run again.
type Work struct {
	Schema   string   `json:"schema"`
	Question []string `json:"question"` // as its user asked it
	Inputs   string   `json:"inputs"`   // hash of the files that it reads
	Version  string   `json:"version"`
	Shards   int      `json:"shards"`

	Dir     string   `json:"-"` // absolute, the same wherever shards run
	Command []string `json:"-"` // of a shard, with Shard and Journal in it
}

// Claim makes the directory this work's. One that holds other work is an error.
func (w *Work) Claim() error {
	for _, word := range append(w.Command, w.Question...) {
		if strings.ContainsRune(word, '\n') {
			return fmt.Errorf("%q: scripts take no line ends in the words of a question", word)
		}
	}
	if err := os.MkdirAll(w.Dir, 0o755); err != nil {
		return err
	}
	w.Schema = Schema
	text, err := json.MarshalIndent(w, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(w.Dir, "question.json")
	switch have, err := os.ReadFile(path); {
	case errors.Is(err, fs.ErrNotExist):
		return outfile.Write(path, func(out io.Writer) error { _, err := out.Write(text); return err })
	case err != nil:
		return err
	case string(have) != string(text):
		return fmt.Errorf("%s is of another question, files that changed, another number of shards or another version of railyard: name "+
			"another --dir, or take this one away", path)
	}
	return nil
}

// Name is what engines know the work by: that of its directory, and of nothing else there.
func (w *Work) Name() string {
	return fmt.Sprintf("railyard-%x", sha256.Sum256([]byte(w.Dir)))[:len("railyard-")+12]
}

// Path is the file of a shard's rows.
func (w *Work) Path(shard int) string {
	return filepath.Join(w.Dir, fmt.Sprintf("shard-%d.jsonl", shard))
}

// Log is the file of what a shard's command says.
func (w *Work) Log(shard int) string { return filepath.Join(w.Dir, fmt.Sprintf("shard-%d.log", shard)) }

// line is the command of the shard that the variable $shard of a shell names.
func (w *Work) line() string {
	var words []string
	for _, word := range w.Command {
		word = quote(strings.ReplaceAll(word, Journal, filepath.Join(w.Dir, "shard-"+Shard+".jsonl")))
		if strings.HasPrefix(word, "'") {
			word = strings.ReplaceAll(word, Shard, `'$shard'`)
		}
		words = append(words, strings.ReplaceAll(word, Shard, "$shard"))
	}
	return strings.Join(words, " ")
}

// quote is a word as a shell reads it.
func quote(word string) string {
	for _, c := range strings.ReplaceAll(word, Shard, "") {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=,:@%+-", c) {
			return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	if word == "" {
		return "''"
	}
	return word
}

// comment is the question in a comment's line.
func (w *Work) comment() string {
	var words []string
	for _, word := range w.Question {
		words = append(words, quote(strings.ReplaceAll(word, "\n", " ")))
	}
	return strings.Join(words, " ")
}

// progress is how far a shard has come.
type progress struct {
	size     int64 // of its journal, when it was read
	rows, of int   // of is −1 while the journal has no header
}

func (p *progress) complete() bool { return p.rows == p.of }

// look reads a shard's journal again if it has grown.
func (w *Work) look(shard int, p *progress) error {
	f, err := os.Open(w.Path(shard))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() == p.size {
		return err
	}
	*p = progress{size: info.Size(), of: -1}
	return journal.EachLine(f, w.Path(shard), func(number int, line []byte) error {
		if number > 1 {
			p.rows++
			return nil
		}
		h, err := journal.ParseHeader(w.Path(shard), line)
		p.of = len(journal.Shard{Index: shard, Of: w.Shards}.Points(h.Points))
		return err
	})
}

// Merge puts the rows of all shards together.
func (w *Work) Merge() (*journal.Merged, error) {
	var paths []string
	for shard := 1; shard <= w.Shards; shard++ {
		paths = append(paths, w.Path(shard))
	}
	return journal.Merge(paths)
}

// lastLine is what a shard's command said last, "" where it said nothing.
func (w *Work) lastLine(shard int) string {
	f, err := os.Open(w.Log(shard))
	if err != nil {
		return ""
	}
	defer f.Close()
	const most = 2000
	if end, err := f.Seek(0, io.SeekEnd); err == nil {
		_, _ = f.Seek(max(0, end-most), io.SeekStart)
	}
	text, _ := io.ReadAll(io.LimitReader(f, most)) // it is only told
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}
