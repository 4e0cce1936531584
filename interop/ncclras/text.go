package ncclras

import (
	"bufio"
	"fmt"
	"io"
	"strconv"

	"railyard/internal/lazy"
	"railyard/model/observed"
)

// The lines of the answer in the format text that say what is wrong (rasClientRunComms). Those of a communicator follow its head.
var (
	answerLine = lazy.Regexp(`(?m)^NCCL version (\S+) compiled with CUDA`) // the first
	headLine   = lazy.Regexp(`^#(\d+)-\d+ \(([0-9a-f]+)\) (INCOMPLETE|ERROR|MISMATCH)$`)
	groupLine  = lazy.Regexp(`^ *(\d+) +\d+ +\d+ +\S+ +(\d+) +\d+ +\S+ +\S+$`)
	opLine     = lazy.Regexp(`^  Communicator ranks have different (\S+) operation counts$`)
	uptoLine   = lazy.Regexp(`^  (\d+) ranks have (?:launched up to operation (\d+)|not launched any operations)$`)
	rankLine   = lazy.Regexp(`^  Rank (\d+)( has launched up to operation (\d+)| has not launched any operations)?` +
		`( has status \S+| reported .*?)? -- (?:GPU \d+(?: \(NVML (\d+)\))?|\[process)`)
	placeLine = lazy.Regexp(`GPU (\d+)(?: \(NVML \d+\))? managed by process (\d+) on node (\S+)$`)
	errorLine = lazy.Regexp(`^  (?:(\d+) ranks reported|Rank \d+ reported) (.+?)(?: -- .*)?$`)
	goneLine  = lazy.Regexp(`^  Process (\d+) on node (\S+) managing GPU`)
)

// reader reads line by line: what a line means depends on the head before it.
type reader struct {
	roll  *observed.Roll     // nil before the first answer
	sizes map[string]int     // ranks of a communicator, by group
	gone  map[[2]string]bool // processes that are considered dead: number and node
	dead  bool               // their list is being read
	at    *observed.Progress
	part  string // INCOMPLETE, ERROR, MISMATCH
	op    string // whose counts differ
	line  int
}

func parseText(text io.Reader, file string) (rolls []*observed.Roll, err error) {
	r := new(reader)
	in := bufio.NewScanner(text)
	in.Buffer(nil, maxLine)
	for line := 1; in.Scan(); line++ {
		if m := answerLine().FindStringSubmatch(in.Text()); m != nil {
			r.end()
			r = &reader{roll: &observed.Roll{File: file, Version: m[1]}, sizes: map[string]int{}, gone: map[[2]string]bool{}}
			rolls = append(rolls, r.roll)
			continue
		}
		r.line = line
		if err := r.read(in.Text()); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", r.line+1, err)
	}
	r.end()
	if len(rolls) == 0 {
		return nil, ErrNone
	}
	return rolls, nil
}

// end marks those that are missing as dead where the answer says so.
func (r *reader) end() {
	if r.roll == nil {
		return
	}
	for _, c := range r.roll.Comms {
		for i := range c.Missing {
			m := &c.Missing[i]
			m.Dead = r.gone[[2]string{strconv.Itoa(m.PID), m.Host}]
		}
	}
}

func (r *reader) read(line string) error {
	if r.roll == nil {
		return nil
	}
	if m := groupLine().FindStringSubmatch(line); m != nil && r.at == nil {
		size, err := number(m[2])
		r.sizes[m[1]] = size
		return err
	}
	if m := headLine().FindStringSubmatch(line); m != nil {
		r.roll.Comms = append(r.roll.Comms, observed.Progress{Place: observed.Place{File: r.roll.File, Line: r.line}, Comm: "0x" + m[2],
			Ranks: r.sizes[m[1]]})
		r.at, r.part, r.op = &r.roll.Comms[len(r.roll.Comms)-1], m[3], ""
		return nil
	}
	if m := goneLine().FindStringSubmatch(line); m != nil && r.dead {
		r.gone[[2]string{m[1], m[2]}] = true
	}
	if r.at == nil {
		r.dead = line == "DEAD" || r.dead && line != ""
		return nil
	}
	switch {
	case line == "" && r.part != "MISMATCH":
		r.part = ""
	case opLine().MatchString(line):
		r.op = opLine().FindStringSubmatch(line)[1]
	case r.part == "MISMATCH" && r.op != "":
		return r.count(line)
	case r.part == "INCOMPLETE":
		return r.missing(line)
	case r.part == "ERROR":
		return r.failure(line)
	}
	return nil
}

// count reads who has launched how many operations. Ranks that are named below a number are those that it counts.
func (r *reader) count(line string) error {
	if m := uptoLine().FindStringSubmatch(line); m != nil {
		ranks, err := number(m[1])
		if err != nil {
			return err
		}
		upto, err := operation(m[2])
		r.at.Counts = append(r.at.Counts, observed.Count{Op: r.op, Upto: upto, Ranks: ranks})
		return err
	}
	m := rankLine().FindStringSubmatch(line)
	if m == nil {
		return nil
	}
	who, err := parseMember(m[1], line)
	if err != nil {
		return err
	}
	if m[2] != "" { // alone with its number
		upto, err := operation(m[3])
		r.at.Counts = append(r.at.Counts, observed.Count{Op: r.op, Upto: upto, Ranks: 1, Members: []observed.Member{who}})
		return err
	}
	if n := len(r.at.Counts); n > 0 && r.at.Counts[n-1].Op == r.op {
		r.at.Counts[n-1].Members = append(r.at.Counts[n-1].Members, who)
	}
	return nil
}

func (r *reader) missing(line string) error {
	m := rankLine().FindStringSubmatch(line)
	if m == nil {
		return nil
	}
	who, err := parseMember(m[1], line)
	r.at.Missing = append(r.at.Missing, observed.Absence{Member: who})
	return err
}

func (r *reader) failure(line string) error {
	if m := errorLine().FindStringSubmatch(line); m != nil {
		ranks := 1
		if m[1] != "" {
			var err error
			if ranks, err = number(m[1]); err != nil {
				return err
			}
		}
		r.at.Errors = append(r.at.Errors, observed.Failure{Text: m[2], Ranks: ranks})
	}
	m, n := rankLine().FindStringSubmatch(line), len(r.at.Errors)
	if m == nil || n == 0 {
		return nil
	}
	who, err := parseMember(m[1], line)
	r.at.Errors[n-1].Members = append(r.at.Errors[n-1].Members, who)
	return err
}

// parseMember is a rank with its place, where the line has one.
func parseMember(rank, line string) (observed.Member, error) {
	n, err := number(rank)
	who := observed.Member{Rank: n, GPU: -1}
	if m := placeLine().FindStringSubmatch(line); m != nil && err == nil {
		if who.GPU, err = number(m[1]); err == nil {
			who.PID, err = strconv.Atoi(m[2])
		}
		who.Host = m[3]
	}
	return who, err
}

func number(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n > maxRanks {
		return 0, fmt.Errorf("%.20s is no number from 0 to %d", text, maxRanks)
	}
	return n, nil
}

// operation is the number of an operation; "" is none.
func operation(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	return strconv.ParseInt(text, 10, 64)
}
