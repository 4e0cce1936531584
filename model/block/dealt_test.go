package block

import (
	"testing"

	"railyard/model/schedule"
	"railyard/model/units"
)

// TestDealt: dealt out to streams, a schedule has as many slices as before, of the same sizes, in no more channels a channel than streams.
func TestDealt(t *testing.T) {
	const size = 9 * 16 * units.KiB
	for _, streams := range []int{1, 2, 3, 4} {
		s := &schedule.Schedule{Channels: []schedule.Channel{{Share: 4, Slices: 4, Chunks: 1}, {Share: 4, Slices: 16, Chunks: 1},
			{Share: 1, Slices: 1, Chunks: 1}}}
		got := Dealt(s, streams)
		slices := map[units.Bytes]int{}
		for c := range s.Channels {
			slices[s.ChunkBytes(c, size)] += s.Channels[c].Slices
		}
		for c := range got.Channels {
			slices[got.ChunkBytes(c, size)] -= got.Channels[c].Slices
		}
		s.Channels[0].Share = 1 << 30
		for _, ch := range Dealt(s, streams).Channels {
			if ch.Share < 1 || ch.Share > 1<<30 {
				t.Errorf("%d streams: a share of %d", streams, ch.Share)
			}
		}
		for bytes, left := range slices {
			if left != 0 {
				t.Errorf("%d streams: %d slices of %v too few", streams, left, bytes)
			}
		}
		if want := min(streams, 4) + min(streams, 16) + 1; len(got.Channels) != want {
			t.Errorf("%d streams: %d channels, want %d", streams, len(got.Channels), want)
		}
	}
}
