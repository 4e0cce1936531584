package sim_test

import (
	"railyard/internal/long"
	"slices"
	"testing"

	"railyard/model/collective"
	"railyard/model/units"
	"railyard/sim"
)

// lateRun are the delays of a run, drawn by its number.
func lateRun(ranks int) func(run int) []units.Time {
	return func(run int) []units.Time {
		out := make([]units.Time, ranks)
		sim.Spread{Exponential: true, Mean: 5 * units.Microsecond}.Draw(out, uint64(run)+1)
		return out
	}
}

// TestRepeatIsRunByRun: runs on all cores, with what plans share, take as long as each run
// with a plan of its own.
func TestRepeatIsRunByRun(t *testing.T) {
	topo := shipped(t, "leaf-spine-roce", long.Or(8, 0)) // 0: as many as the file says
	n := topo.NumRanks()
	job := sim.Job{Schedule: candidate(t, topo, collective.AllReduce, "ring")}
	size := []units.Bytes{1 << 20}
	for _, o := range []sim.CompileOptions{{}, {Hashing: &sim.Hashing{Seed: 7, QPs: 2}}} {
		delays := lateRun(n)
		var heard []int
		got, err := compiled(t, topo, named(t, "line"), o, job).Repeat(5, size, delays, func(done int) { heard = append(heard, done) })
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(heard, []int{1, 2, 3, 4, 5}) {
			t.Errorf("progress heard %v", heard)
		}
		for run := range got {
			own := o
			if o.Hashing != nil {
				own.Hashing = &sim.Hashing{Seed: o.Hashing.Seed + uint64(run), QPs: o.Hashing.QPs}
			}
			r := played(t, compiled(t, topo, named(t, "line"), own, job), size, sim.Options{Delays: delays(run)})
			if got[run] != r.Ends[0] {
				t.Errorf("hashing %v, run %d: %v, alone %v", o.Hashing, run, got[run], r.Ends[0])
			}
		}
		if o.Hashing != nil && len(slices.Compact(slices.Sorted(slices.Values(got)))) < 2 {
			t.Errorf("all runs take %v: seeds do not count", got[0])
		}
	}
}

// TestRepeatFails with the error of a run.
func TestRepeatFails(t *testing.T) {
	topo := shipped(t, "dgx-h100", 1)
	plan := compiled(t, topo, named(t, "line"), sim.CompileOptions{}, sim.Job{Schedule: candidate(t, topo, collective.AllReduce, "ring")})
	if _, err := plan.Repeat(3, []units.Bytes{1 << 20}, func(int) []units.Time { return []units.Time{1} }, nil); err == nil {
		t.Error("one delay for eight ranks was accepted")
	}
}

func BenchmarkRepeat(b *testing.B) {
	topo := shipped(b, "superpod-h100", 8)
	job := sim.Job{Schedule: candidate(b, topo, collective.AllReduce, "hierarchical_two_shot")}
	plan := compiled(b, topo, named(b, "line"), sim.CompileOptions{Hashing: &sim.Hashing{Seed: 1, QPs: 4}}, job)
	for b.Loop() {
		if _, err := plan.Repeat(8, []units.Bytes{256 << 20}, lateRun(64), nil); err != nil {
			b.Fatal(err)
		}
	}
}
