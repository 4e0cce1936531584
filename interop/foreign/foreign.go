// Package foreign is what the readers of other programs' files share: bounded reading,
// XML as NCCL's parser takes it, collected mistakes and names of collectives.
package foreign

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"railyard/model/collective"
	"railyard/model/schedule"
)

// Read reads a whole file of at most most MiB.
func Read(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most<<20+1))
	if err == nil && int64(len(data)) > most<<20 {
		err = fmt.Errorf("larger than %d MiB", most)
	}
	return data, err
}

// maxMistakes is how many mistakes are listed.
const maxMistakes = 20

// Mistakes collects what is wrong with a file.
type Mistakes struct{ errs []error }

// Add adds a mistake; line 0 is a file that was made here and has no lines yet.
func (m *Mistakes) Add(line int, format string, args ...any) {
	if len(m.errs) < maxMistakes {
		m.errs = append(m.errs, At(line, format, args...))
	}
}

// Err are all mistakes; nil if there are none.
func (m *Mistakes) Err() error { return errors.Join(m.errs...) }

// At is an error with the line it stands in, unless that is 0.
func At(line int, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if line > 0 {
		err = fmt.Errorf("line %d: %w", line, err)
	}
	return err
}

// buffers are what formats call a rank's input, output and scratch, in the order of schedule.Buffer.
const buffers = "ios"

// BufferName is what a buffer is called.
func BufferName(b schedule.Buffer) string { return buffers[b : b+1] }

// BufferOf is the buffer of a name.
func BufferOf(name string) (b schedule.Buffer, ok bool) {
	i := strings.Index(buffers, name)
	return schedule.Buffer(max(i, 0)), i >= 0 && len(name) == 1
}

// Name is what a format calls a collective.
type Name struct {
	Kind collective.Kind
	Text string
}

// Names are all that a format has; where there are several of a kind, the first is
// written and all are read.
type Names struct {
	What string // the format's files
	List []Name
}

// Of is the name of a collective.
func (n Names) Of(k collective.Kind) (string, error) {
	var kinds []string
	for i, x := range n.List {
		if x.Kind == k {
			return x.Text, nil
		}
		if i == 0 || n.List[i-1].Kind != x.Kind {
			kinds = append(kinds, x.Kind.String())
		}
	}
	return "", fmt.Errorf("%s have no name for %v: they hold %s", n.What, k, strings.Join(kinds, ", "))
}

// Kind is the collective of a name.
func (n Names) Kind(text string) (collective.Kind, error) {
	var all []string
	for _, x := range n.List {
		if x.Text == text {
			return x.Kind, nil
		}
		all = append(all, x.Text)
	}
	return 0, fmt.Errorf("collective %q is not known: must be one of %s", text, strings.Join(all, ", "))
}
