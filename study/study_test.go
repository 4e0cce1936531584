package study_test

import (
	"strings"
	"testing"

	"railyard/internal/gen"
	_ "railyard/internal/long" // accepts -long
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/sim/nccl"
	"railyard/study"
)

func ask(t *testing.T, site study.Site, kind collective.Kind, search study.Search, detail study.Detail,
	sizes ...units.Bytes) *study.Answer {
	t.Helper()
	a, err := study.Ask(asked(t, site, kind, search, detail, sizes...), nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func asked(t *testing.T, site study.Site, kind collective.Kind, search study.Search, detail study.Detail,
	sizes ...units.Bytes) study.Asked {
	t.Helper()
	topo, err := site.Load()
	if err != nil {
		t.Fatal(err)
	}
	machine, err := cost.MachineFor(topo)
	if err != nil {
		t.Fatal(err)
	}
	return study.Asked{Topology: topo, Collective: study.Collective{Kind: kind}, Sizes: sizes, Machine: machine, Search: search,
		Detail: detail}
}

// A question that names no protocols is about all that the costs know: small messages on NVLink
// go by one whose flags travel with the data.
func TestNoProtocolsMeansAll(t *testing.T) {
	site := study.Site{Name: "hgx-h200-4"}
	all := ask(t, site, collective.AllReduce, study.Search{}, study.Detail{}, 16*units.KiB)
	simple := ask(t, site, collective.AllReduce, study.Search{Protocols: []schedule.Protocol{schedule.Simple}}, study.Detail{},
		16*units.KiB)
	if all.Rows[0].Prediction.Time >= simple.Rows[0].Prediction.Time {
		t.Errorf("%s in %v, and by Simple alone %v", planner.Name(all.Rows[0].Schedule), all.Rows[0].Prediction.Time,
			simple.Rows[0].Prediction.Time)
	}
}

// What is missing or does not fit is refused, not filled in.
func TestRefused(t *testing.T) {
	topo, err := study.Site{Name: "dgx-h100"}.Load()
	if err != nil {
		t.Fatal(err)
	}
	machine := cost.NewMachine("line").WithOwn(cost.Line)
	good := study.Asked{Topology: topo, Collective: study.Collective{Kind: collective.AllReduce}, Sizes: []units.Bytes{units.MiB},
		Machine: machine}
	if _, err := study.New(good); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*study.Asked){
		"no topology": func(a *study.Asked) { a.Topology = nil },
		"no machine":  func(a *study.Asked) { a.Machine = nil },
		"no size":     func(a *study.Asked) { a.Sizes = nil },
		"a size of 0": func(a *study.Asked) { a.Sizes = []units.Bytes{units.MiB, 0} },
		"root 8 of 8": func(a *study.Asked) { a.Collective = study.Collective{Kind: collective.Broadcast, Root: 8} },
		"counts of two": func(a *study.Asked) {
			a.Collective = study.Collective{Kind: collective.AllToAllV, Counts: collective.UniformCounts(2)}
		},
	} {
		bad := good
		spoil(&bad)
		if _, err := study.New(bad); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// A question is what was asked, whatever is done to what it was made of.
func TestImmutable(t *testing.T) {
	sizes := []units.Bytes{units.KiB, units.MiB}
	a := ask(t, study.Site{Name: "dgx-a100"}, collective.AllGather, study.Search{}, study.Detail{}, sizes...)
	sizes[0] = units.GiB
	again, err := a.Question.Answer(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, size := range []units.Bytes{units.KiB, units.MiB} {
		if r := again.Rows[i]; r.Size != size || r.Prediction.Time != a.Rows[i].Prediction.Time {
			t.Errorf("%v in %v, asked again %v in %v", size, a.Rows[i].Prediction.Time, r.Size, r.Prediction.Time)
		}
	}
}

// With parts lost, the answer has the whole machine's plan, what it takes when it is kept, and a
// plan that is no slower; asked as a change of machines it is the same.
func TestKeptAndPlannedAgain(t *testing.T) {
	fault, err := topology.ParseFault("nic:node1/nic3")
	if err != nil {
		t.Fatal(err)
	}
	site := study.Site{Name: "dgx-h100", Nodes: 2, NoInNetwork: true}
	broken := site
	broken.Faults = []topology.Fault{fault}
	a := ask(t, broken, collective.AllReduce, study.Search{}, study.Detail{Changes: true}, units.KiB, units.GiB)
	was := ask(t, site, collective.AllReduce, study.Search{}, study.Detail{}, units.KiB, units.GiB)
	is, err := was.After(asked(t, broken, collective.AllReduce, study.Search{}, study.Detail{}, units.KiB, units.GiB), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range a.Rows {
		if r.Before == nil || r.Kept.Time < r.Before.Prediction.Time || r.Kept.Time < r.Prediction.Time {
			t.Errorf("%v: before %v, kept %+v, planned again %v", r.Size, r.Before, r.Kept, r.Prediction.Time)
		}
		c := is.Rows[i]
		if c.Prediction.Time != r.Prediction.Time || c.Kept != r.Kept || was.Rows[i].Prediction.Time != r.Before.Prediction.Time {
			t.Errorf("%v: as faults %v, %v, %v; as a change %v, %v, %v", r.Size, r.Before.Prediction.Time, r.Kept, r.Prediction.Time,
				was.Rows[i].Prediction.Time, c.Kept, c.Prediction.Time)
		}
	}
}

// Where links become faster, the old plan goes on: a large one takes no longer than before, and the best one there is no slower.
func TestKeptOnFasterLinks(t *testing.T) {
	slow := study.Site{Name: "dgx-h100", Nodes: 2}
	fast := slow
	fast.Faster = []study.Faster{{Class: "ndr400", Factor: 2}}
	was := ask(t, slow, collective.AllReduce, study.Search{}, study.Detail{}, units.GiB)
	is, err := was.After(asked(t, fast, collective.AllReduce, study.Search{}, study.Detail{}, units.GiB), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range is.Rows {
		if k := r.Kept.Time; k == 0 || k > was.Rows[i].Prediction.Time || r.Prediction.Time > k {
			t.Errorf("%v: before %v, kept %v, planned again %v", r.Size, was.Rows[i].Prediction.Time, k, r.Prediction.Time)
		}
	}
}

// answered plans a collective with some costs, and puts NCCL beside it; nil where nothing makes it on a degraded machine.
func answered(t *testing.T, topo *topology.Topology, machine *cost.Machine, kind collective.Kind, search study.Search,
	sizes ...units.Bytes) *study.Answer {
	t.Helper()
	q, err := study.New(study.Asked{Topology: topo, Collective: study.Collective{Kind: kind}, Sizes: sizes, Machine: machine,
		Search: search, Detail: study.Detail{Baseline: true}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := q.Answer(nil)
	if err != nil && len(topo.Faults()) > 0 && strings.Contains(err.Error(), "no algorithm makes") {
		return nil // of what is left
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Machines that NCCL does not run on have no baseline; what is wrong with how it is asked is an error.
func TestOnlyUnsupportedMachinesHaveNoBaseline(t *testing.T) {
	for _, c := range []struct {
		name    string
		library nccl.Options
		has     bool
		wrong   string
	}{
		{"dgx-h100", nccl.Options{}, true, ""},
		{"dgx-h100", nccl.Options{Fabric: "carrier-pigeon"}, false, "carrier-pigeon"},
		{"dgx-h100", nccl.Options{CollNet: nccl.On}, false, "CollNet needs switches that reduce"},
	} {
		topo, err := study.Site{Name: c.name, Nodes: 2}.Load()
		if err != nil {
			t.Fatal(err)
		}
		machine, err := cost.MachineFor(topo)
		if err != nil {
			t.Fatal(err)
		}
		q, err := study.New(study.Asked{Topology: topo, Collective: study.Collective{Kind: collective.AllReduce}, Machine: machine,
			Sizes: []units.Bytes{units.MiB}, Library: study.Library{Options: c.library}, Detail: study.Detail{Baseline: true}})
		if err != nil {
			t.Fatal(err)
		}
		b, err := q.Baseline(units.MiB)
		if b.Runs() != c.has || (err != nil) != (c.wrong != "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s %+v: %v, %v", c.name, c.library, b.Time, err)
		}
	}
}

// Where faults leave GPUs no route to some others, in one direction or both, data are passed on by those that have one.
func TestGPUsPassOnWhatOthersCannotReach(t *testing.T) {
	for _, lost := range [][]string{{"link:gpu0--cpu0", "link:gpu2--cpu1"}, {"link:gpu0->gpu1", "link:gpu2->cpu1"}} {
		topo, err := study.Site{Name: "minsky", Faults: gen.Faults(lost...)}.Load()
		if err != nil {
			t.Fatal(err)
		}
		machine, err := cost.MachineFor(topo)
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range collective.All() {
			if kind == collective.AllToAllV {
				continue // needs counts
			}
			a := answered(t, topo, machine, kind, study.Search{}, units.MiB)
			if a == nil {
				t.Errorf("%v without %v: not planned", kind, lost)
			} else if a.Rows[0].Prediction.Time < a.Rows[0].Limit().Time {
				t.Errorf("%v without %v: %v, below its limit %v", kind, lost, a.Rows[0].Prediction.Time, a.Rows[0].Limit().Time)
			}
		}
	}
}

// Nothing that is asked for by name is faster than what is chosen freely: candidates are left out by bounds that hold.
func TestTheBestIsChosen(t *testing.T) {
	topo, err := study.Site{Name: "dgx-h100"}.Load()
	if err != nil {
		t.Fatal(err)
	}
	sizes := []units.Bytes{units.KiB, 64 * units.KiB, 4 * units.MiB, 256 * units.MiB}
	for _, kind := range []collective.Kind{collective.AllReduce, collective.AllGather, collective.Broadcast} {
		free := ask(t, study.Site{Name: "dgx-h100"}, kind, study.Search{}, study.Detail{}, sizes...)
		for _, a := range planner.Algorithms() {
			for _, protocol := range []schedule.Protocol{schedule.Simple, schedule.LL, schedule.LL128} {
				if _, err := planner.Build(topo, free.Question.Spec(), a.Name, planner.Options{}); planner.NotApplicable(err) {
					continue
				}
				named := ask(t, study.Site{Name: "dgx-h100"}, kind, study.Search{Algorithm: a.Name,
					Protocols: []schedule.Protocol{protocol}},
					study.Detail{}, sizes...)
				for i, r := range named.Rows {
					if best := free.Rows[i].Prediction.Time; r.Prediction.Time < best {
						t.Errorf("%v of %v: %s takes %v, the choice %s %v", kind, r.Size, planner.Name(r.Schedule), r.Prediction.Time,
							planner.Name(free.Rows[i].Schedule), best)
					}
				}
			}
		}
	}
}
