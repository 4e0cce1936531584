package cuda

import (
	"testing"
	"time"
)

// TestLimit: a graph keeps its operations until there are five replays of it.
func TestLimit(t *testing.T) {
	for _, c := range []struct {
		bytes               int64
		most                time.Duration
		operations, replays int
	}{
		{1 << 10, 15 * time.Millisecond, 20, 20},
		{16 << 20, 60 * time.Millisecond, 20, 20},
		{16 << 20, 15 * time.Millisecond, 20, 5},
		{64 << 20, 60 * time.Millisecond, 20, 5},
		{256 << 20, 60 * time.Millisecond, 8, 5},
		{4 << 30, 60 * time.Millisecond, 4, 5},
	} {
		cfg := Config{Iterations: 20, Replays: 20}
		if cfg.Limit(c.bytes, c.most); cfg.Iterations != c.operations || cfg.Replays != c.replays {
			t.Errorf("%d bytes in %v: %d operations in %d replays, want %d in %d", c.bytes, c.most, cfg.Iterations, cfg.Replays,
				c.operations, c.replays)
		}
	}
}
