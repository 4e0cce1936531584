package cuda

import "testing"

func TestSharedGPUs(t *testing.T) {
	for _, c := range []struct{ ranks, share, gpus, room int }{{1, 1, 1, 264}, {4, 1, 4, 264}, {3, 2, 2, 66}, {4, 2, 2, 66}, {8, 4, 2, 33}, {2, 3, 1, 44}} {
		if gpus, blocks := gpusFor(c.ranks, c.share), Room(264, c.share); gpus != c.gpus || blocks != c.room {
			t.Errorf("%d ranks, %d on a GPU: %d GPUs with room for %d blocks, want %d and %d", c.ranks, c.share, gpus, blocks, c.gpus, c.room)
		}
	}
}
