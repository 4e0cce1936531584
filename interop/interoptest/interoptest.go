// Package interoptest is what each format of plans must pass: samples, round trips of
// everything that the planner makes, runs of what comes back with real data, files with
// mistakes.
package interoptest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"railyard/exec/host"
	"railyard/internal/golden"
	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/planner"
	"railyard/topologies"
)

// Format is an export and import under test.
type Format struct {
	Ext    string // of samples
	Kinds  []collective.Kind
	Export func(s *schedule.Schedule, inPlace bool) ([]byte, error)
	Import func(io.Reader) (*schedule.Schedule, error)
}

// Built is a planner's schedule over the first ranks GPUs of a DGX H100, with a single
// channel where the algorithm has any number.
func Built(t testing.TB, algo string, kind collective.Kind, ranks int) *schedule.Schedule {
	t.Helper()
	return built(t, "dgx-h100", topology.Options{GPUs: ranks}, algo, kind, planner.Options{Channels: 1})
}

// On is a planner's schedule with as many channels as it likes.
func On(t testing.TB, topo string, o topology.Options, algo string, kind collective.Kind) *schedule.Schedule {
	t.Helper()
	return built(t, topo, o, algo, kind, planner.Options{})
}

// InSlices is the same in so many slices.
func InSlices(t testing.TB, topo string, o topology.Options, algo string, kind collective.Kind, slices int) *schedule.Schedule {
	t.Helper()
	return built(t, topo, o, algo, kind, planner.Options{Slices: slices})
}

func built(t testing.TB, name string, o topology.Options, algo string, kind collective.Kind, p planner.Options) *schedule.Schedule {
	t.Helper()
	topo, err := topology.Load(topologies.Source, name, o)
	if err != nil {
		t.Fatal(err)
	}
	if algo == "double_binary_tree" { // which needs two channels
		p.Channels = 0
	}
	s, err := planner.Build(topo, collective.Spec{Kind: kind, Ranks: topo.NumRanks()}, algo, p)
	if planner.NotApplicable(err) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Samples keeps exports of usual plans as goldens.
func Samples(t *testing.T, f Format) {
	for _, x := range []struct {
		algo string
		kind collective.Kind
	}{
		{"ring", collective.AllReduce}, {"direct", collective.AllReduce}, {"double_binary_tree", collective.AllReduce},
		{"ring", collective.AllGather},
	} {
		for _, n := range []int{4, 8} {
			name := fmt.Sprintf("%s-%v-%d.%s", x.algo, x.kind, n, f.Ext)
			t.Run(name, func(t *testing.T) {
				data, err := f.Export(Built(t, x.algo, x.kind, n), false)
				if err != nil {
					t.Fatal(err)
				}
				golden.Equal(t, name, data)
			})
		}
	}
}

// RoundTrips exports everything that the planner makes and proves what comes back.
func RoundTrips(t *testing.T, f Format) {
	for _, a := range planner.Algorithms() {
		for _, k := range f.Kinds {
			for _, n := range []int{2, 3, 4, 8} {
				for _, inPlace := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s/%v/%d/%v", a.Name, k, n, inPlace), func(t *testing.T) {
						s := Built(t, a.Name, k, n)
						if len(s.Needs) > 0 {
							Refused(t, f, s)
							return
						}
						if _, err := schedule.InPlace(s); inPlace && err != nil {
							if _, got := f.Export(s, true); got == nil || got.Error() != err.Error() {
								t.Errorf("exported: %v, want %v", got, err)
							}
							return
						}
						RoundTrip(t, f, s, inPlace)
					})
				}
			}
		}
	}
}

// Refused requires that a schedule that needs more of switches than forwarding is not
// exported, and that the user is told what to do.
func Refused(t *testing.T, f Format, s *schedule.Schedule) {
	t.Helper()
	if _, err := f.Export(s, false); err == nil || !strings.Contains(err.Error(), "--no-in-network") {
		t.Errorf("exported for an executor without in-network operations: %v", err)
	}
}

// RoundTrip exports and imports a schedule: the result is proven, moves as much, and
// runs with real data of sizes that its parts do not divide.
func RoundTrip(t *testing.T, f Format, s *schedule.Schedule, inPlace bool) {
	t.Helper()
	data, err := f.Export(s, inPlace)
	if err != nil {
		t.Fatal(err)
	}
	back, err := f.Import(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if err := schedule.Check(back, nil); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	if x, y := sent(s), sent(back); !same(x, y) {
		t.Errorf("sends %v, then %v", x, y)
	}
	Uneven(t, back)
}

// Uneven runs a schedule with real data in blocks that do not divide into its parts: the
// last part is larger than the others.
func Uneven(t *testing.T, s *schedule.Schedule) {
	t.Helper()
	blocks := int64(s.Spec.Blocks())
	parts := int64(s.Channels[0].Chunks) / blocks
	got, err := host.Run(context.Background(), s, host.Config{Count: blocks * (3*parts - 1), Checks: 1, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got.Wrong != 0 {
		t.Errorf("%d wrong elements", got.Wrong)
	}
}

// sent is what each rank sends, as shares of the buffer in units of 2^-32.
func sent(s *schedule.Schedule) []int64 {
	out := make([]int64, s.Spec.Ranks)
	var total int64
	for i := range s.Channels {
		total += s.Channels[i].Share
	}
	x := schedule.NewExpander(s)
	for c, ch := range s.Channels {
		for p := range ch.Phases {
			for r := range out {
				for _, op := range x.AppendProgram(nil, c, p, r) {
					if op.Kind == schedule.Send {
						out[r] += int64(op.Src.Set.Len()) * (1 << 32 * ch.Share / total / int64(ch.Chunks))
					}
				}
			}
		}
	}
	return out
}

// same allows for rounding.
func same(a, b []int64) bool {
	for i := range a {
		if d := a[i] - b[i]; d > 1<<10 || d < -(1<<10) {
			return false
		}
	}
	return true
}

// Mistake is a change of a valid file, from and to, and what the reader must say of it;
// "" is nothing.
type Mistake [3]string

// in makes the mistake.
func (m Mistake) in(valid string) string { return strings.Replace(valid, m[0], m[1], 1) }

// Mistakes makes each mistake in a valid file.
func Mistakes(t *testing.T, valid string, list []Mistake, read func(io.Reader) error) {
	for _, m := range list {
		data := m.in(valid)
		if data == valid {
			t.Fatalf("%s is not in the file", m[0])
		}
		err := read(strings.NewReader(data))
		if want := m[2]; want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s → %s: %v instead of %q", m[0], m[1], err, want)
		}
	}
}

// Fuzz reads anything, beginning with a valid file and the mistakes in it.
func Fuzz(f *testing.F, valid string, list []Mistake, read func(t *testing.T, r io.Reader)) {
	f.Add([]byte(valid))
	for _, m := range list {
		f.Add([]byte(m.in(valid)))
	}
	f.Fuzz(func(t *testing.T, data []byte) { read(t, bytes.NewReader(data)) })
}

// FuzzImport imports anything: what is accepted must be a valid schedule, and what the
// checker accepts must give exact results.
func FuzzImport(f *testing.F, valid string, list []Mistake, read func(io.Reader) (*schedule.Schedule, error)) {
	Fuzz(f, valid, list, func(t *testing.T, r io.Reader) {
		s, err := read(r)
		if err != nil {
			return
		}
		if err := s.Validate(); err != nil {
			t.Errorf("imported, but not valid: %v", err)
		}
		if schedule.Check(s, nil) == nil && s.Spec.Ranks < 64 && s.Channels[0].Chunks < 1<<8 {
			Uneven(t, s)
		}
	})
}
