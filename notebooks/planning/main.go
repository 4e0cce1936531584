// Planning measures how near plans come to the best possible, and how long they take to
// make: 1 GiB on the networks of docs/planning.md, at line rate alone and with the
// latencies of the topology. The optimum is the exact bound of the package pack; beside
// it stands what others have published. Every plan is proven right and played by the
// event engine; switches only forward. Run it from the root of the module:
//
//	go run ./notebooks/planning
//	go run ./notebooks/planning degraded
//	go run ./notebooks/planning ablation [--on PATTERN] [algorithm…]
//	go run ./notebooks/planning unseen [COUNT [SEED [PATTERN]]]
//
// The first prints the tables of docs/planning.md for whole machines, the second that of
// docs/evidence/degraded-plans.md, each in a minute or two; the third, in about an hour, those of
// docs/evidence/algorithms.md: what plans would lose without each algorithm, those named being left out
// already; the fourth plans on random graphs of 4 to 96 GPUs (docs/evidence/unseen-graphs.md).
package main

import (
	"fmt"
	"log"
	"math"
	"os"
	"strings"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/study/score"
	"railyard/topologies"
)

// question is a collective on a network, with what others say of it: the optimum of the
// whole buffer in GB/s that they published or computed (planning notes of the issue; 0:
// none is known), and what share of it TACOS 1.3.0 reaches on the same graph.
type question struct {
	name      string
	nodes     int
	kind      collective.Kind
	published float64
	tacos     string
}

var allGathers = []question{
	{"dgx1-p100", 1, collective.AllGather, 91.43, "99.8 %"},
	{"dgx1-v100", 1, collective.AllGather, 171.43, "99.8 %"},
	{"dgx-a100", 2, collective.AllGather, 346.67, "–"},
	{"dgx-h100", 2, collective.AllGather, 533.33, "93 %"},
	{"dgx-h100", 4, collective.AllGather, 516.13, "85 %"},
	{"dgx-h100", 8, collective.AllGather, 457.14, "78 %"},
	{"dgx-h100", 16, collective.AllGather, 426.67, "66 %"},
	{"dgx2", 1, collective.AllGather, 160, "–"},
	{"mi250x-node", 1, collective.AllGather, 342.86, "92 %"},
	{"planner/testdata/mesh5x5.yaml", 1, collective.AllGather, 104.17, "99.9 %"},
	{"planner/testdata/mesh16x16.yaml", 1, collective.AllGather, 100.39, "99 %"},
	{"planner/testdata/torus8x8x16.yaml", 1, collective.AllGather, 300.29, "97 %"},
	{"dgx-h100", 128, collective.AllGather, 403.15, "–"},
}

var others = []question{
	{"dgx1-p100", 1, collective.AllReduce, 45.71, ""},
	{"dgx1-v100", 1, collective.AllReduce, 85.71, ""},
	{"dgx-h100", 4, collective.AllReduce, 258.06, ""},
	{"mi250x-node", 1, collective.AllReduce, 171.43, ""},
	{"planner/testdata/mesh4x3.yaml", 1, collective.AllReduce, 77.3, ""},
	{"planner/testdata/mesh5x5.yaml", 1, collective.AllReduce, 83.3, ""},
	{"planner/testdata/mesh16x16.yaml", 1, collective.AllReduce, 0, ""},
	{"planner/testdata/star8.yaml", 1, collective.AllReduce, 0, ""},
	{"dgx1-v100", 1, collective.Broadcast, 0, ""},
	{"dgx-h100", 2, collective.Broadcast, 0, ""},
	{"planner/testdata/mesh5x5.yaml", 1, collective.Broadcast, 0, ""},
	{"dgx1-v100", 1, collective.AllToAll, 75, ""},
	{"dgx-h100", 4, collective.AllToAll, 66.7, ""},
}

const size = units.GiB

func main() {
	log.SetFlags(0)
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "degraded":
			degraded()
		case "ablation":
			ablation(os.Args[2:])
		case "unseen":
			unseen(os.Args[2:])
		default:
			log.Fatalf("unknown table %q: must be degraded, ablation or unseen", os.Args[1])
		}
		return
	}
	head("network", "GPUs", "optimum (GB/s)", "published", "here (GB/s)", "share", "plan", "planned in", "with latencies", "TACOS")
	for _, q := range allGathers {
		name, cells := q.answer()
		fmt.Println("| " + name + " | " + strings.Join(append(cells, q.tacos), " | ") + " |")
	}
	fmt.Println()
	head("network", "collective", "GPUs", "optimum (GB/s)", "published", "here (GB/s)", "share", "plan", "planned in", "with latencies")
	for _, q := range others {
		name, cells := q.answer()
		fmt.Println("| " + name + " | " + q.kind.String() + " | " + strings.Join(cells, " | ") + " |")
	}
}

func head(columns ...string) {
	fmt.Println("| " + strings.Join(columns, " | ") + " |")
	fmt.Println("|" + strings.Repeat(" --- |", len(columns)))
}

// answer is the network's name and a table's cells.
func (q *question) answer() (string, []string) {
	t, err := topology.Load(topologies.Source, q.name, topology.Options{Nodes: q.nodes})
	if err != nil {
		log.Fatal(err)
	}
	name := fmt.Sprintf("%s × %d", t.Name(), q.nodes)
	t = t.WithoutInNetwork()
	spec := collective.Spec{Kind: q.kind, Ranks: t.NumRanks()}
	optimum, err := planner.ExactBound(t, spec)
	if err != nil {
		log.Fatal(err)
	}
	published := "–"
	if q.published > 0 {
		published = fmt.Sprintf("%.2f", q.published)
		if math.Abs(optimum.AlgBW/1e9-q.published) > 0.05 {
			log.Fatalf("%s, %v: the bound is %.2f GB/s (%s), published is %.2f", t.Name(), q.kind, optimum.AlgBW/1e9, optimum.Cut,
				q.published)
		}
	}
	began := processorTime()
	ideal := planned(t, spec, cost.Ideal, 0)
	took := processorTime() - began
	prove(t, ideal)
	best, bw, real := optimum.AlgBW/1e9, bandwidth(ideal), bandwidth(planned(t, spec, cost.Line, 0))
	return name, []string{fmt.Sprint(t.NumRanks()), fmt.Sprintf("%.2f", best), published, fmt.Sprintf("%.2f", bw),
		fmt.Sprintf("%.2f %%", 100*bw/best), planner.Name(ideal.Schedule), fmt.Sprintf("%.2f s", took.Seconds()),
		fmt.Sprintf("%.2f %%", 100*real/best)}
}

// planned is the best plan; limit is how much is simulated of a candidate, 0 for any number of operations.
func planned(t *topology.Topology, spec collective.Spec, p *cost.Profile, limit int64) planner.Row {
	scorer := score.New(t, p)
	scorer.Limit = limit
	rows, err := planner.Plan(t, spec, []units.Bytes{size}, scorer, planner.PlanOptions{})
	if err != nil {
		log.Fatal(err)
	}
	return rows[0]
}

// prove ends the program where a plan is not right.
func prove(t *topology.Topology, r planner.Row) {
	if err := schedule.Check(r.Schedule, t); err != nil {
		log.Fatal(err)
	}
}

// checked is the best plan that `railyard plan` can afford to find, proven right.
func checked(t *topology.Topology, spec collective.Spec, p *cost.Profile) planner.Row {
	r := planned(t, spec, p, int64(planner.DefaultBudget))
	prove(t, r)
	return r
}
