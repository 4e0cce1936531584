// Package nccltests reads what NVIDIA's nccl-tests print, as text and as JSON (-J).
package nccltests

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"railyard/model/collective"
	"railyard/model/measurement"
	"railyard/model/units"
)

// header are the columns of the sets made here.
var header = []string{"collective", "gpus", "size_bytes", "dtype", "redop", "time_us", "algbw_GBps", "busbw_GBps", "inplace_time_us"}

// maxLine bounds a line of a log.
const maxLine = 1 << 20

var (
	// nccl-tests print the binary's name only in some versions; -c overrides it.
	binaryName = regexp.MustCompile(`\b([a-z_]+)_perf\b`)
	rankLine   = regexp.MustCompile(`^#\s+Rank\s+\d+`)
)

// ParseText reads a log of nccl-tests, with whatever else has been printed into it.
// The collective is taken from the log where it names the binary (all_reduce_perf),
// else from fallback. Lines that are not results are passed over.
func ParseText(r io.Reader, file string, fallback string) (*measurement.Set, error) {
	p := &parser{set: &measurement.Set{File: file, Header: header}, collective: fallback}
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 64<<10), maxLine)
	for in.Scan() {
		p.line++
		p.read(in.Text())
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", file, p.line+1, err)
	}
	if len(p.set.Rows) == 0 {
		return nil, fmt.Errorf("%s: no result line of nccl-tests found", file)
	}
	kind, err := collective.Parse(p.collective)
	if err != nil {
		return nil, fmt.Errorf("%s: the log does not say which collective it measured: give it with -c", file)
	}
	for i := range p.set.Rows {
		row := &p.set.Rows[i]
		row.Collective, row.GPUs = kind, p.ranks
		row.Columns[0], row.Columns[1] = kind.String(), strconv.Itoa(p.ranks)
	}
	return p.set, nil
}

type parser struct {
	set        *measurement.Set
	collective string
	ranks      int
	line       int
}

func (p *parser) read(line string) {
	if m := binaryName.FindStringSubmatch(line); m != nil {
		if _, err := collective.Parse(m[1]); err == nil {
			p.collective = m[1]
		}
	}
	if rankLine.MatchString(line) {
		p.ranks++
	}
	// size count type redop root | time algbw busbw wrong | time algbw busbw wrong
	f := strings.Fields(line)
	if len(f) < 9 || strings.HasPrefix(f[0], "#") {
		return
	}
	size, err1 := strconv.ParseInt(f[0], 10, 64)
	_, err2 := strconv.ParseInt(f[1], 10, 64)
	if err1 != nil || err2 != nil || size < 0 {
		return
	}
	first := 5 // older versions print no redop and root for some collectives
	for first > 2 && (len(f)-first)%4 != 0 {
		first--
	}
	us, err3 := strconv.ParseFloat(f[first], 64)
	if err3 != nil || us < 0 || us > 1e12 || len(f) < first+3 {
		return
	}
	inplace := ""
	if len(f) >= first+8 {
		inplace = f[first+4]
	}
	redop := ""
	if first > 3 {
		redop = f[3]
	}
	p.set.Rows = append(p.set.Rows, measurement.Row{Line: p.line, Size: units.Bytes(size), Time: units.FromMicroseconds(us), DType: f[2],
		Columns: []string{"", "", f[0], f[2], redop, f[first], f[first+1], f[first+2], inplace}})
}

// document is what -J writes, as far as it is used here.
type document struct {
	Results []struct {
		Size       int64  `json:"size"`
		Type       string `json:"type"`
		Redop      string `json:"redop"`
		OutOfPlace struct {
			Time  float64 `json:"time"`
			AlgBW float64 `json:"alg_bw"`
			BusBW float64 `json:"bus_bw"`
		} `json:"out_of_place"`
		InPlace struct {
			Time float64 `json:"time"`
		} `json:"in_place"`
	} `json:"results"`
}

// ParseJSON reads the JSON output; collective and ranks come from the caller, since
// versions differ in where they put them.
func ParseJSON(r io.Reader, file, name string, ranks int) (*measurement.Set, error) {
	var d document
	if err := json.NewDecoder(r).Decode(&d); err != nil {
		return nil, fmt.Errorf("%s: not the JSON of nccl-tests: %w", file, err)
	}
	kind, err := collective.Parse(name)
	if err != nil {
		return nil, fmt.Errorf("%s: say which collective was measured with -c: %w", file, err)
	}
	if len(d.Results) == 0 {
		return nil, fmt.Errorf("%s: has no \"results\"", file)
	}
	set := &measurement.Set{File: file, Header: header}
	for i, x := range d.Results {
		if x.Size < 0 || x.OutOfPlace.Time < 0 || x.OutOfPlace.Time > 1e12 {
			return nil, fmt.Errorf("%s: result %d: size %d and time %v must not be negative", file, i, x.Size, x.OutOfPlace.Time)
		}
		text := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
		set.Rows = append(set.Rows, measurement.Row{Line: i + 1, Collective: kind, GPUs: ranks, Size: units.Bytes(x.Size),
			Time: units.FromMicroseconds(x.OutOfPlace.Time), DType: x.Type,
			Columns: []string{kind.String(), strconv.Itoa(ranks), strconv.FormatInt(x.Size, 10), x.Type, x.Redop,
				text(x.OutOfPlace.Time), text(x.OutOfPlace.AlgBW), text(x.OutOfPlace.BusBW), text(x.InPlace.Time)}})
	}
	return set, nil
}
