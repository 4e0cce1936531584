package discover

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"railyard/model/health"
	"railyard/model/load"
	"railyard/model/survey"
)

// portCounters are the files of an RDMA adapter's port below its directory, the facts that they are, and what one of them stands for:
// InfiniBand counts data in words of four octets (IBTA specification, PortXmitData; the kernel's
// Documentation/ABI/stable/sysfs-class-infiniband).
var portCounters = []struct {
	file, fact string
	scale      float64
}{
	{"counters/port_xmit_data", "sent", 4}, {"counters/port_rcv_data", "received", 4},
	{"counters/port_xmit_discards", "discards", 1}, {"counters/port_rcv_errors", "errors_received", 1},
	{"counters/symbol_error", "symbol_errors", 1}, {"counters/link_error_recovery", "recoveries", 1},
	{"counters/link_downed", "link_downed", 1}, {"counters/local_link_integrity_errors", "integrity_errors", 1},
	{"counters/excessive_buffer_overrun_errors", "overruns", 1},
	{"hw_counters/out_of_sequence", "out_of_sequence", 1}, {"hw_counters/local_ack_timeout_err", "timeouts", 1},
}

// netCounters are those of a network card that has no RDMA.
var netCounters = []struct{ file, fact string }{
	{"tx_bytes", "sent"}, {"rx_bytes", "received"}, {"tx_errors", "errors_sent"}, {"rx_errors", "errors_received"},
	{"tx_dropped", "discards"}, {"rx_over_errors", "overruns"},
}

// count adds what an adapter's first port counts.
func (t tree) count(s *health.State, p *health.Part, a survey.Adapter) {
	rdma := "sys/class/infiniband/" + a.Name
	if ports := t.names(rdma, "ports"); len(ports) > 0 {
		t.portState(s, p, rdma+"/ports/"+ports[0])
		for _, c := range portCounters {
			t.counter(s, p, c.fact, c.scale, rdma+"/ports/"+ports[0]+"/"+c.file)
		}
		return
	}
	for _, c := range netCounters {
		t.counter(s, p, c.fact, 1, "sys/class/net/"+a.Name+"/statistics/"+c.file)
	}
}

func (t tree) counter(s *health.State, p *health.Part, fact string, scale float64, file string) {
	if n, err := strconv.ParseUint(t.text(file), 10, 64); err == nil {
		s.Say(p, fact, float64(n)*scale, file)
	}
}

// Counters samples this machine's: NVML's, where there is a library, and those of its network adapters below root.
type Counters struct {
	library  Library // nil: none
	t        tree
	interval time.Duration
	share    float64
	names    []string // of the adapters when they were last looked at
	adapters []survey.Adapter
	due      time.Time
	began    []time.Time   // of the last two samples
	own      time.Duration // processor time until the last
}

// NewCounters samples every interval; from the third sample on less often, where this process takes more than a share of a core else. A
// driver that takes a millisecond a link makes a second too short for eight GPUs. Share 0: however much it takes.
func NewCounters(l Library, root string, interval time.Duration, share float64) *Counters {
	return &Counters{library: l, t: tree{root}, interval: interval, share: share}
}

// wait until a sample is due: the first at once, each other an interval after the one before was due; where that is past, at once.
func (c *Counters) wait(ctx context.Context) error {
	now := time.Now()
	if c.due.IsZero() {
		c.due = now
	}
	if len(c.began) == 2 && c.share > 0 {
		spent := float64(OwnTime()-c.own) / c.share
		if paced := c.began[1].Add(time.Duration(spent)); paced.After(c.due) {
			c.due = paced
		}
	}
	select {
	case <-time.After(c.due.Sub(now)):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	c.began, c.own = append(c.began[max(0, len(c.began)-1):], time.Now()), OwnTime()
	return nil
}

// Next implements load.Source.
func (c *Counters) Next(ctx context.Context) (load.Sample, error) {
	if err := c.wait(ctx); err != nil {
		return load.Sample{}, err
	}
	s := load.Sample{At: c.began[len(c.began)-1], State: &health.State{}}
	if c.due = c.due.Add(c.interval); c.due.Before(s.At) {
		c.due = s.At
	}
	if c.library != nil {
		if err := c.library.Count(s.State); err != nil {
			return s, err
		}
	}
	if c.library != nil && goesRound(s.State, c.interval) {
		if err := c.brief(ctx, &s); err != nil {
			return s, err
		}
	}
	c.survey()
	for _, a := range c.adapters {
		p := s.State.Part(health.NIC, a.Name)
		if rate := c.t.rate(a.Name); rate > 0 {
			s.State.Say(p, "rate", float64(rate)*8/1e9, "sys/bus/pci/devices/"+a.Bus)
		}
		c.t.count(s.State, p, a)
	}
	if len(s.State.Parts(health.GPU))+len(s.State.Parts(health.NIC)) == 0 {
		return s, errors.New("there are no counters here: the driver shows no GPU, and no network adapter on PCIe has a known rate")
	}
	return s, nil
}

// moment is between two readings of counters that go round sooner than samples come. A counter of 32 bits needs 34 ms for half of its
// range at the rate of PCIe 5.
const moment = 20 * time.Millisecond

// goesRound reports whether PCIe's counters may go half round within an interval at line rate.
func goesRound(s *health.State, interval time.Duration) bool {
	fact, _ := health.FactOf(health.GPU, "host_sent")
	return slices.ContainsFunc(s.Parts(health.GPU), func(p *health.Part) bool {
		return p.Number("pcie_rate")*1e9*interval.Seconds() > fact.Wraps/2
	})
}

// brief reads such counters twice.
func (c *Counters) brief(ctx context.Context, s *load.Sample) error {
	for i := range 2 {
		if i > 0 {
			select {
			case <-time.After(moment):
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		b := load.Sample{At: time.Now(), State: &health.State{}}
		if err := c.library.Recount(b.State); err != nil {
			return err
		}
		s.Brief = append(s.Brief, b)
	}
	return nil
}

// survey finds the adapters where other ones are there than before.
func (c *Counters) survey() {
	names := slices.Concat(c.t.names("sys/class/infiniband"), c.t.names("sys/class/net"))
	if c.names == nil || !slices.Equal(names, c.names) {
		c.names, c.adapters = names, c.t.adapters()
	}
}
