package gen

import (
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/model/topology"
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

// Hosts have all that they may have among few seeds.
func TestServersDiffer(t *testing.T) {
	hosts, alone, uneven := map[int]int{}, 0, 0
	for seed := range int64(60) {
		topo := Unseen("servers", seed)
		n, nics := topo.NumRanks()/topo.NumNodes(), 0
		for _, d := range topo.Devices() {
			if d.Node == 0 && d.Kind == topology.NIC {
				nics++
			}
		}
		hosts[n]++
		if n == 1 {
			alone++
		}
		if n%nics != 0 {
			uneven++
		}
	}
	if len(hosts) < 5 || alone == 0 || uneven == 0 {
		t.Errorf("too alike: %v, %d of a GPU each, %d with adapters for a part of them", hosts, alone, uneven)
	}
}
