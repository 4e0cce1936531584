package step

import (
	"slices"
	"testing"
)

// TestStagesAreLikePublishedOnes: how many layers each chunk has where they do not divide evenly.
func TestStagesAreLikePublishedOnes(t *testing.T) {
	between := func(first, each, times, last int) []int {
		return slices.Concat([]int{first}, slices.Repeat([]int{each}, times), []int{last})
	}
	for _, c := range []struct {
		name              string
		layers, n, tokens int
		want              []int
	}{
		{"Llama 3 405B (arXiv 2407.21783, section 3.3.2)", 126, 16, 1, between(7, 8, 14, 7)},
		{"DeepSeek-V3 by NeMo 2.3.0 (scripts/performance/llm/pretrain_deepseek_v3.py)", 61, 16, 1, between(3, 4, 14, 2)},
		{"DeepSeek-V3 with a further token by Megatron-Bridge 0.1 (recipes/deepseek/deepseek_v3.py)", 62, 16, 2, between(4, 4, 14, 2)},
		{"Qwen3 235B by Megatron-Bridge 0.1 (account_for_embedding_in_pipeline_split, …_loss_…)", 94, 32, 1, between(2, 3, 30, 2)},
		{"as many as chunks", 4, 4, 2, []int{1, 1, 1, 1}},
		{"fewer than chunks", 2, 4, 1, []int{0, 1, 1, 0}},
	} {
		if got := chunkSizes(c.layers, c.n, c.tokens); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestNoStageIsEmpty: each chunk has a layer where there are enough, and all layers are divided.
func TestNoStageIsEmpty(t *testing.T) {
	for layers := 1; layers < 40; layers++ {
		for n := 1; n < 20; n++ {
			for besides := range 5 {
				sizes, sum := chunkSizes(layers, n, besides), 0
				for _, s := range sizes {
					sum += s
				}
				if sum != layers || layers >= n && slices.Min(sizes) < 1 {
					t.Fatalf("%d layers over %d chunks, besides %d: %v", layers, n, besides, sizes)
				}
			}
		}
	}
}
