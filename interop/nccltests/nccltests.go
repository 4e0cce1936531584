// Package nccltests reads what NVIDIA's nccl-tests print, as text and as JSON (-J).
package nccltests

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"railyard/model/collective"
	"railyard/model/measurement"
	"railyard/model/units"

	"railyard/internal/lazy"
)

// header are the columns of the sets made here.
var header = []string{"collective", "gpus", "nodes", "size_bytes", "dtype", "redop", "time_us", "algbw_GBps", "busbw_GBps",
	"inplace_time_us"}

// maxAdapters bounds the number of one.
const maxAdapters = 1 << 10

// maxLine bounds a line of a log.
const maxLine = 1 << 20

var (
	// nccl-tests print the binary's name only in some versions.
	binaryName = lazy.Regexp(`\b([a-z_]+)_perf(_mpi)?\b`)
	rankLine   = lazy.Regexp(`^#?\s*Rank\s+(\d+)(?:\s+Group\s+(\d+))?.*?\son\s+(\S+)\s+device\s+(?:\d+ \[\S+\] (\S.*?)\s*$)?`)
	graphs     = lazy.Regexp(`\bgraph: (\d+)`)
	adapters   = lazy.Regexp(`^# adapters ([0-9,-]+)$`)                       // as jobs of group tests print it
	failure    = lazy.Regexp(`^(\S+): Test ((?:NCCL|CUDA) failure \S+ '.*)$`) // NCCLCHECK and CUDACHECK in src/common.h
	parameters = lazy.Regexp(`^#?\s*nThread \d+ nGpus \d+ `)
)

// launched is what launchers and readers of logs put before a line: kubectl's pod or time, srun's task, pdsh's host, mpirun's rank,
// the > of a quotation.
const launched = `(?:>\s*)*(?:\[\S+\](?:<std(?:out|err)>: ?| ?)|[ \t]*\S+: |\d{4}-\d\d-\d\dT\S+ )?`

var before = lazy.Regexp(`^` + launched)

// Is reports whether a text is a log of nccl-tests.
func Is(data []byte) bool {
	return bytes.Contains(data, []byte("nThread ")) && start().Match(data) // most files have no such word, and need no expression
}

// start begins what nccl-tests print before results; Markdown takes # for a heading's.
var start = lazy.Regexp(`(?m)^` + launched + `#?[ \t]*nThread \d+ nGpus \d+ `)

// ErrNone is the error of a log without results.
var ErrNone = errors.New("no result line of nccl-tests found")

// ParseText reads a log of nccl-tests, with whatever else has been printed into it: one
// test or several, one after the other. Rows are of the collective that the log names,
// or of the one given; of a log that has several, only of that. Lines that are not
// results are passed over. Where a test failed, the set says so, whether or not it has rows.
func ParseText(r io.Reader, file string, given string) (*measurement.Set, error) {
	p := &parser{file: file, runs: []run{{}}}
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 64<<10), maxLine)
	for in.Scan() {
		p.line++
		p.read(in.Text())
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", file, p.line+1, err)
	}
	return joined(file, p.runs, p.failed, given)
}

// run is one test of a log: the number of ranks, where they are, and its results.
type run struct {
	name  string         // of the collective, "" where the log does not say it
	graph int            // how often each was launched; 0: none
	group string         // the one that is measured, where ranks are split
	ranks map[string]int // ranks of each host
	known map[string]bool
	gpu   string // what they are called
	alone bool   // a rank comes twice: processes that do not know one another
	cpu   bool   // the processor's time was measured
	nics  []int
	rows  []measurement.Row
}

// parser reads line by line; a run begins with the line of its parameters.
type parser struct {
	file string
	line int
	next string // name for the run to come
	runs []run

	failed []measurement.Failure
}

// launches is how often each graph is launched; 0 where a line speaks of none.
func launches(line string) int {
	m := graphs().FindStringSubmatch(line)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1]) // a number that is none is somebody else's
	return n
}

func (p *parser) read(line string) {
	r := &p.runs[len(p.runs)-1]
	if m := failure().FindStringSubmatch(line); m != nil { // before its host is taken for a launcher's
		p.failed = append(p.failed, measurement.Failure{Line: p.line, Says: m[2] + " on " + m[1]})
	}
	line = line[len(before().FindString(line)):]
	if parameters().MatchString(line) {
		if len(r.rows) > 0 {
			p.runs = append(p.runs, run{name: p.next, nics: r.nics})
			r = &p.runs[len(p.runs)-1]
		}
		p.next, r.graph = "", launches(line)
	}
	r.cpu = r.cpu || strings.Contains(line, " cputime ") && strings.Contains(line, " algbw ")
	if m := adapters().FindStringSubmatch(line); m != nil {
		r.nics, _ = units.ParseRanges(m[1], maxAdapters) // what is none is somebody else's line
	}
	p.names(r, line)
	if m := rankLine().FindStringSubmatch(line); m != nil {
		r.rank(m[1], m[2], m[3])
		r.gpu = cmp.Or(r.gpu, m[4])
	}
	if row, ok := parseRow(line); ok {
		row.Line = p.line
		r.rows = append(r.rows, row)
	}
}

// names takes the collective from a line that names the binary: the last before a run's
// results, or the one that says what was concluded. Others behind results are of the next run.
func (p *parser) names(r *run, line string) {
	m := binaryName().FindStringSubmatch(line)
	if m == nil {
		return
	}
	said := strings.Contains(line, "Collective test")
	if _, err := collective.Parse(m[1]); err != nil && !said {
		return // somebody else's program
	}
	if len(r.rows) == 0 || strings.Contains(line, "concluded") {
		r.name = m[1]
	} else {
		p.next = m[1]
	}
}

// rank counts a rank of the group that is measured first.
func (r *run) rank(number, group, host string) {
	if r.ranks == nil {
		r.ranks, r.known, r.group = map[string]int{}, map[string]bool{}, group
	}
	if group != r.group {
		return
	}
	r.alone = r.alone || r.known[number]
	r.known[number] = true
	r.ranks[host]++
}

// finish gives the rows what the run's head says.
func (r *run) finish(kind collective.Kind) {
	nodes, gpus := len(r.ranks), len(r.known)
	unusable := ""
	switch {
	case r.alone:
		unusable = "every process measured alone, as where nccl-tests are built without MPI=1"
	case r.cpu:
		unusable = "the times are the processor's: measure without -C"
	}
	for _, n := range r.ranks {
		if n*nodes != gpus && unusable == "" {
			unusable = fmt.Sprintf("%d ranks are spread unevenly over %d nodes", gpus, nodes)
		}
	}
	if gpus == 0 {
		gpus = ranksOf(kind, r.rows)
	}
	for i := range r.rows {
		m := &r.rows[i]
		m.Collective, m.GPUs, m.Nodes = kind, gpus, nodes
		m.Hosts, m.GPU, m.Adapters = slices.Sorted(maps.Keys(r.ranks)), r.gpu, r.nics
		m.Columns[0], m.Columns[1], m.Columns[2] = kind.String(), count(gpus), count(nodes)
		if r.graph > 0 {
			m.Launch, m.Replayed = "graph", r.graph > 1
		}
		if unusable != "" {
			m.Unusable = unusable
		}
	}
}

// count is a number as a cell, empty where it is not known.
func count(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// told is the collective that results tell by themselves: of an all-reduce alone is the bus bandwidth above the algorithm's.
func told(rows []measurement.Row) string {
	for _, m := range rows {
		algorithm, err1 := strconv.ParseFloat(m.Columns[7], 64)
		bus, err2 := strconv.ParseFloat(m.Columns[8], 64)
		if err1 == nil && err2 == nil && algorithm >= 1 && bus > 1.05*algorithm {
			return collective.AllReduce.String()
		}
	}
	return ""
}

// joined are the rows of all runs, of the given collective where one is given.
func joined(file string, runs []run, failed []measurement.Failure, given string) (*measurement.Set, error) {
	set := &measurement.Set{File: file, Header: header, Failures: failed}
	others := ""
	for i := range runs {
		r := &runs[i]
		if len(r.rows) == 0 {
			continue
		}
		name := cmp.Or(r.name, given, told(r.rows))
		if name == "" {
			return nil, fmt.Errorf("%s:%d: the log does not say which collective it measured: give it with -c, or in a line before, "+
				"as \"# Collective test starting: all_gather_perf\"", file, r.rows[0].Line)
		}
		kind, err := collective.Parse(name)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, r.rows[0].Line, err)
		}
		if want, err := collective.Parse(given); given != "" && (err != nil || want != kind) {
			others = kind.String()
			continue
		}
		r.finish(kind)
		set.Rows = append(set.Rows, r.rows...)
	}
	switch {
	case len(set.Rows) > 0 || len(failed) > 0 && others == "":
		return set, nil
	case others != "":
		return nil, fmt.Errorf("%s measures %s, not %s: leave -c out, or give another file", file, others, given)
	}
	return nil, fmt.Errorf("%s: %w", file, ErrNone)
}
