package step

import (
	"slices"

	"railyard/model/workload"
)

// stage is a pipeline stage: chunks of blocks, one each of Virtual rounds.
type stage struct {
	index  int
	chunks [][]workload.Block
}

// blocks are all of a stage.
func (s *stage) blocks() []workload.Block { return slices.Concat(s.chunks...) }

// stages divide a network: chunk c of stage p is number c·P+p (interleaved 1F1B, Narayanan
// et al., section 2.2). Layers that do not divide evenly leave the first and the last
// chunk short, which also have embedding and head (Llama 3, section 3.3.2).
func stages(w *workload.Workload, blocks []workload.Block, l *Layout) []stage {
	var before, after []workload.Block
	if w.Transformer != nil {
		before, after, blocks = blocks[:1], blocks[len(blocks)-1:], blocks[1:len(blocks)-1]
	}
	n := l.Pipeline * l.Virtual
	out := make([]stage, l.Pipeline)
	next := 0
	for i, size := range chunkSizes(len(blocks), n) {
		var chunk []workload.Block
		if i == 0 {
			chunk = append(chunk, before...)
		}
		chunk = append(chunk, blocks[next:next+size]...)
		if i == n-1 {
			chunk = append(chunk, after...)
		}
		next += size
		s := &out[i%l.Pipeline]
		s.index = i % l.Pipeline
		s.chunks = append(s.chunks, chunk)
	}
	return out
}

// chunkSizes divides layers as evenly as possible; the outermost chunks get fewer.
func chunkSizes(layers, n int) []int {
	sizes := make([]int, n)
	most := (layers + n - 1) / n
	for i := range sizes {
		sizes[i] = most
	}
	for short, i := most*n-layers, 0; short > 0; short, i = short-1, i+1 {
		at := (i / 2) % n // 0, n−1, 1, n−2, …
		if i%2 == 1 {
			at = n - 1 - at
		}
		sizes[at]--
	}
	return sizes
}
