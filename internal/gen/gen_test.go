package gen

import (
	"testing"

	_ "railyard/internal/long" // accepts -long
)

func TestEverySeedLoads(t *testing.T) {
	kinds := map[int]int{}
	for seed := range int64(300) {
		kinds[Topology(seed).NumNodes()]++
	}
	if kinds[1] == 0 || len(kinds) < 4 {
		t.Errorf("too alike: %v", kinds)
	}
}

func TestEveryUnevenSeedLoads(t *testing.T) {
	small, most := 0, 0
	for seed := range int64(500) {
		n := Uneven(seed).NumRanks()
		if most = max(most, n); n < 8 || n > 64 {
			t.Errorf("seed %d: %d GPUs", seed, n)
		} else if n <= 16 {
			small++
		}
	}
	if small < 400 || most < 50 {
		t.Errorf("%d of up to 16 GPUs, at most %d", small, most)
	}
}
