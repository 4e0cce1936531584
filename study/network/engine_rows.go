package network

import (
	"railyard/model/collective"
	"railyard/model/measurement"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
)

// engineRow is a row with the schedule that it is of, as the engine runs it.
type engineRow struct {
	s       *schedule.Schedule
	bytes   units.Bytes
	took    float64 // µs
	message units.Bytes
}

// newRow makes one; messages of what goes one by one have the size of a chunk, the only one all of a buffer, in the engine's slices.
func newRow(t *topology.Topology, s *schedule.Schedule, r measurement.Link) (engineRow, error) {
	x, err := Carried(t, s, r.Bytes, max(r.Blocks, 1))
	if err != nil {
		return engineRow{}, err
	}
	message := s.ChunkBytes(0, r.Bytes)
	if s.Spec.Kind == collective.AllToAllV {
		message = r.Bytes
	}
	return engineRow{x, r.Bytes, r.Value, message / units.Bytes(x.Channels[0].Slices)}, nil
}

// alone are rows of messages that meet no others on their way; where none were timed, of those that meet few.
func (f *engineFit) alone() []engineRow {
	if rows := f.rows[single]; len(rows) > 1 {
		return rows
	}
	return f.rows[oneByOne]
}

// atSize are rows whose messages have a size.
func atSize(rows []engineRow, size units.Bytes) (out []engineRow) {
	for _, r := range rows {
		if r.message == size {
			out = append(out, r)
		}
	}
	return out
}

// largest are the rows of patterns that have the most bytes, where there are some.
func (f *engineFit) largest(patterns ...string) (rows []engineRow) {
	for _, p := range patterns {
		rows = append(rows, f.rows[p][max(len(f.rows[p])-1, 0):]...)
	}
	return rows
}

// steady are the rows of what leaves a node without waiting, but for small ones, of which many are a burst.
func (f *engineFit) steady() []engineRow {
	return f.sized(func(size units.Bytes) bool { return size >= fewBytes }, single, beside, spread, away, abreast)
}

// smallest is the row of a pattern that has the fewest bytes, if there is one.
func (f *engineFit) smallest(pattern string) []engineRow {
	return f.rows[pattern][:min(len(f.rows[pattern]), 1)]
}

// turns is the smallest row of messages of which each waits for one the other way.
func (f *engineFit) turns() []engineRow {
	for _, pattern := range []string{turn, answered} {
		if rows := f.smallest(pattern); len(rows) > 0 {
			return rows
		}
	}
	return f.smallest(oneByOne)
}

// sideBySide are rows of messages that share an adapter: large parts of one, or where these were not timed, those to all.
func (f *engineFit) sideBySide() []engineRow {
	if rows := f.rows[beside]; len(rows) > 0 {
		return rows[len(rows)-1:]
	}
	return f.rows[toAll]
}

// fewBytes are the lesser part of what a message between nodes costs.
const fewBytes = 64 * units.KiB

// small are the rows of patterns whose messages show what they cost besides their bytes.
func (f *engineFit) small(patterns ...string) []engineRow {
	return f.sized(func(size units.Bytes) bool { return size <= fewBytes }, patterns...)
}

// sized are the rows of patterns whose buffers have some sizes.
func (f *engineFit) sized(in func(units.Bytes) bool, patterns ...string) (rows []engineRow) {
	for _, pattern := range patterns {
		for _, r := range f.rows[pattern] {
			if in(r.bytes) {
				rows = append(rows, r)
			}
		}
	}
	return rows
}
