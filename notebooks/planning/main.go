// Planning measures how near plans come to the best possible, and how long they take to
// make: all-gathers of 1 GiB on the networks of docs/planning.md, at line rate alone and
// with the latencies of the topology. Every plan is proven right and played by the event
// engine. Run it from the root of the module:
//
//	go run ./notebooks/planning
//
// It prints the table of docs/planning.md and takes about a minute.
package main

import (
	"fmt"
	"log"
	"os"
	"time"

	"railyard/capacity/score"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/topologies"
)

// networks with the exact optimum of their all-gather in GB/s, and what others reach of
// it, from published or measured runs of theirs (docs/planning.md).
var networks = []struct {
	name    string
	nodes   int
	optimum float64
	tacos   string
}{
	{"dgx1-p100", 1, 91.43, "99.8 %"},
	{"dgx1-v100", 1, 171.43, "99.8 %"},
	{"dgx-a100", 2, 346.67, "–"},
	{"dgx-h100", 2, 533.33, "93 %"},
	{"dgx-h100", 4, 516.13, "85 %"},
	{"dgx-h100", 8, 457.14, "78 %"},
	{"dgx-h100", 16, 426.67, "66 %"},
	{"dgx2", 1, 160, "–"},
	{"mi250x-node", 1, 342.86, "92 %"},
	{"planner/testdata/mesh5x5.yaml", 1, 104.17, "99.9 %"},
	{"planner/testdata/mesh16x16.yaml", 1, 100.39, "99 %"},
	{"planner/testdata/torus8x8x16.yaml", 1, 300.29, "97 %"},
	{"dgx-h100", 128, 403.15, "–"},
}

const size = units.GiB

func main() {
	log.SetFlags(0)
	fmt.Println("| network | GPUs | optimum (GB/s) | here (GB/s) | share | plan | planned in | with latencies | TACOS |")
	fmt.Println("| --- | ---: | ---: | ---: | ---: | --- | ---: | ---: | ---: |")
	for _, n := range networks {
		t, err := topology.Load(topologies.Source, n.name, topology.Options{Nodes: n.nodes})
		if err != nil {
			log.Fatal(err)
		}
		began := time.Now()
		bw, s, err := plan(t, "ideal")
		took := time.Since(began)
		if err != nil {
			log.Fatal(err)
		}
		if err := schedule.Check(s, t); err != nil {
			log.Fatal(err)
		}
		real, _, err := plan(t, "line")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("| %s × %d | %d | %.2f | %.2f | %.2f %% | %s | %.2f s | %.2f %% | %s |\n", t.Name(), n.nodes, t.NumRanks(), n.optimum, bw,
			100*bw/n.optimum, planner.Name(s), took.Seconds(), 100*real/n.optimum, n.tacos)
		os.Stdout.Sync()
	}
}

// plan is the algorithm bandwidth of the best plan, in GB/s.
func plan(t *topology.Topology, profile string) (float64, *schedule.Schedule, error) {
	p, err := cost.Get(profile)
	if err != nil {
		return 0, nil, err
	}
	spec := collective.Spec{Kind: collective.AllGather, Ranks: t.NumRanks()}
	rows, err := planner.Plan(t, spec, []units.Bytes{size}, score.New(t, p), planner.PlanOptions{})
	if err != nil {
		return 0, nil, err
	}
	r := rows[0]
	return float64(size) / r.Prediction.Time.Seconds() / 1e9, r.Schedule, nil
}
