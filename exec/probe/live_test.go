//go:build cgo

package probe

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"railyard/exec/cuda/driver"
	"railyard/exec/discover"
	"railyard/model/health"
	"railyard/model/load"
	"railyard/model/units"
)

// TestCountersSeeCopies holds the NVLink counters against copies of known size, where
// there are two GPUs.
func TestCountersSeeCopies(t *testing.T) {
	if driver.Load() != nil {
		t.Skip("no CUDA driver")
	}
	if n, err := driver.Devices(); err != nil || n < 2 {
		t.Skipf("%d GPUs, %v", n, err)
	}
	l, err := discover.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s, err := open(2, 64*units.MiB)
	if err != nil {
		t.Fatal(err)
	}
	defer s.set.Close()
	before := counted(t, l)
	const copies = 50
	a, b := s.gpus[0], s.gpus[1]
	if err := a.Do(func() error {
		for range copies {
			if err := a.Stream.Copy(b.dst.At, a.src.At, int64(s.max)); err != nil {
				return err
			}
		}
		return a.Stream.Synchronize()
	}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond) // counters follow late
	moved, err := load.Between(before, counted(t, l))
	if err != nil {
		t.Fatal(err)
	}
	var sent, received [2]units.Bytes
	for _, p := range moved.Ports {
		for gpu := range 2 {
			if strings.HasPrefix(p.Part.Name, strconv.Itoa(gpu)+"/") {
				sent[gpu] += units.Bytes(p.Sent * moved.Took.Seconds())
				received[gpu] += units.Bytes(p.Received * moved.Took.Seconds())
			}
		}
	}
	want := copies * s.max
	t.Logf("%v copied; GPU 0 sent %v, received %v; GPU 1 sent %v, received %v", want, sent[0], received[0], sent[1], received[1])
	for what, got := range map[string]units.Bytes{"GPU 0 sent": sent[0], "GPU 1 received": received[1]} {
		if got < want-want/1000 || got > want+want/10 { // ports count whole KiB
			t.Errorf("%s %v of %v", what, got, want)
		}
	}
}

// counted is a sample of a machine's counters; where NVLinks have none, as virtual machines may hide them, the test is skipped.
func counted(t *testing.T, l discover.Library) load.Sample {
	s := load.Sample{At: time.Now(), State: &health.State{}}
	if err := l.Count(s.State); err != nil {
		t.Fatal(err)
	}
	if links := s.State.Parts(health.NVLink); len(links) == 0 {
		t.Skip("no NVLinks")
	} else if _, ok := links[0].Fact("sent"); !ok {
		t.Skip("NVLinks do not count")
	}
	return s
}

// TestProbeOnGPUs runs everything at small size where there are two GPUs: it ends, and
// all rows are positive.
func TestProbeOnGPUs(t *testing.T) {
	if driver.Load() != nil {
		t.Skip("no CUDA driver")
	}
	if n, err := driver.Devices(); err != nil || n < 2 {
		t.Skipf("%d GPUs, %v", n, err)
	}
	rows, err := Run(t.Context(), Options{MaxSize: units.MiB})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if !(r.Value > 0) {
			t.Errorf("%+v", r)
		}
	}
}
