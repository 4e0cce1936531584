package sim

import (
	"math"
	"testing"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
)

// A transfer that has a link to itself takes its whole time there, though one before it on that link was expected to end later than it
// did: rank 0 shares rank 3's link with rank 1, which is slower than half of it, and then goes on at a limit of its own.
func TestTransferAfterOneThatEndedEarly(t *testing.T) {
	topo, err := topology.Parse("test", []byte(`
schema: railyard.topology/v1
name: incast
source: test
date: 2026-11-23
classes:
  seven: {medium: nvlink, rate: 7GB/s, latency: 0s, source: test, date: 2026-11-23}
  four: {medium: nvlink, rate: 4GB/s, latency: 0s, source: test, date: 2026-11-23}
  ten: {medium: nvlink, rate: 10GB/s, latency: 0s, source: test, date: 2026-11-23}
  fast: {medium: nvlink, rate: 1000GB/s, latency: 0s, source: test, date: 2026-11-23}
devices: [{id: "gpu[0-3]", kind: gpu}, {id: sw, kind: nvswitch}]
links:
  - {from: gpu0, to: sw, class: seven}
  - {from: gpu1, to: sw, class: four}
  - {from: gpu2, to: sw, class: fast}
  - {from: sw, to: gpu3, class: ten, duplex: false}
  - {from: gpu3, to: sw, class: fast, duplex: false}
`), nil, topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	some := func(n int32) schedule.Loc { return schedule.Loc{Buf: schedule.Input, Set: schedule.Range(0, n)} }
	send := func(to, n int32) schedule.Op { return schedule.Op{Kind: schedule.Send, Peer: to, Src: some(n)} }
	recv := func(from, n int32) schedule.Op {
		return schedule.Op{Kind: schedule.Recv, Peer: from, Dst: schedule.Loc{Buf: schedule.Output, Set: schedule.Range(0, n)}}
	}
	s := &schedule.Schedule{Algorithm: "test", Spec: collective.Spec{Kind: collective.AllGather, Ranks: 4}, Protocol: schedule.Simple,
		Channels: []schedule.Channel{{Share: 1, Slices: 1, Chunks: 4, Phases: []schedule.Phase{{Gen: schedule.GenOps,
			Op: collective.AllGather,
			Ops: []schedule.Program{{send(3, 4)}, {send(3, 1)}, {recv(3, 1), send(3, 4)},
				{recv(0, 4), recv(1, 1), send(2, 1), recv(2, 4)}}}}}}}
	plan, err := CompileFlat(topo, s, cost.Ideal)
	if err != nil {
		t.Fatal(err)
	}
	r, err := plan.Run(4_000_000_000, Options{}) // chunks of 1 GB
	if err != nil {
		t.Fatal(err)
	}
	want := 1.0/4 + (4-6.0/4)/7 + 1.0/1000 + 4.0/10
	if got := r.Time.Seconds(); math.Abs(got-want) > 1e-6 {
		t.Errorf("%.6f s instead of %.6f", got, want)
	}
}
