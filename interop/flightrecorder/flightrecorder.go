// Package flightrecorder reads dumps of PyTorch's flight recorder: what a rank noted of its last collectives, pickled
// (TORCH_NCCL_DUMP_ON_TIMEOUT writes /tmp/nccl_trace_rank_N) or as JSON (_dump_nccl_trace_json). The format, versions 2.x, is that of
// torch/csrc/distributed/c10d/FlightRecorderDetail.hpp.
package flightrecorder

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"

	"railyard/interop/foreign"
	"railyard/model/observed"

	"railyard/internal/lazy"
)

// maxDump is the largest dump in MiB: the default's 2,000 entries with stacks take about one.
const maxDump = 256

// dump is a rank's dump, with its entries in either form.
type dump[entries any] struct {
	Version string           `json:"version"`
	Groups  map[string]group `json:"pg_config"`
	Entries entries          `json:"entries"`
}

type group struct {
	Name  string   `json:"name"`
	Desc  string   `json:"desc"`
	Ranks rankList `json:"ranks"`
}

// rankList is a text that holds a list of ranks; whoever writes a dump as JSON may have made it a list.
type rankList string

func (r *rankList) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) != nil {
		text = string(data)
	}
	*r = rankList(text)
	return nil
}

// entry is an operation.
type entry struct {
	Group       []string `json:"process_group"` // name and description
	Seq         int64    `json:"collective_seq_id"`
	MessageSeq  int64    `json:"p2p_seq_id"`
	Message     bool     `json:"is_p2p"`
	Name        string   `json:"profiling_name"`
	Created     int64    `json:"time_created_ns"`
	Started     int64    `json:"time_discovered_started_ns"`
	Completed   int64    `json:"time_discovered_completed_ns"`
	Duration    float64  `json:"duration_ms"`
	Inputs      [][]int  `json:"input_sizes"`
	Outputs     [][]int  `json:"output_sizes"`
	InputTypes  []string `json:"input_dtypes"`
	OutputTypes []string `json:"output_dtypes"`
	State       string   `json:"state"`
	Retired     bool     `json:"retired"`
	Frames      []frame  `json:"frames"`
}

// frame is a line of the program on the stack, innermost first.
type frame struct {
	Name string `json:"name"`
	File string `json:"filename"`
	Line int64  `json:"line"`
}

// clear keeps the memory of lists alone.
func (e *entry) clear() {
	*e = entry{Group: e.Group[:0], Inputs: e.Inputs[:0], Outputs: e.Outputs[:0], InputTypes: e.InputTypes[:0],
		OutputTypes: e.OutputTypes[:0], Frames: e.Frames[:0]}
}

// Is reports whether a file looks like a dump: by its first bytes.
func Is(head []byte) bool {
	if bytes.HasPrefix(head, []byte{opProto}) {
		return bytes.Contains(head, []byte("pg_config")) || bytes.Contains(head, []byte("pg_status"))
	}
	head = bytes.TrimSpace(head)
	return bytes.HasPrefix(head, []byte("{")) && (bytes.Contains(head, []byte(`"collective_seq_id"`)) ||
		bytes.Contains(head, []byte(`"pg_config"`)) && bytes.Contains(head, []byte(`"comm_lib_version"`)))
}

// Parse reads a dump. Whose it is stands in its name alone: nccl_trace_rank_12, fr_12.json.
func Parse(r io.Reader, file string) (*observed.Recording, error) {
	data, err := foreign.Read(r, maxDump)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	rank, err := rankOf(file)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(data, []byte{opProto}) {
		return ofPickle(data, file, rank)
	}
	return ofJSON(data, file, rank)
}

// ofPickle looks at one entry after the other, all in the same memory.
func ofPickle(data []byte, file string, rank int) (*observed.Recording, error) {
	m := machines.Get().(*machine)
	defer machines.Put(m)
	v, err := m.unpickle(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var d dump[value]
	a := &assigner{m, map[int64]reflect.Value{}, map[string]string{}, map[reflect.Type]*[]fieldOfKey{}}
	wrong := a.fields(reflect.ValueOf(&d).Elem(), v)
	if wrong == nil && d.Entries.kind != none && d.Entries.kind != list {
		wrong = (&misfit{what: describe(d.Entries)}).under(".entries")
	}
	if wrong != nil {
		return nil, fmt.Errorf("%s: %w", file, wrong)
	}
	out, err := begin(file, rank, d.Version, d.Groups)
	if err != nil {
		return nil, err
	}
	var items []value
	if d.Entries.kind == list {
		items = m.of(d.Entries)
	}
	var e entry
	out.Ops = make([]observed.Op, 0, len(items))
	for i, item := range items {
		e.clear()
		if wrong := a.fields(reflect.ValueOf(&e).Elem(), item); wrong != nil {
			return nil, fmt.Errorf("%s: %w", file, wrong.under(fmt.Sprintf(".entries[%d]", i)))
		}
		if err := out.add(&e); err != nil {
			return nil, err
		}
	}
	return &out.Recording, nil
}

func ofJSON(data []byte, file string, rank int) (*observed.Recording, error) {
	var d dump[[]entry]
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&d); err != nil {
		return nil, fmt.Errorf("%s: %w", file, foreign.JSONError(data, dec, err))
	}
	out, err := begin(file, rank, d.Version, d.Groups)
	if err != nil {
		return nil, err
	}
	out.Ops = make([]observed.Op, 0, len(d.Entries))
	for i := range d.Entries {
		if err := out.add(&d.Entries[i]); err != nil {
			return nil, err
		}
	}
	return &out.Recording, nil
}

func check(version string) error {
	if version == "" {
		return errors.New(`it has no "version": it is no dump of PyTorch's flight recorder`)
	}
	if major, _, _ := strings.Cut(version, "."); major != "2" {
		return fmt.Errorf("version %s: versions 2.x are read", version)
	}
	return nil
}

var rankAtEnd = lazy.Regexp(`(\d+)(\.[A-Za-z]+)*$`)

// rankOf is the rank that a file's name ends with.
func rankOf(file string) (int, error) {
	if m := rankAtEnd().FindStringSubmatch(filepath.Base(file)); m != nil {
		if rank, err := strconv.Atoi(m[1]); err == nil && rank < maxRanks {
			return rank, nil
		}
	}
	return 0, fmt.Errorf("%s: dumps do not say whose they are: name it after its rank, such as nccl_trace_rank_12", file)
}

// maxRanks bounds ranks.
const maxRanks = 1 << 22
