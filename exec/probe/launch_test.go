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

func TestBlockCounts(t *testing.T) {
	for bytes, want := range map[int64][]int{1 << 10: {1, 2, 4, 8, 16, 32, 64, 128}, 4 << 20: {1, 2, 4, 8, 16, 32, 64, 128, 132}} {
		if got := blockCounts(bytes, 132); !slices.Equal(got, want) {
			t.Errorf("%d bytes: %v, want %v", bytes, got, want)
		}
	}
	if got := blockCounts(64<<20, 4); !slices.Equal(got, []int{1, 2, 4}) {
		t.Errorf("%v", got)
	}
}
