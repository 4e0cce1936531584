package nccl

import (
	"math/bits"

	"railyard/model/units"
)

// ll128Chunk is a slot of LL128's buffer without its flags: 120 words of 8 bytes for each of 640 threads, 15 of 16 words of which are data.
const ll128Chunk = 120 * 640 * 8 / 16 * 15

// treeChunks is in how many chunks a channel of a tree by LL128 passes its part on: NCCL halves them while there are too few to fill
// the chain (calcCollChunking in src/enqueue.cc), down to 18,000 bytes, and a thread block waits for the flags of each. On two H200
// by one channel (NCCL 2.28.9, graphs, 2026-11-30) chunks of 18,000 to 576,000 bytes take about 1 µs each and their bytes at 12.9 GB/s
// (docs/measured/h200-2/nccl-ll128-chunks.csv); a hop takes 1.1.
func treeChunks(size units.Bytes, channels, nodes, ranks int) float64 {
	part, local := (int(size)+channels-1)/channels, float64(ranks)/float64(nodes)
	steps := float64(bits.Len(uint(nodes))) + 0.1*local
	chunk := ll128Chunk
	for _, x := range []struct {
		least int
		fill  float64
	}{{131072, 64}, {32768, 16}} {
		for float64(part/chunk) < steps*x.fill/local && chunk > x.least {
			chunk /= 2
		}
	}
	return float64(max((part+chunk-1)/chunk, 1))
}
