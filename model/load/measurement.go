package load

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"railyard/model/health"
)

// Measurement is what ports carried between two samples.
type Measurement struct {
	Before, After Sample
	Took          time.Duration
	Ports         []Port
	Notes         []string // counters that were cleared, parts that came or went, links that went down
	brief         bool     // counters that go round too soon were read over a moment
}

// Port is what an NVLink, a GPU's PCIe or an adapter carried.
type Port struct {
	Part           *health.Part // as the later sample has it
	Sent, Received float64      // bytes a second
	Line           float64      // line rate each way in bytes a second; 0: not known
	Links          []string     // of a topology that it stands for, once Measurement.On was asked
	Errors         []Errors     // that came since, by name
}

// Errors is how often something went wrong.
type Errors struct {
	What  string // the fact that counts them
	Times float64
}

// Load is which share of its line rate the port carried the busier way, 0 where that rate is not known.
func (p *Port) Load() float64 {
	if p.Line <= 0 {
		return 0
	}
	return max(p.Sent, p.Received) / p.Line
}

// carriers are the facts that say what ports of a kind carry.
var carriers = map[health.Kind][2]string{health.GPU: {"host_sent", "host_received"}, health.NVLink: {"sent", "received"},
	health.NIC: {"sent", "received"}}

// line is a port's line rate in bytes a second.
func line(p *health.Part) float64 {
	switch p.Kind {
	case health.GPU:
		return p.Number("pcie_rate") * 1e9
	case health.NIC:
		return p.Number("rate") * 1e9 / 8
	}
	return p.Number("rate") * 1e9
}

// Between is what was carried between two samples, the later one second. Of counters that one of them lacks nothing is said.
func Between(before, after Sample) (*Measurement, error) {
	m := &Measurement{Before: before, After: after, Took: after.At.Sub(before.At)}
	if m.Took <= 0 {
		return nil, fmt.Errorf("two samples of one moment (%v) have no rates: say how far apart they are",
			after.At.UTC().Format(time.RFC3339))
	}
	for _, kind := range health.Kinds {
		for _, p := range after.State.Parts(kind) {
			if before.State.Has(kind, p.Name) {
				m.part(before.State.Part(kind, p.Name), p)
			} else if kind != health.NVLink || before.State.Has(health.GPU, health.OfLink(p.Name)) {
				m.note("%v came", p)
			}
		}
		for _, p := range before.State.Parts(kind) {
			if !after.State.Has(kind, p.Name) && (kind != health.NVLink || after.State.Has(health.GPU, health.OfLink(p.Name))) {
				m.note("%v is gone", p)
			}
		}
	}
	if m.brief {
		m.note("rates over PCIe are of %v at the beginning of the interval: its counters of 32 bits may wrap more than once in it",
			before.Brief[1].At.Sub(before.Brief[0].At).Round(time.Millisecond))
	}
	m.Notes = append(m.Notes, after.State.Notes...)
	return m, nil
}

func (m *Measurement) note(format string, args ...any) {
	m.Notes = append(m.Notes, fmt.Sprintf(format, args...))
}

// part adds what a part carried, its errors, and what does not move while a machine works, but did: a link that went down, or came up at
// another rate.
func (m *Measurement) part(before, after *health.Part) {
	carry := carriers[after.Kind]
	p, carried := Port{Part: after, Line: line(after)}, false
	for _, name := range after.Facts() {
		fact, _ := health.FactOf(after.Kind, name)
		was, had := before.Fact(name)
		if is, _ := after.Fact(name); had && !fact.Counter && !fact.Moves && was.Is != is.Is {
			m.note("%v: %s was %v, is %v (%s)", after, name, was.Is, is.Is, fact.Means)
		}
		if !fact.Counter || !had {
			continue
		}
		rate, by := m.rate(fact, before, after, p.Line)
		switch {
		case name == carry[0]:
			p.Sent, carried = rate, true
		case name == carry[1]:
			p.Received, carried = rate, true
		case by > 0:
			p.Errors = append(p.Errors, Errors{name, by})
		}
	}
	if carried || len(p.Errors) > 0 {
		m.Ports = append(m.Ports, p)
	}
}

// rate is what a counter grew by a second, and in all; of one that may have gone round more than once since, what it grew by in the moment
// after the earlier sample, where it was read for that.
func (m *Measurement) rate(fact health.Fact, before, after *health.Part, line float64) (rate, by float64) {
	was, is := before.Number(fact.Name), after.Number(fact.Name)
	soonRound := line*m.Took.Seconds() > fact.Wraps/2 && max(was, is) < fact.Wraps
	if b := m.Before.Brief; len(b) == 2 && soonRound {
		first, ok1 := b[0].State.Part(after.Kind, after.Name).Fact(fact.Name)
		second, ok2 := b[1].State.Part(after.Kind, after.Name).Fact(fact.Name)
		if ok1 && ok2 {
			m.brief = true
			by, _ = counterIncrease(fact, first.Is.(float64), second.Is.(float64))
			return by / b[1].At.Sub(b[0].At).Seconds(), by
		}
	}
	by, cleared := counterIncrease(fact, was, is)
	if cleared {
		m.note("%v: %s ran backwards, from %.0f to %.0f: it was cleared, and counts from zero", after, fact.Name, was, is)
	}
	if by > 0 && soonRound {
		m.note("%v: %s grew by %.3g at least: if it is one that wraps at %.0f, it may have wrapped more often than seen; sample every %v",
			after, fact.Name, by, fact.Wraps, (time.Duration(fact.Wraps / 2 / line * 1e9)).Round(time.Millisecond))
	}
	return by / m.Took.Seconds(), by
}

// Busiest are the ports by their load, the largest first; of equals, by what they carry, and then as they stand.
func (m *Measurement) Busiest() []Port {
	out := slices.Clone(m.Ports)
	slices.SortStableFunc(out, func(a, b Port) int {
		return cmp.Or(cmp.Compare(b.Load(), a.Load()), cmp.Compare(max(b.Sent, b.Received), max(a.Sent, a.Received)))
	})
	return out
}
