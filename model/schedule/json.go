package schedule

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"railyard/model/units"
	"slices"
	"strconv"
	"strings"
)

// maxFile bounds the JSON that Decode reads.
const maxFile = 256 << 20

// document is the JSON form: the schedule and its schema.
type document struct {
	Schema string `json:"schema"`
	*Schedule
}

// Encode writes the schedule as JSON; docs/schedule-format.md describes it. The same
// schedule gives the same bytes.
func Encode(w io.Writer, s *Schedule) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	return enc.Encode(document{Schema, s})
}

// Decode reads and validates a schedule. Unknown keys and versions are errors.
func Decode(r io.Reader) (*Schedule, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("schedule: larger than %d MiB", maxFile>>20)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	doc := document{Schedule: &Schedule{}}
	if err := decodeWhole(dec, &doc); err != nil {
		return nil, fmt.Errorf("schedule: line %d: %v", 1+bytes.Count(data[:min(int(dec.InputOffset()), len(data))], []byte("\n")), err)
	}
	if doc.Schema != Schema {
		return nil, fmt.Errorf("schedule: schema %q: this version reads %s: make the plan again (railyard plan)", doc.Schema, Schema)
	}
	if err := doc.Schedule.Validate(); err != nil {
		return nil, err
	}
	return doc.Schedule, nil
}

// decodeWhole decodes all that there is, in words of the file.
func decodeWhole(dec *json.Decoder, doc *document) error {
	var wrong *json.UnmarshalTypeError
	err := dec.Decode(doc)
	if errors.As(err, &wrong) {
		_, field, _ := strings.Cut(wrong.Field, "Schedule.")
		return fmt.Errorf("%s: %s does not belong there", field, wrong.Value)
	}
	if errors.Is(err, io.EOF) {
		return errors.New("the file is empty")
	}
	if err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("there is text after the schedule: a file holds one")
	}
	return nil
}

// RankList is a list of ranks or positions. In JSON, runs of three or more equally
// spaced numbers are written first:step:count, so that rings over thousands of ranks
// stay short: "0:1:8 15:-1:8".
type RankList []int32

// MarshalText writes the runs.
func (l RankList) MarshalText() ([]byte, error) {
	var out []string
	for i := 0; i < len(l); {
		n, step := 1, int64(0)
		if i+1 < len(l) {
			step = int64(l[i+1]) - int64(l[i])
			for n = 2; i+n < len(l) && int64(l[i+n])-int64(l[i+n-1]) == step; n++ {
			}
		}
		if n < 3 {
			n = 1
			out = append(out, strconv.Itoa(int(l[i])))
		} else {
			out = append(out, fmt.Sprintf("%d:%d:%d", l[i], step, n))
		}
		i += n
	}
	return []byte(strings.Join(out, " ")), nil
}

// maxList bounds what a short text such as 0:0:4000000000 expands to.
const maxList = 1 << 22

// UnmarshalText reads the runs.
func (l *RankList) UnmarshalText(b []byte) error {
	*l = nil
	for _, word := range strings.Fields(string(b)) {
		var v [3]int64
		parts := strings.Split(word, ":")
		if len(parts) == 1 {
			parts = []string{word, "0", "1"}
		}
		if len(parts) != 3 {
			return fmt.Errorf("%q is neither a number nor first:step:count", word)
		}
		for i, p := range parts {
			n, err := strconv.ParseInt(p, 10, 32)
			if err != nil {
				return fmt.Errorf("%q: %q is not a number", word, p)
			}
			v[i] = n
		}
		if v[2] < 1 || int64(len(*l))+v[2] > maxList {
			return fmt.Errorf("%q: the count must be from 1 to %d in all", word, maxList)
		}
		last := v[0] + (v[2]-1)*v[1]
		if last < -1 || last > 1<<31-1 {
			return fmt.Errorf("%q runs out of range", word)
		}
		*l = slices.Grow(*l, int(v[2]))
		for i := range v[2] {
			*l = append(*l, int32(v[0]+i*v[1]))
		}
	}
	return nil
}

var bufferNames = []string{"input", "output", "scratch"}

var opKindNames = []string{"send", "recv", "recv_reduce", "copy", "reduce", "multicast", "switch_reduce"}

// String is the buffer's name.
func (b Buffer) String() string { return bufferNames[b] }

// MarshalText writes the name.
func (b Buffer) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText reads the name.
func (b *Buffer) UnmarshalText(text []byte) error {
	return units.ParseName(b, "buffer", bufferNames, text)
}

// String is the operation's name.
func (k OpKind) String() string { return opKindNames[k] }

// MarshalText writes the name.
func (k OpKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads the name.
func (k *OpKind) UnmarshalText(text []byte) error {
	return units.ParseName(k, "operation", opKindNames, text)
}
