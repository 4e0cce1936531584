//go:build cgo

package probe

import (
	"encoding/binary"
	"slices"
	"testing"
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
