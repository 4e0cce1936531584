//go:build cgo

package probe

import (
	"encoding/binary"
	"slices"
	"testing"

	"railyard/exec/cuda/driver"
	"railyard/exec/cuda/gpus"
)

// TestArgumentsHaveTheKernelsSize: kernels.cu asserts the same number.
func TestArgumentsHaveTheKernelsSize(t *testing.T) {
	if n := binary.Size(args{}); n != 568 {
		t.Errorf("%d bytes, the kernels take 568", n)
	}
}

func TestThreads(t *testing.T) {
	for _, c := range []struct {
		bytes  int64
		blocks int
		grain  int64
		want   int
	}{{64, 1, 8, 32}, {1024, 1, 8, 128}, {1024, 2, 8, 64}, {1 << 20, 1, 8, 512}, {1000, 1, 16, 64}} {
		if got := threads(c.bytes, c.blocks, c.grain); got != c.want {
			t.Errorf("threads(%d, %d, %d) = %d, want %d", c.bytes, c.blocks, c.grain, got, c.want)
		}
	}
}

func TestShapes(t *testing.T) {
	ll, simple := protocol{name: "ll", grain: 8}, protocol{name: "simple", grain: 16}
	for _, c := range []struct {
		proto protocol
		bytes int64
		sms   int
		want  []shape
	}{
		{ll, 64, 132, []shape{{1, 32}}},
		{ll, 1 << 10, 132, []shape{{1, 128}, {2, 64}, {4, 32}}},
		{ll, 8 << 20, 132, []shape{{4, 512}, {8, 512}, {16, 512}, {32, 512}, {64, 512}, {128, 512}, {132, 512}}},
		{simple, 64 << 20, 132, []shape{{32, 512}, {64, 512}, {128, 512}, {132, 512}, {132, 128}, {66, 256}}},
		{simple, 4 << 20, 4, []shape{{2, 512}, {4, 512}, {4, 128}, {2, 256}}},
	} {
		if got := c.proto.shapes(c.bytes, c.sms); !slices.Equal(got, c.want) {
			t.Errorf("%s, %d bytes, %d multiprocessors: %v, want %v", c.proto.name, c.bytes, c.sms, got, c.want)
		}
	}
}

// TestCastShapes: packets and lines from one root run in the grid of schedules; a message that is
// stored in a few.
func TestCastShapes(t *testing.T) {
	for _, c := range []struct {
		name  string
		grain int64
		bytes int64
		want  []shape
	}{
		{"ll", 8, 8 << 10, []shape{{16, 64}}}, {"ll", 8, 16 << 10, []shape{{8, 256}}}, {"ll128", 15, 64 << 10, []shape{{35, 256}}},
		{"simple", 16, 16 << 10, []shape{{1, 512}, {4, 256}, {16, 64}}}, {"pull", 16, 16 << 20, []shape{{16, 512}, {64, 512}, {132, 512}}},
	} {
		if got := (protocol{name: c.name, grain: c.grain}).castShapes(c.bytes, 132); !slices.Equal(got, c.want) {
			t.Errorf("%s, %d bytes: %v, want %v", c.name, c.bytes, got, c.want)
		}
	}
	for gpus, want := range map[int][]int{1: nil, 2: {1}, 3: {1, 2}, 4: {1, 2, 3}, 8: {1, 2, 3, 7}} {
		if got := castsTo(gpus); !slices.Equal(got, want) {
			t.Errorf("%d GPUs: to %v, want %v", gpus, got, want)
		}
	}
}

// TestCastTo: a root has a box at each of the others, and each of them one at the root.
func TestCastTo(t *testing.T) {
	s := &session{message: 1 << 10}
	for i := range 4 {
		m := func(at uint64) *driver.Mapping { return &driver.Mapping{At: driver.Ptr(at + uint64(i)<<32)} }
		s.gpus = append(s.gpus, &gpu{GPU: &gpus.GPU{Rank: i}, inbox: m(1 << 20), marks: m(1 << 24)})
	}
	p := pattern{name: "cast2", gpus: s.gpus[:3], cast: true}
	root, other := &args{}, &args{}
	s.castTo(root, p, s.gpus[0])
	s.castTo(other, p, s.gpus[2])
	if root.Peers != 2 || root.Mode != 1 || other.Peers != 1 || other.Mode != 0 {
		t.Fatalf("%d and %d peers", root.Peers, other.Peers)
	}
	if r, o := root.Peer[1], other.Peer[0]; r.Outbox != o.Inbox || r.Inbox != o.Outbox || r.Theirs != o.Flags || r.Flags != o.Theirs ||
		r.Outbox>>32 != 2 || o.Outbox>>32 != 0 {
		t.Errorf("%+v and %+v do not meet", r, o)
	}
	relay := &args{}
	p.gpus, p.relay = s.gpus, true
	s.castTo(relay, p, s.gpus[2])
	if relay.Peers != 3 || relay.Peer[0].Outbox>>32 != 0 || relay.Peer[1].Outbox>>32 != 1 || relay.Peer[2].Outbox>>32 != 3 {
		t.Errorf("a relay's peers: %+v", relay.Peer[:3])
	}
}
