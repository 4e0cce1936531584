package load

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"railyard/model/health"
)

// schema is of a recording: samples as lines of JSON.
const schema = "railyard.samples/v1"

// recorded is a line of it.
type recorded struct {
	Schema string          `json:"schema"`
	At     time.Time       `json:"at"`
	Parts  []recordedPart  `json:"parts"`
	Brief  []recordedBrief `json:"brief,omitempty"`
}

// recordedBrief is one of Sample.Brief.
type recordedBrief struct {
	At    time.Time      `json:"at"`
	Parts []recordedPart `json:"parts"`
}

type recordedPart struct {
	Kind  health.Kind    `json:"kind"`
	Name  string         `json:"name"`
	Facts map[string]any `json:"facts"`
}

// Record appends a sample to a recording. Its moment is the first one's and what the monotonic clock went on since, so that a clock that
// is set meanwhile changes no rate.
func Record(w io.Writer, first time.Time, s Sample) error {
	at := func(t time.Time) time.Time { return first.Round(0).Add(t.Sub(first)).UTC() }
	r := recorded{Schema: schema, At: at(s.At), Parts: recordParts(s.State)}
	for _, b := range s.Brief {
		r.Brief = append(r.Brief, recordedBrief{at(b.At), recordParts(b.State)})
	}
	line, err := json.Marshal(r)
	if err == nil {
		_, err = w.Write(append(line, '\n'))
	}
	return err
}

func recordParts(s *health.State) (out []recordedPart) {
	for _, kind := range health.Kinds {
		for _, p := range s.Parts(kind) {
			x := recordedPart{kind, p.Name, map[string]any{}}
			for _, fact := range p.Facts() {
				v, _ := p.Fact(fact)
				x.Facts[fact] = v.Is
			}
			out = append(out, x)
		}
	}
	return out
}

// IsRecording reports whether a file is one, by its first bytes.
func IsRecording(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(head), []byte(`{"schema":"`+schema+`"`))
}

// recording plays one.
type recording struct {
	lines *bufio.Scanner
	file  string
	line  int
}

// maxLine bounds a sample in a recording, in bytes.
const maxLine = 16 << 20

// Recording plays a recording, of a file of this name, without waiting. What a killed watch left of its last line is no sample.
func Recording(r io.Reader, file string) Source {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	return &recording{lines: lines, file: file}
}

// Next implements Source.
func (r *recording) Next(ctx context.Context) (s Sample, err error) {
	for ctx.Err() == nil && r.lines.Scan() {
		if r.line++; len(bytes.TrimSpace(r.lines.Bytes())) == 0 {
			continue
		}
		if s, err = parseSample(r.lines.Bytes(), fmt.Sprintf("%s:%d", r.file, r.line)); err != nil {
			if cut := errors.As(err, new(*json.SyntaxError)); cut && !r.lines.Scan() {
				return s, io.EOF
			}
			return s, fmt.Errorf("%s: line %d: %w", r.file, r.line, err)
		}
		return s, nil
	}
	if err := r.lines.Err(); err != nil {
		return s, fmt.Errorf("%s: line %d: %w", r.file, r.line+1, err)
	}
	if ctx.Err() != nil {
		return s, context.Cause(ctx)
	}
	return s, io.EOF
}

func parseSample(line []byte, from string) (Sample, error) {
	var r recorded
	if err := json.Unmarshal(line, &r); err != nil {
		return Sample{}, err
	}
	if r.Schema != schema {
		return Sample{}, fmt.Errorf("its schema is %.40q, not %s", r.Schema, schema)
	}
	state, err := parseParts(r.Parts, from)
	if err != nil {
		return Sample{}, err
	}
	s := Sample{At: r.At, State: state}
	for _, b := range r.Brief {
		if state, err = parseParts(b.Parts, from); err != nil {
			return Sample{}, err
		}
		s.Brief = append(s.Brief, Sample{At: b.At, State: state})
	}
	if n := len(s.Brief); n != 0 && (n != 2 || !s.Brief[1].At.After(s.Brief[0].At)) {
		return Sample{}, fmt.Errorf("%d brief readings: they must be none, or two of which the second is later", n)
	}
	return s, nil
}

func parseParts(parts []recordedPart, from string) (*health.State, error) {
	s := &health.State{}
	for _, x := range parts {
		for name, is := range x.Facts {
			if err := health.Valid(x.Kind, name, is); err != nil {
				return nil, fmt.Errorf("%.40q: %w", x.Name, err)
			}
			s.Say(s.Part(x.Kind, x.Name), name, is, from)
		}
	}
	return s, nil
}
