package main

import (
	"testing"

	"railyard/model/measurement"
	"railyard/model/units"
)

// TestMemoryLines: of repeats the median counts, at the largest size.
func TestMemoryLines(t *testing.T) {
	var rows []measurement.Link
	for i, took := range []float64{300, 900, 310} {
		rows = append(rows, measurement.Link{Kind: measurement.AllocBy + measurement.Pool, Bytes: 256 * units.MiB, Value: took},
			measurement.Link{Kind: measurement.AllocBy + measurement.Pool, Bytes: units.MiB, Value: 5},
			measurement.Link{Kind: measurement.CopyIn + measurement.Pool, Bytes: 256 * units.MiB, Value: 1000 + 100*float64(i%2)})
	}
	got := memoryLines(rows)
	if want := "memory, pool: 256MiB taken and given back in 310 µs, copies in it 1000 GB/s"; len(got) != 1 || got[0] != want {
		t.Errorf("%q, want %q", got, want)
	}
}
