package mscclxml

import (
	"bytes"
	"testing"

	"railyard/interop/interoptest"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/sim"
	"railyard/topologies"
)

// ratioOf exports and imports a schedule over the GPUs of a machine, proves what comes back,
// and says how long that takes in comparison, at line rates.
func ratioOf(t *testing.T, f interoptest.Format, s *schedule.Schedule, machine string, o topology.Options) float64 {
	t.Helper()
	topo, err := topology.Load(topologies.Source, machine, o)
	if err != nil {
		t.Fatal(err)
	}
	data, err := f.Export(s, false)
	if err != nil {
		t.Fatal(err)
	}
	back, err := f.Import(bytes.NewReader(data))
	if err == nil {
		err = schedule.Check(back, topo)
	}
	if err != nil {
		t.Fatal(err)
	}
	interoptest.Uneven(t, back)
	return float64(timeOf(t, topo, back)) / float64(timeOf(t, topo, s))
}

func timeOf(t *testing.T, topo *topology.Topology, s *schedule.Schedule) units.Time {
	t.Helper()
	profile := cost.Line
	plan, err := sim.Compile(topo, s, profile)
	if err != nil {
		t.Fatal(err)
	}
	took, err := plan.Time(units.GiB)
	if err != nil {
		t.Fatal(err)
	}
	return took
}
