package gen

import "testing"

func TestEverySeedLoads(t *testing.T) {
	kinds := map[int]int{}
	for seed := range int64(300) {
		kinds[Topology(seed).NumNodes()]++
	}
	if kinds[1] == 0 || len(kinds) < 4 {
		t.Errorf("too alike: %v", kinds)
	}
}
