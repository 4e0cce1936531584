package nccl

import (
	"testing"

	"railyard/model/units"
)

// By one channel of two GPUs chunks grow at 360,000, 720,000, 5,616,000 and 11,232,000 bytes; at the first of these, measured times of two
// H200 fall (from 311,296 to 368,640 bytes 58.5 -> 51.1 µs).
func TestTreesTakeTheLibrarysChunks(t *testing.T) {
	for _, x := range []struct {
		size, channels, nodes, ranks int
		want                         float64
	}{
		{1000, 1, 1, 2, 1}, {359_999, 1, 1, 2, 20}, {360_000, 1, 1, 2, 10}, {719_999, 1, 1, 2, 20}, {720_000, 1, 1, 2, 10},
		{5_615_999, 1, 1, 2, 78}, {5_616_000, 1, 1, 2, 39}, {11_231_999, 1, 1, 2, 78}, {11_232_000, 1, 1, 2, 39},
		{8 << 20, 24, 1, 2, 20}, {10 << 20, 24, 1, 2, 13}, // 18,000 and 36,000 bytes
		{5 << 20, 24, 1, 4, 7}, {4 << 20, 24, 1, 4, 10}, // four GPUs take larger chunks sooner
		{64 << 20, 16, 4, 32, 59}, // 72,000 bytes over nodes of eight
	} {
		if got := treeChunks(units.Bytes(x.size), x.channels, x.nodes, x.ranks); got != x.want {
			t.Errorf("%d bytes in %d channels of %d GPUs on %d nodes: %v chunks, want %v", x.size, x.channels, x.ranks, x.nodes, got, x.want)
		}
	}
}
