package discover

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"railyard/model/health"
	"railyard/model/load"
)

// network is a machine without GPUs that has InfiniBand adapters.
func network(tb testing.TB, adapters int) (root string) {
	f := &filler{tb: tb, root: tb.TempDir()}
	for i := range adapters {
		bus := fmt.Sprintf("sys/devices/pci0000:80/0000:80:00.0/0000:%02x:00.0", 0x81+i)
		port := fmt.Sprintf("%s/infiniband/mlx5_%d/ports/1", bus, i)
		f.write(port+"/rate", "400 Gb/sec (4X NDR)")
		f.write(port+"/link_layer", "InfiniBand")
		for _, c := range portCounters {
			f.write(port+"/"+c.file, "0")
		}
		f.symlink(fmt.Sprintf("%s/infiniband/mlx5_%d", bus, i), fmt.Sprintf("sys/class/infiniband/mlx5_%d", i))
		f.symlink(bus, fmt.Sprintf("%s/infiniband/mlx5_%d/device", bus, i))
	}
	return f.root
}

func counterFile(root string, adapter int, name string) string {
	return filepath.Join(root, fmt.Sprintf("sys/class/infiniband/mlx5_%d/ports/1", adapter), name)
}

// TestCountersOfAdapters: InfiniBand counts words of four bytes; errors are told; an adapter that vanishes is noted, and the others go on.
func TestCountersOfAdapters(t *testing.T) {
	root := network(t, 2)
	set := func(adapter int, name, text string) {
		if err := os.WriteFile(counterFile(root, adapter, name), []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := NewCounters(nil, root, time.Millisecond, 0)
	next := func() load.Sample {
		s, err := c.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	a := next()
	set(0, "counters/port_xmit_data", "1000000")
	set(0, "counters/port_rcv_data", "18446744073709551615")
	set(0, "counters/symbol_error", "3")
	set(1, "hw_counters/out_of_sequence", "5")
	set(1, "rate", "200 Gb/sec (4X HDR)")
	b := next()
	m, err := load.Between(a, b)
	if err != nil {
		t.Fatal(err)
	}
	bytes := func(p load.Port) (sent, received float64) {
		return p.Sent * m.Took.Seconds(), p.Received * m.Took.Seconds()
	}
	p := m.Ports[0]
	if sent, received := bytes(p); int64(sent+.5) != 4000000 || math.Abs(received/(1<<66)-1) > 1e-9 || p.Line != 50e9 ||
		fmt.Sprint(p.Errors) != "[{symbol_errors 3}]" {
		t.Errorf("%+v", p)
	}
	if got := fmt.Sprint(m.Ports[1].Errors); got != "[{out_of_sequence 5}]" {
		t.Error(got)
	}
	if got := fmt.Sprint(m.Notes); got != "[mlx5_1: rate was 400, is 200 (line rate of its port)]" || m.Ports[1].Line != 25e9 {
		t.Error(got, m.Ports[1].Line)
	}
	if err := os.RemoveAll(filepath.Join(root, "sys/class/infiniband/mlx5_1")); err != nil {
		t.Fatal(err)
	}
	if m, err = load.Between(b, next()); err != nil || fmt.Sprint(m.Notes) != "[mlx5_1 is gone]" || len(m.Ports) != 1 {
		t.Errorf("%+v, %v", m, err)
	}
	if err := os.RemoveAll(filepath.Join(root, "sys/class/infiniband")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Next(t.Context()); err == nil || !strings.Contains(err.Error(), "there are no counters here") {
		t.Error(err)
	}
}

// counting is a library of eight GPUs that count as NVML's do.
type counting struct {
	fake
	sent  float64
	shown uint32
}

func (c *counting) Count(s *health.State) error {
	c.sent += 1 << 20
	for g := range 8 {
		p := s.GPU(g)
		for _, fact := range []string{"host_sent", "host_received", "pcie_replays", "utilization", "clock"} {
			s.Say(p, fact, c.sent, nvmlName)
		}
		s.Say(p, "pcie_rate", 63.0, nvmlName)
		for link := range 18 {
			p := s.Part(health.NVLink, fmt.Sprintf("%d/%d", g, link))
			s.Say(p, "rate", 26.562, nvmlName)
			for _, fact := range []string{"sent", "received", "replays", "recoveries", "crc_errors"} {
				s.Say(p, fact, c.sent, nvmlName)
			}
		}
	}
	return nil
}

// Recount is what PCIe's counters of 32 bits show that go round in between.
func (c *counting) Recount(s *health.State) error {
	c.shown += 1_180_000_000
	for g := range 8 {
		for _, fact := range []string{"host_sent", "host_received"} {
			s.Say(s.GPU(g), fact, float64(c.shown), nvmlName)
		}
	}
	return nil
}

// busy is a library that counts while something sends over an adapter.
type busy struct {
	counting
	send func()
}

func (b *busy) Count(s *health.State) error {
	b.send()
	return b.counting.Count(s)
}

// TestLoad: NVLinks and adapters have the load of what they carry, idle ones none; that nothing counts is noted.
func TestLoad(t *testing.T) {
	root, words := network(t, 2), 0
	l := &busy{send: func() {
		words += 1 << 30
		if err := os.WriteFile(counterFile(root, 0, "counters/port_xmit_data"), fmt.Append(nil, words), 0o644); err != nil {
			t.Error(err)
		}
	}}
	var s health.State
	if err := Load(&s, l, root, time.Millisecond); err != nil {
		t.Fatal(err)
	}
	for name, sends := range map[string]bool{"mlx5_0": true, "mlx5_1": false} {
		if v, known := s.Part(health.NIC, name).Fact("load"); !known || v.Is.(float64) > 0 != sends {
			t.Errorf("%s: %+v", name, v)
		}
	}
	if s.Part(health.NVLink, "3/4").Number("load") <= 0 || len(s.Notes) > 0 {
		t.Errorf("NVLink: %v, %q", s.Part(health.NVLink, "3/4"), s.Notes)
	}
	var none health.State
	if err := Load(&none, nil, t.TempDir(), time.Millisecond); err != nil || len(none.Notes) != 1 ||
		!strings.HasPrefix(none.Notes[0], "which links are hot is not known: there are no counters here") {
		t.Errorf("%q, %v", none.Notes, err)
	}
}

// TestBrief: where PCIe's counters may go round between samples, rates are those of a moment, in a recording too.
func TestBrief(t *testing.T) {
	s, err := NewCounters(&counting{shown: 2_500_000_000}, t.TempDir(), time.Second, 0).Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := load.Record(&file, s.At, s); err != nil {
		t.Fatal(err)
	}
	again, err := load.Recording(&file, "r").Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, before := range []load.Sample{s, again} {
		m, err := load.Between(before, load.Sample{At: before.At.Add(time.Second), State: before.State})
		if err != nil {
			t.Fatal(err)
		}
		moved := m.Ports[0].Sent * before.Brief[1].At.Sub(before.Brief[0].At).Seconds()
		if math.Abs(moved-1.18e9) > 1 || !strings.Contains(fmt.Sprint(m.Notes), "rates over PCIe are of") {
			t.Errorf("%v bytes in a moment, %q", moved, m.Notes)
		}
	}
	s, err = NewCounters(&counting{}, t.TempDir(), 20*time.Millisecond, 0).Next(t.Context())
	if err != nil || len(s.Brief) > 0 {
		t.Errorf("%d brief readings where samples are close enough, %v", len(s.Brief), err)
	}
}

// dear is a library whose driver takes so much processor time.
type dear struct {
	counting
	takes time.Duration
}

func (d *dear) Count(s *health.State) error {
	for began := OwnTime(); OwnTime()-began < d.takes; {
		continue
	}
	return d.counting.Count(s)
}

// TestShare: from the third sample on counters are read so seldom that their reading keeps to its share of a core; without a share, and for
// one interval, as asked.
func TestShare(t *testing.T) {
	const takes, share = 4 * time.Millisecond, 0.1
	sample := func(share float64) (c *Counters, last time.Duration) {
		c = NewCounters(&dear{takes: takes}, t.TempDir(), 20*time.Millisecond, share)
		for range 4 {
			if _, err := c.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		return c, c.began[1].Sub(c.began[0])
	}
	if _, gap := sample(share); gap < time.Duration(float64(takes)/share) {
		t.Errorf("%v between samples that take %v: more than %v of a core", gap, takes, share)
	}
	if c, _ := sample(0); c.due.Sub(c.began[1]) > 20*time.Millisecond {
		t.Errorf("the next sample is due %v after the last: not as asked", c.due.Sub(c.began[1]))
	}
}

// BenchmarkRound is a round of watching eight GPUs of 18 NVLinks and eight adapters, but for NVML itself: at one a second, a hundredth of a
// core are 10 ms.
func BenchmarkRound(b *testing.B) {
	c := NewCounters(&counting{}, network(b, 8), 0, 0)
	last, err := c.Next(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	began := processTime(b)
	for b.Loop() {
		now, err := c.Next(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		m, err := load.Between(last, now)
		if err != nil || len(m.Ports) != 8*19+8 {
			b.Fatal(len(m.Ports), err)
		}
		last = now
	}
	runtime.KeepAlive(last)
	b.ReportMetric(float64((processTime(b)-began).Microseconds())/float64(b.N), "cpu-us/op") // whatever else the machine does
}

func processTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
