// Package torchlog reads what PyTorch's watchdog writes into a job's log when collectives time out: which rank waits in which
// collective of which group. The lines are those of torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp; before 2.3 they do not say of which
// group, nor which rank of the job it is.
package torchlog

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"railyard/internal/lazy"
	"railyard/model/collective"
	"railyard/model/observed"
)

// Bounds of a log.
const (
	maxLine  = 1 << 20
	maxRanks = 1 << 20
)

var (
	whose   = lazy.Regexp(`\[rank(\d+)\]:`)
	timeout = lazy.Regexp(`(?:\[Rank (\d+)\] )?Watchdog caught collective operation timeout: WorkNCCL\(SeqNum=(\d+), OpType=(\w+)` +
		`(?:, NumelIn=(\d+), NumelOut=\d+)?, Timeout\(ms\)=\d+\) ran for (\d+) milliseconds`)
	status = lazy.Regexp(`\[PG (?:ID \d+ PG GUID )?([^\s(]+)(?:\(([^)]*)\))? Rank (\d+)\].*` +
		`(?:at work|work sequence id|NCCL work): (\d+),?.* last enqueued (?:NCCL )?work: -?\d+, last completed (?:NCCL )?work: -?\d+`)
)

// Is reports whether a text has such lines.
func Is(data []byte) bool { return status().Match(data) || timeout().Match(data) }

// Log is the logs of a job's ranks, read one after the other.
type Log struct {
	waits  []wait
	given  map[issue]op // what ranks wait in, by rank and number
	gaveUp []observed.Timeout
}

type issue struct {
	rank int
	seq  int64
}

// op is a collective that was given up.
type op struct {
	name, signature string
	ran             int64 // ms
}

// wait is where a rank stands in a group.
type wait struct {
	file         string
	group, about string
	rank, place  int // of the job, and in the group
	seq          int64
}

// Read adds a log, with whatever else has been printed into it.
func (l *Log) Read(r io.Reader, file string) error {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 64<<10), maxLine)
	n := 0
	for in.Scan() {
		n++
		l.line(in.Text(), observed.Place{File: file, Line: n})
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("%s:%d: %w", file, n+1, err)
	}
	return nil
}

func (l *Log) line(text string, at observed.Place) {
	rank := int64(-1)
	if who := whose().FindStringSubmatch(text); who != nil {
		var ok bool
		if rank, ok = number(who[1]); !ok || rank >= maxRanks {
			return
		}
	}
	if m := timeout().FindStringSubmatch(text); m != nil {
		l.timeout(m, int(rank), at)
	}
	if m := status().FindStringSubmatch(text); m != nil && rank >= 0 {
		place, ok1 := number(m[3])
		seq, ok2 := number(m[4])
		if ok1 && ok2 && place < maxRanks {
			l.waits = append(l.waits, wait{at.File, m[1], m[2], int(rank), int(place), seq})
		}
	}
}

// timeout notes that a rank has given a collective up.
func (l *Log) timeout(m []string, rank int, at observed.Place) {
	seq, ok1 := number(m[2])
	ran, ok2 := number(m[5])
	if !ok1 || !ok2 {
		return
	}
	name, signature := called(m[3], m[4])
	t := observed.Timeout{Place: at, Rank: rank, Member: -1, Op: name, Seq: seq, After: time.Duration(ran) * time.Millisecond}
	if place, ok := number(m[1]); ok && place < maxRanks {
		t.Member = int(place)
	}
	l.gaveUp = append(l.gaveUp, t)
	if key := (issue{rank, seq}); rank >= 0 && l.given[key].name == "" {
		if l.given == nil {
			l.given = map[issue]op{}
		}
		l.given[key] = op{name, signature, ran}
	}
}

// Timeouts are all collectives that ranks have given up, in the order of the lines.
func (l *Log) Timeouts() []observed.Timeout { return l.gaveUp }

// most bounds numbers: as nanoseconds, milliseconds stay below 2^63.
const most = 1 << 40

func number(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && n < most
}

// called is an operation's name, and what all ranks must give alike.
func called(kind, elements string) (name, signature string) {
	name = strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(kind, "_"), "_BASE"))
	k, err := collective.Parse(name)
	if err != nil {
		return name, ""
	}
	if even := strings.HasPrefix(kind, "_"); elements != "" && (k == collective.AllReduce || k == collective.Broadcast ||
		k == collective.Reduce || even && (k == collective.AllGather || k == collective.ReduceScatter)) {
		signature = elements + " elements"
	}
	return k.String(), signature
}

// moment is when all collectives are taken to have been given up: logs say how long each had run.
const moment = 1 << 62

// Recordings are what each rank waits in. Notes say of which groups nothing follows.
func (l *Log) Recordings() (out []*observed.Recording, notes []string) {
	groups := map[string][]wait{}
	for _, w := range l.waits {
		if !slices.ContainsFunc(groups[w.group], func(o wait) bool { return o.rank == w.rank }) { // the first is where it stands
			groups[w.group] = append(groups[w.group], w)
		}
	}
	byRank := map[int]*observed.Recording{}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		list := groups[name]
		slices.SortFunc(list, func(a, b wait) int { return cmp.Compare(a.rank, b.rank) })
		g, one := groupOf(list)
		if !one {
			notes = append(notes, fmt.Sprintf("%s: the log calls several groups of ranks %q: who of them waits for whom is not known; "+
				"flight-recorder dumps say it", list[0].file, name))
			continue
		}
		for _, w := range list {
			r := byRank[w.rank]
			if r == nil {
				r = &observed.Recording{File: w.file, Rank: w.rank}
				byRank[w.rank] = r
				out = append(out, r)
			}
			what := l.what(w, list)
			r.Ops = append(r.Ops, observed.Op{Group: len(r.Groups), Seq: w.seq, Name: what.name, Signature: what.signature, Peer: -1,
				State: observed.Started, TimedOut: true, Created: moment - what.ran*1_000_000, Ended: moment})
			r.Groups = append(r.Groups, g)
		}
	}
	return out, notes
}

// what a rank waits in; where its own lines do not say it, what others of the group say of the same number.
func (l *Log) what(w wait, group []wait) op {
	for _, o := range append([]wait{w}, group...) {
		if x, ok := l.given[issue{o.rank, w.seq}]; ok && o.seq == w.seq {
			return x
		}
	}
	return op{name: "collective"}
}

// groupOf is the group of ranks that wait; false where they cannot all be of one. Where each has its rank of the job, ranks below
// the last belong to the group, too.
func groupOf(list []wait) (observed.Group, bool) {
	g := observed.Group{Name: list[0].group, About: list[0].about}
	places, all := map[int]bool{}, true
	for _, w := range list {
		if places[w.place] {
			return g, false
		}
		places[w.place] = true
		all = all && w.place == w.rank
	}
	for rank := 0; all && rank <= list[len(list)-1].rank; rank++ {
		g.Ranks = append(g.Ranks, rank)
	}
	return g, true
}
