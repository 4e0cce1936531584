package cuda

import "testing"

func TestSharedGPUs(t *testing.T) {
	for _, c := range []struct{ share, room int }{{1, 264}, {2, 66}, {4, 33}, {3, 44}} {
		if blocks := MaxBlocks(264, c.share); blocks != c.room {
			t.Errorf("%d ranks on a GPU: room for %d blocks, want %d", c.share, blocks, c.room)
		}
	}
}
