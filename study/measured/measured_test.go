package measured

import (
	"os"
	"path/filepath"
	"testing"

	_ "railyard/internal/long"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/topologies"
)

// The longest prefix wins, so that a series may differ from the others of its machine.
func TestSystemsAreFoundByLongestPrefix(t *testing.T) {
	systems, err := ShippedSystems()
	if err != nil {
		t.Fatal(err)
	}
	for series, want := range map[string]string{
		"mle-h200-sharp-6g-off": "mle-h200-sharp-6g-off", "mle-h200-coll": "mle-h200", "aic-l40s-2.27.3-all_reduce-8": "aic-l40s",
		"aic-l40s-2.27.3-all_reduce-2": "aic-l40s-2.27.3-all_reduce-2",
	} {
		s, err := systems.Of(series)
		if err != nil || s.Series != want {
			t.Errorf("%s: %v, %v, want %s", series, s, err, want)
		}
	}
	if _, err := systems.Of("unheard-of"); err == nil {
		t.Error("a series that the table does not know has a system")
	}
}

// A table says how far apart GPUs reached one another; what NCCL does not know is an error.
func TestSystemsSayPeerToPeer(t *testing.T) {
	for level, fails := range map[string]bool{"": false, "SYS": false, "sys": true, "FAR": true} {
		file := filepath.Join(t.TempDir(), "systems.csv")
		if err := os.WriteFile(file, []byte("series,topology,p2p\nbox,pcie4-server,"+level+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		systems, err := readSystems(nil, file, "")
		if (err != nil) != fails {
			t.Errorf("%q: %v", level, err)
		}
		if err == nil && systems.list[0].Options.P2PLevel != level {
			t.Errorf("%q: %+v", level, systems.list[0].Options)
		}
	}
}

func TestLaunchFloors(t *testing.T) {
	row := func(size units.Bytes, us units.Time, launch string) measurement.Row {
		return measurement.Row{ID: "x", Size: size, Time: us * units.Microsecond, Launch: launch, GPUs: 4}
	}
	rows := []measurement.Row{row(1024, 26, "stream"), row(2048, 25, "stream"), row(4096, 27, "stream"), row(units.MiB, 90, "stream"),
		row(1024, 9, "graph")}
	floors := LaunchFloors(rows, Streamed)
	if len(floors) != 1 || floors[runOf(rows[0])] != 26*units.Microsecond {
		t.Errorf("%v", floors)
	}
	rows = []measurement.Row{row(32*units.KiB, 6349, "stream"), row(64*units.KiB, 3174, "stream"), row(units.MiB, 380, "stream")}
	if got := LaunchFloors(rows, Streamed)[runOf(rows[0])]; got != 60*units.Microsecond {
		t.Errorf("%v: more than launches for four GPUs can cost", got)
	}
	rows = []measurement.Row{row(1024, 12, "stream"), row(1024, 19, "stream")}
	rows[1].Algo, rows[1].Proto = "Tree", "LL" // of its process's environment
	if floors := LaunchFloors(rows, Streamed); floors[runOf(rows[1])] != rows[1].Time {
		t.Errorf("a run with NCCL_ALGO has the floor of another: %v", floors)
	}
}

// nccl-tests launches one graph for each GPU, and each operation in it bears its share: what is measured is that more than what is
// predicted of kernels, and what is fitted to that less. Graphs that were launched in a row hide it.
func TestGraphsBearTheirLaunch(t *testing.T) {
	machine := func(nodes, gpus int) (*topology.Topology, error) {
		return topology.Load(topologies.Source, "hgx-h200-4", topology.Options{Nodes: nodes, GPUs: gpus})
	}
	h200, err := cost.GetMachine("h200")
	if err != nil {
		t.Fatal(err)
	}
	for _, gpus := range []int{2, 4} {
		m := measurement.Row{ID: "x", Collective: collective.AllReduce, Size: units.KiB, GPUs: gpus, Launch: "graph", Time: 20 * units.Microsecond}
		more := units.Time(gpus) * graphLaunch / graphSize
		both := func(graphs bool) (predicted, fitted units.Time) {
			c := NewCases(machine, h200.NCCL())
			c.Graphs = graphs
			p, err := c.Predict(m)
			if err != nil {
				t.Fatal(err)
			}
			x, err := c.KernelCase(m)
			if err != nil {
				t.Fatal(err)
			}
			return p.Time, x.Time
		}
		kernel, measured := both(false)
		launched, less := both(true)
		if launched-kernel != more || measured-less != more {
			t.Errorf("%d GPUs: predicted %v more, fitted %v less, want %v", gpus, launched-kernel, measured-less, more)
		}
	}
	c := NewCases(machine, h200.NCCL())
	m := measurement.Row{ID: "x", GPUs: 4, Launch: "graph"}
	if c.launch(m).Ahead == 0 {
		t.Error("rows that do not say so have their launches in them")
	}
	if m.Replayed = true; c.launch(m).Ahead != 0 {
		t.Error("medians of many launches in a row have launches in them")
	}
	for launch, bears := range map[string]bool{"": true, "single": true, "replayed": false} {
		systems := &Systems{list: []System{{Series: "x", Topology: "hgx-h200-4", Profile: "h200", Replayed: launch == "replayed",
			Single: launch == "single"}}}
		rows := []measurement.Row{{ID: "x", Collective: collective.AllReduce, Size: units.KiB, Time: 9 * units.Microsecond, GPUs: 4, Launch: "graph"}}
		f := NewFleet(systems, &measurement.Set{Rows: rows})
		_, c, err := f.Of(rows[0])
		if err != nil {
			t.Fatal(err)
		}
		if got := c.launch(rows[0]); (got.Ahead > 0) != bears || got.Floor != 0 {
			t.Errorf("launch %q: %+v", launch, got)
		}
	}
}

// A table says how runs were launched; what it does not know is an error.
func TestSystemsSayHowTheyWereLaunched(t *testing.T) {
	for launch, fails := range map[string]bool{"": false, "single": false, "replayed": false, "graph": true} {
		file := filepath.Join(t.TempDir(), "systems.csv")
		if err := os.WriteFile(file, []byte("series,topology,launch\nbox,pcie4-server,"+launch+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readSystems(nil, file, ""); (err != nil) != fails {
			t.Errorf("%q: %v", launch, err)
		}
	}
}

// Until NCCL 2.22 launches took longer with each channel of each GPU.
func TestLaunchesOfOldVersionsGrowWithChannels(t *testing.T) {
	for version, old := range map[string]bool{"2.4.8": true, "2.19.3": true, "RCCL 2.20.5": true, "2.22.3": false, "2.30.7": false,
		"3.1.0": false, "RCCL": false, "": false} {
		m := measurement.Row{ID: "x", GPUs: 8, NCCLVersion: version}
		c := &Cases{Floors: Floors{runOf(m): 30 * units.Microsecond}}
		for range 2 { // as the row says, and as its system does
			if got := c.launch(m).Channel; (got == 8*channelLaunch) != old || (got == 0) == old {
				t.Errorf("%q: %v a channel", version, got)
			}
			m.NCCLVersion, c.Version = "", version
		}
	}
}

// Parts off 16 bytes are no case of a kernel; sizes that ranks do not divide are those asked for.
func TestMisalignedPartsAreNotFitted(t *testing.T) {
	for _, c := range []struct {
		kind collective.Kind
		size units.Bytes
		gpus int
		want bool
	}{
		{collective.AllGather, 131040, 12, true}, {collective.ReduceScatter, 262128, 12, true}, {collective.AllReduce, 131040, 12, false},
		{collective.AllGather, 196608, 12, false}, {collective.AllGather, 16 * units.GiB, 368, false},
	} {
		if got := misaligned(measurement.Row{Collective: c.kind, Size: c.size, GPUs: c.gpus}); got != c.want {
			t.Errorf("%v of %d bytes on %d GPUs: %v", c.kind, c.size, c.gpus, got)
		}
	}
}
