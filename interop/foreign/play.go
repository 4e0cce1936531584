package foreign

import (
	"fmt"
	"slices"

	"railyard/model/collective"
	"railyard/model/program"
)

// MaxClocks is how many thread blocks at most are looked at for unordered uses of memory: the time
// and space for it grow with their square.
const MaxClocks = 1 << 12

// Play plays the thread blocks of a foreign plan, in rounds, until nothing moves. Vector clocks say which
// actions a thread block knows to have ended; a use of memory that conflicts with one that it does not know of
// is a race, even if it goes well in the order that was played.
type Play struct {
	Memory Memory
	Order  string // what could have ordered two uses of memory, for errors
	Op     string // what the plan calls an action, for errors
	Loose  bool   // uses of memory are not looked at
	// Race takes the first race, and then the plan does what it does in the order that was played; nil: a race ends it.
	Race *error

	threads []thread
	names   []string // of points
	points  map[pointKey]Point
	counts  []int     // by point: tokens of nobody
	tokens  [][]token // by point: given and not taken
	raised  []*token  // by point
	arrived map[chunk]*token
	log     *witness // of an order that is looked for
}

// Point is something that actions wait for: tokens that each are taken once, or a flag that stays.
type Point int

type pointKey struct {
	what string
	at   [3]int
}

// Action is what a thread block does at once, when all is there that it waits for.
type Action struct {
	Line, Number int
	Name         string
	Takes        []Point // of each a token
	After        []Point // raised flags
	Gives        []Point
	Raises       []Point
	Uses         []Access
	Count        int  // chunks of the message that is given or taken; 0: not compared
	Together     bool // all threads have ended what was before, and hear of what the block has heard
	Announces    bool // what is given and raised says that this action has ended, not only what threads ended together
	// Data makes messages: of those taken the first, of those given all.
	Data func(in *program.Message) *program.Message
}

// Access is the use of n chunks. Packets carry their own flags: who reads them waits for their data.
type Access struct {
	GPU     int
	At      program.Place
	N       int
	Write   bool
	Packets bool
}

// token is what a thread block knew when it gave it, and its message.
type token struct {
	clock  []int
	from   *Action
	thread int
	data   *program.Message
	step   int // in the log; tokens of nobody have none
}

// thread is a thread block.
type thread struct {
	gpu, block int
	actions    []Action
	next       int
	known      []int // by thread: actions known to have ended; its own: those that all its threads have
	heard      []int // the same, by what only some of its threads may have heard of
	fresh      bool  // the two may differ
}

// Add appends a thread block.
func (p *Play) Add(gpu, block int, actions []Action) {
	p.threads = append(p.threads, thread{gpu: gpu, block: block, actions: actions})
}

// Point is the point of a kind, in words, with up to three numbers; where it is new, it has tokens of nobody.
func (p *Play) Point(tokens int, what string, at ...int) Point {
	key := pointKey{what: what}
	copy(key.at[:], at)
	n, ok := p.points[key]
	if !ok {
		if p.points == nil {
			p.points = map[pointKey]Point{}
		}
		n = Point(len(p.names))
		p.points[key], p.names = n, append(p.names, what)
		p.counts = append(p.counts, tokens)
	}
	return n
}

// Run plays to the end. Each round has thread blocks do all that they can before they take again, then take
// once: about what happens side by side.
func (p *Play) Run() error {
	p.Loose = p.Loose || len(p.threads) > MaxClocks
	p.begin()
	if err := p.rounds(); err != nil {
		return err
	}
	for t := range p.threads {
		if a := p.action(t); a != nil {
			return p.fail(t, "deadlock: it waits for %s", p.missing(a))
		}
	}
	return nil
}

// begin is before all actions.
func (p *Play) begin() {
	p.arrived, p.raised, p.tokens = map[chunk]*token{}, make([]*token, len(p.counts)), make([][]token, len(p.counts))
	for at, n := range p.counts {
		for range n {
			p.tokens[at] = append(p.tokens[at], token{step: noStep})
		}
	}
	for t := range p.threads {
		p.threads[t].next = 0
		if !p.Loose {
			p.threads[t].known, p.threads[t].heard = make([]int, len(p.threads)), make([]int, len(p.threads))
		}
	}
}

// rounds play until nothing moves.
func (p *Play) rounds() error {
	for moved := true; moved; {
		moved = false
		for _, taking := range []bool{false, true} {
			any, err := p.round(taking)
			if err != nil {
				return err
			}
			moved = moved || any
		}
	}
	return nil
}

// round has each thread block take once, or do all that takes nothing.
func (p *Play) round(taking bool) (moved bool, err error) {
	for t := range p.threads {
		for a := p.action(t); a != nil && len(a.Takes) > 0 == taking && p.missing(a) == ""; a = p.action(t) {
			if err := p.do(t, a); err != nil {
				return moved, err
			}
			p.threads[t].next++
			if moved = true; taking {
				break
			}
		}
	}
	return moved, nil
}

// action is a thread block's next one; nil at the end.
func (p *Play) action(t int) *Action {
	if th := &p.threads[t]; th.next < len(th.actions) && !p.log.holds(t, th.next) {
		return &th.actions[th.next]
	}
	return nil
}

// missing is what an action waits for that is not there.
func (p *Play) missing(a *Action) string {
	for i, at := range a.Takes {
		need := 1
		for _, x := range a.Takes[:i] {
			if x == at {
				need++
			}
		}
		if len(p.tokens[at]) < need {
			return p.names[at]
		}
	}
	for _, at := range a.After {
		if p.raised[at] == nil {
			return p.names[at]
		}
	}
	for _, u := range a.Uses {
		for k := 0; k < u.N && u.Packets && !u.Write; k++ {
			if p.arrived[chunk{u.GPU, u.place(k)}] == nil {
				return "packets"
			}
		}
	}
	return ""
}

func (p *Play) do(t int, a *Action) error {
	th := &p.threads[t]
	p.log.note(p, t, a)
	var in token
	for i, at := range a.Takes {
		x := p.tokens[at][0]
		p.tokens[at] = p.tokens[at][1:]
		th.hear(x.clock)
		if i == 0 {
			in = x
		}
	}
	for _, at := range a.After {
		th.hear(p.raised[at].clock)
	}
	if in.from != nil && in.from.Count != a.Count {
		return p.fail(t, "takes %d chunks, but gpu %d sends %d (line %d)", a.Count, p.threads[in.thread].gpu, in.from.Count, in.from.Line)
	}
	if a.Together && !p.Loose {
		if th.fresh {
			join(th.known, th.heard)
			th.fresh = false
		}
		th.known[t] = th.next
	}
	if err := p.use(t, a); err != nil {
		return err
	}
	out := token{from: a, thread: t, step: p.log.last()}
	if len(a.Gives)+len(a.Raises) > 0 && !p.Loose {
		out.clock = slices.Clone(th.known)
		if a.Announces {
			out.clock[t] = th.next + 1
		}
	}
	if a.Data != nil && p.log == nil {
		out.data = a.Data(in.data)
	}
	for _, at := range a.Gives {
		p.tokens[at] = append(p.tokens[at], out)
	}
	for _, at := range a.Raises {
		p.raised[at] = &out
	}
	return nil
}

func (th *thread) hear(clock []int) {
	join(th.heard, clock)
	th.fresh = true
}

func join(a, b []int) {
	for i, n := range b {
		a[i] = max(a[i], n)
	}
}

// use notes an action's uses of memory, chunk by chunk: what is known of a chunk's packets is known of what becomes
// of that chunk alone.
func (p *Play) use(t int, a *Action) error {
	th := &p.threads[t]
	longest := 0
	for _, u := range a.Uses {
		longest = max(longest, u.N)
	}
	for k := range longest {
		known := th.known
		for _, u := range a.Uses {
			if from := p.arrived[chunk{u.GPU, u.place(k)}]; u.Packets && !u.Write && k < u.N && !p.Loose {
				if &known[0] == &th.known[0] {
					known = slices.Clone(known)
				}
				join(known, from.clock)
			}
		}
		for _, u := range a.Uses {
			if k < u.N {
				if err := p.touch(t, known, u, k); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// touch notes the use of a chunk.
func (p *Play) touch(t int, known []int, u Access, k int) error {
	now := use{t, p.threads[t].next + 1}
	if u.Packets && u.Write {
		arrived := &token{clock: slices.Clone(known), step: p.log.last()}
		if !p.Loose {
			arrived.clock[t] = now.action
		}
		p.arrived[chunk{u.GPU, u.place(k)}] = arrived
	}
	if p.Loose {
		return nil
	}
	at := u.place(k)
	places := []program.Place{at}
	if u.Packets { // twice the bytes
		places = []program.Place{{Buf: at.Buf, At: 2 * at.At}, {Buf: at.Buf, At: 2*at.At + 1}}
	}
	for _, place := range places {
		if other := p.Memory.use(now, known, u.GPU, place, u.Write); other != nil {
			if p.Race == nil {
				return p.race(t, other, u, at)
			}
			if *p.Race == nil {
				*p.Race = p.race(t, other, u, at)
			}
		}
	}
	return nil
}

// race is what a thread block's next action conflicts with, and an order that shows it.
func (p *Play) race(t int, other *use, u Access, at program.Place) error {
	return p.fail(t, "%v[%d] of gpu %d may still be in use by %s: %s%s", at.Buf, at.At, u.GPU, p.name(other.thread, other.action-1),
		p.Order, p.witnessed(t, other))
}

// name is a thread block's action.
func (p *Play) name(t, action int) string {
	th := &p.threads[t]
	a := &th.actions[action]
	return fmt.Sprintf("gpu %d tb %d %s %d (%s)", th.gpu, th.block, p.Op, a.Number, a.Name)
}

func (u *Access) place(k int) program.Place { return program.Place{Buf: u.At.Buf, At: u.At.At + k} }

// fail is an error of a thread block's next action.
func (p *Play) fail(t int, format string, args ...any) error {
	next := p.threads[t].next
	return At(p.threads[t].actions[next].Line, "%s: %s", p.name(t, next), fmt.Sprintf(format, args...))
}

// Left is the first action in the file whose tokens nobody took at a point of a kind, and the point's numbers; nil where there is none.
func (p *Play) Left(what string) (first *Action, at [3]int) {
	for key, n := range p.points {
		if q := p.tokens[n]; key.what == what && len(q) > 0 && (first == nil || q[0].from.Line < first.Line) {
			first, at = q[0].from, key.at
		}
	}
	return first, at
}

// Memory knows who uses the chunks of GPUs' memory.
type Memory struct {
	Spec    collective.Spec
	Unit    int  // chunks of a block
	InPlace bool // input and output are the same memory
	chunks  map[chunk]*uses
}

type chunk struct {
	gpu int
	at  program.Place
}

// uses are the last write and the reads since.
type uses struct {
	write use
	reads []use
}

// use is an action, counted from 1, of a thread block.
type use struct{ thread, action int }

// use notes a use of a chunk and returns one that conflicts with it and is not known to have ended; known says,
// by thread block, how many actions have.
func (m *Memory) use(now use, known []int, gpu int, at program.Place, write bool) *use {
	if m.chunks == nil {
		m.chunks = map[chunk]*uses{}
	}
	key := chunk{gpu, at}
	if m.InPlace {
		key.at = program.Shared(m.Spec, m.Unit, gpu, at)
	}
	u := m.chunks[key]
	if u == nil {
		u = &uses{}
		m.chunks[key] = u
	}
	against := []use{u.write}
	if write {
		against = append(against, u.reads...)
	}
	i := slices.IndexFunc(against, func(x use) bool { return x.action > 0 && x != now && known[x.thread] < x.action })
	if write {
		u.write, u.reads = now, nil
	} else {
		u.reads = append(u.reads, now)
	}
	if i < 0 {
		return nil
	}
	return &against[i]
}
