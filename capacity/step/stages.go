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
// et al., section 2.2). Layers that do not divide evenly leave chunks short that weigh most, where the head weighs as much as a layer for
// each token that it predicts (Megatron-Core's account_for_loss_in_pipeline_split): 7, 8, …, 8, 7 layers in Llama 3 (section
// 3.3.2), 3, 4, …, 4, 2 in DeepSeek-V3 by NeMo 2.3, 4, …, 4 and one with a module for a further token by Megatron-Bridge 0.1 to 0.4
// (src/megatron/bridge/recipes/deepseek/deepseek_v3.py).
func stages(w *workload.Workload, blocks []workload.Block, l *Layout) []stage {
	var before, after []workload.Block
	heads := 0
	if w.Transformer != nil {
		heads = 1 + w.Transformer.Predicted
		before, after, blocks = blocks[:1], blocks[len(blocks)-1:], blocks[1:len(blocks)-1]
	}
	n := l.Pipeline * l.Virtual
	out := make([]stage, l.Pipeline)
	next := 0
	for i, size := range chunkSizes(len(blocks), n, heads) {
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

// chunkSizes divides layers over n chunks, of which the last has what weighs as much as so many layers besides: all get as many as the
// largest must have, and those that weigh most one less in turn, but not their last one.
func chunkSizes(layers, n, besides int) []int {
	sizes := make([]int, n)
	most := (layers + n - 1) / n
	for i := range sizes {
		sizes[i] = most
	}
	for range most*n - layers {
		sizes[heaviest(sizes, min(most-1, 1), besides)]--
	}
	return sizes
}

// heaviest is the chunk that weighs most of those with more than least layers, of equal ones the outermost.
func heaviest(sizes []int, least, besides int) int {
	n, best, most := len(sizes), 0, -1
	for i := range n {
		at, weight := i/2, 0 // 0, n−1, 1, n−2, …
		if i%2 == 1 {
			at = n - 1 - at
		}
		if at == n-1 {
			weight = besides
		}
		if weight += sizes[at]; sizes[at] > least && weight > most {
			best, most = at, weight
		}
	}
	return best
}
