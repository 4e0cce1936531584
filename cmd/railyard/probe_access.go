package main

import (
	"cmp"
	"fmt"
	"slices"

	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/units"
)

// nearly is the share of a pattern's best rate from which on larger pieces gain no more than repeats of a run differ by.
const nearly = 0.97

// accessLines say what rows about memory come to: how large pieces that lie apart have to be, what data cost that are off 16 bytes, and
// what memory costs to take, at the largest size of each.
func accessLines(a *cost.Access, rows []measurement.Link) (lines []string) {
	if a == nil {
		return nil
	}
	for _, peer := range []bool{false, true} {
		for _, stores := range []bool{false, true} {
			for _, pattern := range []string{measurement.Misaligned, measurement.Strided, measurement.Scattered} {
				if line := patternLine(a, measurement.Access{Peer: peer, Stores: stores, Pattern: pattern}); line != "" {
					lines = append(lines, line)
				}
			}
		}
	}
	return append(lines, memoryLines(rows)...)
}

// patternLine is about one pattern; "" where it was not measured.
func patternLine(a *cost.Access, how measurement.Access) string {
	var whole *cost.AccessRate
	for i := range a.Rates {
		if x := &a.Rates[i]; x.Peer == how.Peer && x.Stores == how.Stores && x.Pattern == measurement.Coalesced &&
			(whole == nil || x.Copied > whole.Copied) {
			whole = x
		}
	}
	var of []*cost.AccessRate
	for i := range a.Rates {
		if x := &a.Rates[i]; whole != nil && x.Copied == whole.Copied && x.Peer == how.Peer && x.Stores == how.Stores &&
			x.Pattern == how.Pattern {
			of = append(of, x)
		}
	}
	if of == nil {
		return ""
	}
	faster := func(x, y *cost.AccessRate) int { return cmp.Compare(x.Rate, y.Rate) }
	slowest, best := slices.MinFunc(of, faster), slices.MaxFunc(of, faster)
	enough := of[slices.IndexFunc(of, func(x *cost.AccessRate) bool { return float64(x.Rate) >= nearly*float64(best.Rate) })]
	share := func(x *cost.AccessRate) float64 { return 100 * float64(x.Rate) / float64(whole.Rate) }
	return fmt.Sprintf("%s: %.0f %% of %v in pieces of %v, %.0f %% from %v on", how.Words(), share(slowest), whole.Rate, slowest.Piece,
		share(enough), enough.Piece)
}

// memoryLines are what each allocator takes for the largest size, and how fast copies are in what it gave: medians of repeats.
func memoryLines(rows []measurement.Link) (lines []string) {
	for _, by := range []string{measurement.Plain, measurement.Pool, measurement.Mapped} {
		bytes, took := largest(rows, measurement.AllocBy+by)
		_, rates := largest(rows, measurement.CopyIn+by)
		if took != nil && rates != nil {
			lines = append(lines, fmt.Sprintf("memory, %s: %v taken and given back in %.0f µs, copies in it %.0f GB/s", by, bytes,
				measurement.Median(took), measurement.Median(rates)))
		}
	}
	return lines
}

// largest are the values of a kind at its largest size.
func largest(rows []measurement.Link, kind string) (bytes units.Bytes, values []float64) {
	for _, x := range rows {
		if x.Kind == kind && x.Bytes > bytes {
			bytes, values = x.Bytes, nil
		}
		if x.Kind == kind && x.Bytes == bytes {
			values = append(values, x.Value)
		}
	}
	return bytes, values
}
