// Package nccllog reads what NCCL writes with NCCL_DEBUG=INFO: communicators with their rings, trees, channels and transports, the
// adapters, variables of the environment, warnings, and with NCCL_DEBUG_SUBSYS=TUNING (and COLL) what the tuner chose. Logs of many
// processes may lie in one file or in several; lines of other programs are passed over.
package nccllog

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"railyard/model/observed"

	"railyard/internal/lazy"
)

const (
	maxRanks = 1 << 22
	maxBytes = 1 << 40
	maxLine  = 1 << 20
	maxLog   = 1 << 30 // bytes of a file
	maxBad   = 20      // lines that are reported
)

// File is a log to read.
type File struct {
	Name string
	io.Reader
}

// Parse reads the logs of one job.
func Parse(files ...File) (*observed.Log, error) {
	r := &reader{log: &observed.Log{}, processes: map[string]*process{}, comms: map[string]*observed.Comm{},
		choices: map[observed.Choice]int{}, seen: map[any]int{}, devices: map[string]string{}}
	for _, f := range files {
		r.file, r.line = f.Name, 0
		r.log.Files = append(r.log.Files, f.Name)
		if err := r.read(f); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(r.bad...); err != nil {
		return nil, err
	}
	if r.messages == 0 {
		return nil, fmt.Errorf("%s: no line of NCCL's (NCCL INFO …): run with NCCL_DEBUG=INFO", r.file)
	}
	for _, id := range r.order {
		r.log.Comms = append(r.log.Comms, *r.comms[id])
	}
	return r.log, nil
}

// reader reads line by line; what a line is about depends on what its process said before.
type reader struct {
	log       *observed.Log
	file      string
	line      int
	messages  int
	headless  bool // some lines have no host and process in front
	processes map[string]*process
	comms     map[string]*observed.Comm
	order     []string // of comms
	choices   map[observed.Choice]int
	seen      map[any]int       // variables, adapters, sends, warnings and members that are there already
	devices   map[string]string // adapters by process, network and number
	bad       []error
}

// process is a process and GPU.
type process struct {
	host      string
	id        string // host and number, the same for all its GPUs
	network   string
	multicast bool
	own       []*observed.Comm
	pointers  map[string]*observed.Comm
	current   *observed.Comm // what its last lines are about
	called    bool           // which is known by a call
	kind      string         // of the last call
	warned    int            // its last warning; -1: none
}

// byPointer is the communicator that the process calls by an address.
func (p *process) byPointer(address string) *observed.Comm { return p.pointers[address] }

// withRank is the current communicator; where that has no such rank, the largest that the process has.
func (p *process) withRank(rank int) *observed.Comm {
	if p.current == nil || rank < p.current.Ranks {
		return p.current
	}
	return slices.MaxFunc(p.own, func(a, b *observed.Comm) int { return cmp.Compare(a.Ranks, b.Ranks) })
}

// certain is the communicator that a choice is of: by the call before it, or because the process has only one.
func (p *process) certain() *observed.Comm {
	if p.called || len(p.own) == 1 {
		return p.current
	}
	return nil
}

func (r *reader) place() observed.Place { return observed.Place{File: r.file, Line: r.line} }

func (r *reader) read(f File) error {
	in := bufio.NewScanner(io.LimitReader(f, maxLog))
	in.Buffer(make([]byte, 64<<10), maxLine)
	for in.Scan() {
		r.line++
		if !bytes.Contains(in.Bytes(), ours) {
			continue
		}
		if err := r.message(in.Text()); err != nil && len(r.bad) < maxBad {
			r.bad = append(r.bad, fmt.Errorf("%s:%d: %w", r.file, r.line, err))
		}
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("%s:%d: %w", r.file, r.line+1, err)
	}
	return nil
}

func (r *reader) message(text string) error {
	l, ok := parted(text)
	if !ok {
		if v := strings.TrimSpace(text); strings.HasPrefix(v, "NCCL version ") { // which has no prefix of its own
			r.messages++
			return r.version(nil, []string{v, strings.Fields(v)[2]})
		}
		return nil
	}
	r.messages++
	key := l.process + " " + l.gpu
	p := r.processes[key]
	if p == nil {
		p = &process{host: l.host, id: l.process, warned: -1, pointers: map[string]*observed.Comm{}}
		r.processes[key] = p
	}
	if p.host == "" && !r.headless {
		r.headless = true
		r.note(fmt.Sprintf("%v: lines of NCCL's have no host and process in front: which ranks share a host is not known, and what is not "+
			"said of a communicator is taken to be of the one before it", r.place()))
	}
	if l.warning {
		r.warn(p, l.text)
		return nil
	}
	if x, found := understood(l.text); x != nil {
		return x.take(r, p, found)
	}
	return nil
}

var (
	commID = lazy.Regexp(`commId (0x[0-9a-f]+)`)
	split  = lazy.Regexp(`parent (0x[0-9a-f]+) \w+ (\d+) color (-?\d+)`)
)

// starts notes a communicator. Its ranks say the same commId; of one that was split off, the same parent, number and color; of versions
// that say neither, it is the process's first, second and so on.
func (r *reader) starts(p *process, m []string) error {
	rank, err1 := number(m[2])
	ranks, err2 := number(m[3])
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if rank >= ranks {
		return fmt.Errorf("rank %d of %d", rank, ranks)
	}
	c := p.pointers[m[1]]
	if c == nil || c.Ranks != ranks {
		c = r.comm(r.idOf(p, m[4], rank, ranks), ranks)
		p.pointers[m[1]] = c
		if !slices.Contains(p.own, c) {
			p.own = append(p.own, c)
		}
	}
	p.current = c
	if r.seen[member{c, rank}] = 0; p.host != "" {
		c.Hosts[rank] = p.host
	}
	c.Network, c.Multicast = cmp.Or(c.Network, p.network), c.Multicast || p.multicast
	return nil
}

// member is a rank of a communicator.
type member struct {
	comm *observed.Comm
	rank int
}

func (r *reader) idOf(p *process, rest string, rank, ranks int) string {
	if m := commID().FindStringSubmatch(rest); m != nil {
		return m[1]
	}
	if m := split().FindStringSubmatch(rest); m != nil {
		if parent := p.pointers[m[1]]; parent != nil {
			return fmt.Sprintf("%s split %s color %s", parent.ID, m[2], m[3])
		}
	}
	n := 0 // those that it is not: without a process in front, p stands for several, of which each says a rank once a communicator
	for _, c := range p.own {
		if _, said := r.seen[member{c, rank}]; p.host != "" || said || c.Ranks != ranks {
			n++
		}
	}
	return fmt.Sprintf("number %d", n+1)
}

func (r *reader) comm(id string, ranks int) *observed.Comm {
	key := fmt.Sprint(id, " of ", ranks)
	if r.comms[key] == nil {
		r.comms[key] = &observed.Comm{Place: r.place(), ID: id, Ranks: ranks, Hosts: map[int]string{}}
		r.order = append(r.order, key)
	}
	return r.comms[key]
}

// choose notes a choice, or that it was made again.
func (r *reader) choose(x observed.Choice) {
	key := x
	key.Place = observed.Place{}
	if at, known := r.choices[key]; known {
		r.log.Choices[at].Times++
		return
	}
	r.choices[key] = len(r.log.Choices)
	r.log.Choices = append(r.log.Choices, x)
}

func (r *reader) warn(p *process, text string) {
	key := [2]string{p.host, text}
	at, known := r.seen[key]
	if known {
		p.warned = at
		r.log.Warnings[at].Times++
		return
	}
	p.warned = len(r.log.Warnings)
	r.seen[key] = p.warned
	r.log.Warnings = append(r.log.Warnings, observed.Warning{Place: r.place(), Host: p.host, Text: text, Times: 1})
}

func (r *reader) addVariable(v observed.Variable) {
	key := [3]string{v.Host, v.Name, v.Value}
	if _, known := r.seen[key]; !known {
		r.seen[key] = 0
		r.log.Variables = append(r.log.Variables, v)
	}
}

func (r *reader) addAdapter(a observed.Adapter) {
	if _, known := r.seen[a]; !known {
		r.seen[a] = 0
		r.log.Adapters = append(r.log.Adapters, a)
	}
}

func (r *reader) note(text string) {
	if !slices.Contains(r.log.Notes, text) {
		r.log.Notes = append(r.log.Notes, text)
	}
}
