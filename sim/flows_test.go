package sim_test

import (
	"testing"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/sim"
	"railyard/topologies"
)

// flows is a schedule in which each pair of ranks moves the whole buffer, all at once.
func flows(ranks int, pairs ...[2]int) *schedule.Schedule {
	ops := make([]schedule.Program, ranks)
	all := schedule.ChunkSet{Count: 1, Stride: 1}
	for _, p := range pairs {
		ops[p[0]] = append(ops[p[0]], schedule.Op{Kind: schedule.Send, Peer: int32(p[1]), Src: schedule.Loc{Buf: schedule.Input, Set: all}})
	}
	for i, p := range pairs { // receives behind all sends
		at := schedule.ChunkSet{First: int32(i), Count: 1, Stride: 1}
		ops[p[1]] = append(ops[p[1]], schedule.Op{Kind: schedule.Recv, Peer: int32(p[0]),
			Dst: schedule.Loc{Buf: schedule.Scratch, Set: at}})
	}
	return &schedule.Schedule{Algorithm: "flows", Spec: collective.Spec{Kind: collective.SendRecv, Ranks: ranks}, Protocol: schedule.Simple,
		Channels: []schedule.Channel{{Share: 1, Slices: 1, Chunks: 1,
			Phases: []schedule.Phase{{Gen: schedule.GenOps, Op: collective.SendRecv, Ops: ops}}}}}
}

// shipped is a shipped topology.
func shipped(t testing.TB, name string, nodes int, set ...string) *topology.Topology {
	t.Helper()
	topo, err := topology.Load(topologies.Source, name, topology.Options{Nodes: nodes, Set: set})
	if err != nil {
		t.Fatal(err)
	}
	return topo
}

func named(t testing.TB, name string) *cost.Profile {
	t.Helper()
	m, err := cost.GetMachine(name)
	if err != nil {
		t.Fatal(err)
	}
	return m.Measured()
}

func compiled(t testing.TB, topo *topology.Topology, p *cost.Profile, o sim.CompileOptions, jobs ...sim.Job) *sim.Plan {
	t.Helper()
	plan, err := sim.CompileJobs(topo, jobs, p, o)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}
