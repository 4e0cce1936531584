package fit

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
)

// ErrNoMessages says that rows are those of a single GPU.
var ErrNoMessages = errors.New("there are no rows of messages, such as simple_pair or ll_all")

// FromLinks fits a profile on what was measured about links, without any collective.
// Rows such as simple_ring or ll_sum are kernels of a graph that send a message of Bytes
// to each peer of the pattern and receive as many, those of ll_pair_x4 four times; the
// best number of blocks counts. Those of ll_pair_overlap were launched while the kernel
// ahead still ran, as schedules are: where there are such rows, the launch is theirs. They
// tell the launch, α, what further peers cost, and the share of the line rate apart; rows of
// flags, what flags without data take. What sm_pull_add loses against sm_pull is what adding
// costs, local_copy the rate of copies inside a GPU and, by its smallest size, what one takes at least, local_add the rate of sums behind
// copy engines. t is the machine that was measured.
func FromLinks(name, source, date string, links []measurement.Link, t *topology.Topology) (*Result, error) {
	m := &linkModel{t: t, router: topology.NewRouter(t)}
	cases, err := m.cases(links)
	if err != nil {
		return nil, err
	}
	r, err := Messages(name, source, date, cases, nil)
	if err != nil {
		return nil, err
	}
	p := r.Profile
	p.Reduce, p.Copy, p.Sum = reduceRate(links), largest(links, "local_copy"), largest(links, "local_add")
	p.LocalOp = localOp(links, p.Launch)
	p.MinSize, p.MaxSize = 0, p.MaxSize*units.Bytes(t.NumRanks()) // of collectives, whose messages are a rank's share
	return r, nil
}

// reduceRate is the rate at which a kernel adds what it loads from a peer, beyond
// loading it; 0 (free) where that hides behind the link. A tenth of a percent is noise.
func reduceRate(links []measurement.Link) units.Rate {
	fastest := map[string]float64{}
	for _, l := range links {
		fastest[l.Kind] = max(fastest[l.Kind], l.Value)
	}
	load, add := fastest["sm_pull"], fastest["sm_pull_add"]
	if load == 0 || add == 0 || add > 0.999*load {
		return 0
	}
	return units.Rate(1e9 / (1/add - 1/load))
}

// largest is a rate in GB/s at the largest size of its kind, which no cache holds; 0
// where there is none.
func largest(links []measurement.Link, kind string) units.Rate {
	var rate units.Rate
	size := units.Bytes(-1)
	for _, l := range links {
		if l.Kind == kind && l.Bytes > size {
			rate, size = units.Rate(l.Value*1e9), l.Bytes
		}
	}
	return rate
}

// localOp is what the smallest copy inside a GPU takes beyond a launch; 0 where none was measured.
func localOp(links []measurement.Link, launch units.Time) (t units.Time) {
	var size units.Bytes
	for _, l := range links {
		if l.Kind == "local_copy" && l.Bytes > 0 && l.Value > 0 && (size == 0 || l.Bytes < size) {
			size, t = l.Bytes, max(l.Bytes.Over(units.Rate(l.Value*1e9))-launch, 0)
		}
	}
	return t
}

// linkModel knows what messages of a pattern cost at line rate.
type linkModel struct {
	t      *topology.Topology
	router *topology.Router
}

// message is what rows are about that differ in blocks alone.
type message struct {
	protocol, pattern string
	rounds            int
	bytes             units.Bytes
	overlap           bool
}

// messageProtocols begin the kinds of rows of messages.
var messageProtocols = []string{"simple", "pull", "ll", "ll128", "words", "copy"}

// parseMessage reads a kind such as ll_ring_x4.
func parseMessage(l measurement.Link) (message, bool) {
	kind, overlap := strings.CutSuffix(l.Kind, "_overlap")
	parts := strings.Split(kind, "_")
	if l.Unit != "us" || !slices.Contains(messageProtocols, parts[0]) || len(parts) < 2 || len(parts) > 3 {
		return message{}, false
	}
	k := message{parts[0], parts[1], 1, l.Bytes, overlap}
	if len(parts) == 3 {
		n, err := strconv.Atoi(strings.TrimPrefix(parts[2], "x"))
		if err != nil || n < 1 {
			return message{}, false
		}
		k.rounds = n
	}
	return k, true
}

// cases takes the best number of blocks of each message, and the median flag.
func (m *linkModel) cases(links []measurement.Link) ([]Case, error) {
	times := map[message]float64{}
	var order []message
	for _, l := range links {
		k, ok := parseMessage(l)
		if !ok {
			continue
		}
		if v, known := times[k]; !known {
			order = append(order, k)
			times[k] = l.Value
		} else {
			times[k] = min(v, l.Value)
		}
	}
	if len(order) == 0 {
		return nil, ErrNoMessages
	}
	var out []Case
	for _, k := range order {
		perByte, medium, err := m.line(k.pattern)
		if err != nil {
			return nil, err
		}
		n := float64(k.rounds)
		line := n * perByte * float64(k.bytes)
		if to, ok := castTo(k.pattern); ok {
			out = append(out, Case{Parts: castParts(k, to, medium, line), Launched: true, Apart: !k.overlap, Size: k.bytes,
				Time: units.Time(times[k] * float64(units.Microsecond))})
			continue
		}
		parts := []Part{{Medium: medium, Protocol: k.protocol, Bytes: k.bytes, Messages: n, Peers: n * m.others(k), Line: units.Time(line)}}
		if k.protocol == string(schedule.Pulled) { // what asks for the bytes that go the other way
			parts = append(parts, Part{Medium: medium, Protocol: cost.Request, Line: units.Time(cost.RequestShare * line)})
		}
		out = append(out, Case{Parts: parts, Launched: true, Apart: !k.overlap, Size: k.bytes,
			Time: units.Time(times[k] * float64(units.Microsecond))})
	}
	return append(append(out, m.flags(links)...), m.oneWay(links)...), nil
}

// oneWay are cases of loads from a peer that loads nothing itself: no requests cross the
// link that their bytes take. The largest tell what a byte takes.
func (m *linkModel) oneWay(links []measurement.Link) (out []Case) {
	var best measurement.Link
	for _, l := range links {
		if l.Kind == "sm_pull" && (l.Bytes > best.Bytes || l.Bytes == best.Bytes && l.Value > best.Value) {
			best = l
		}
	}
	perByte, medium, err := m.line("pair")
	if best.Bytes == 0 || err != nil {
		return nil
	}
	return []Case{{Parts: []Part{{Medium: medium, Protocol: string(schedule.Pulled), Bytes: best.Bytes,
		Line: units.Time(perByte * float64(best.Bytes))}},
		Size: best.Bytes, Time: units.Time(float64(best.Bytes) / best.Value * 1e3)}}
}

// flags are cases of flags that go one way between two GPUs, without a launch.
func (m *linkModel) flags(links []measurement.Link) (out []Case) {
	for _, l := range links {
		protocol := map[string]string{"flag_oneway_relaxed": cost.RelaxedFlag, "flag_oneway_acqrel": cost.Flag}[l.Kind]
		_, medium, err := m.line("pair")
		if protocol == "" || err != nil {
			continue
		}
		out = append(out, Case{Parts: []Part{{Medium: medium, Protocol: protocol, Messages: 1}},
			Time: units.Time(l.Value * float64(units.Nanosecond))})
	}
	return out
}

// castTo is how many ranks one sends to in patterns such as cast3, and whether it is such a pattern.
func castTo(pattern string) (int, bool) {
	text, ok := strings.CutPrefix(pattern, "cast")
	n, err := strconv.Atoi(text)
	return n, ok && err == nil && n > 0
}

// castParts are what messages from one rank do: packets and lines are put at each peer; what is
// stored waits for the peers' flags that they have begun. What is loaded has both flags in its
// message, as where ranks load from one another.
func castParts(k message, to int, medium topology.Medium, line float64) []Part {
	n := float64(k.rounds)
	parts := []Part{{Medium: medium, Protocol: cost.OneWay(k.protocol), Bytes: k.bytes, Messages: n, Peers: n * float64(to-1),
		Line: units.Time(line)}}
	if k.protocol == string(schedule.Simple) {
		parts = append(parts, Part{Medium: medium, Protocol: cost.RelaxedFlag, Messages: n})
	}
	return parts
}

// others are the peers of an operation but one.
func (m *linkModel) others(k message) float64 {
	if slices.Contains(toAll, k.pattern) {
		return float64(m.t.NumRanks() - 2)
	}
	return 0
}

// toAll are the patterns in which all ranks send to all: see exec/probe.
var toAll = []string{"all", "spread", "sum", "deal", "dealsum"}

// line is the time at line rate of a byte to each peer, in picoseconds: that of the
// fullest link.
func (m *linkModel) line(pattern string) (perByte float64, medium topology.Medium, err error) {
	flows, err := m.flows(pattern)
	if err != nil {
		return 0, 0, err
	}
	load := make([]float64, len(m.t.Links()))
	for _, f := range flows {
		r, err := m.router.Route(f[0], f[1])
		if err != nil {
			return 0, 0, err
		}
		medium = r.Medium
		for _, h := range r.Hops {
			load[h.Link] += float64(h.Num) / float64(h.Den) * 1e12 / float64(m.t.Rate(h.Link))
		}
	}
	return slices.Max(load), medium, nil
}

// flows are the pairs of ranks that send at once.
func (m *linkModel) flows(pattern string) ([][2]int, error) {
	n := m.t.NumRanks()
	if n < 2 {
		return nil, fmt.Errorf("%s has %d rank: messages need two", m.t.Name(), n)
	}
	var out [][2]int
	cast, _ := castTo(pattern)
	if cast >= n {
		return nil, fmt.Errorf("%s has %d ranks: messages of the pattern %s need %d", m.t.Name(), n, pattern, cast+1)
	}
	for a := range n {
		for b := range n {
			switch {
			case a == b:
			case a == 0 && b <= cast, pattern == "pair" && a < 2 && b < 2, pattern == "ring" && b == (a+1)%n,
				slices.Contains(toAll, pattern):
				out = append(out, [2]int{a, b})
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("messages of the pattern %q are not known: pair, ring, cast1, cast2 and so on, or one of %s", pattern,
			strings.Join(toAll, ", "))
	}
	return out, nil
}
