package main

import (
	"fmt"
	"log"
	"strings"
	"syscall"
	"time"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/study/score"
)

// lost are the faults of the table of degraded machines, in each line at once.
var lost = []string{
	"nic:node1/nic3",
	"nic:node1/nic3=0.5",
	"link:node0/gpu0--node0/nvswitch1",
	"link:node0/gpu0--node0/nvswitch1=0.5",
	"gpu:node1/gpu2",
	"nic:node1/nic3 nic:node0/nic5",
	"nic:node1/nic3 gpu:node0/gpu6",
}

// degraded prints the table of DGX H100 that have lost parts.
func degraded() {
	fmt.Printf("Made %s:\n\n", time.Now().UTC().Format(time.DateOnly))
	head("boxes", "lost", "collective", "bound (GB/s)", "share", "plan", "with latencies", "× healthy", "old plan", "planned in")
	for _, nodes := range []int{2, 4, 16, 32, 64, 128, 2048} {
		for i, faults := range lost {
			if nodes > 16 && i == len(lost)-1 || nodes > 128 && i > 0 {
				continue
			}
			for _, kind := range []collective.Kind{collective.AllReduce, collective.AllGather, collective.ReduceScatter,
				collective.AllToAll, collective.Broadcast, collective.Reduce} {
				if (kind == collective.ReduceScatter || kind == collective.Reduce) && nodes != 4 && nodes != 64 {
					continue // it is another one in reverse
				}
				fmt.Printf("| %d | %s | %v | %s |\n", nodes, faults, kind, strings.Join(degradedCells(nodes, faults, kind), " | "))
			}
		}
	}
}

// degradedCells are those of a line from the bound on.
func degradedCells(nodes int, faults string, kind collective.Kind) []string {
	left, err := without("dgx-h100", nodes, faults)
	if err != nil {
		log.Fatal(err)
	}
	whole := left.Healthy()
	spec := collective.Spec{Kind: kind, Ranks: left.NumRanks()}
	bound, err := planner.ExactBound(left, spec)
	if err != nil {
		log.Fatal(err)
	}
	began := processorTime()
	line := checked(left, spec, cost.Line) // first, so that trees are not found yet
	took := processorTime() - began
	ideal := checked(left, spec, cost.Ideal)
	best := min(bound.AlgBW/1e9, bandwidth(ideal)/ideal.OfBound()) // plans know the cuts around nodes as well
	healthy := checked(whole, collective.Spec{Kind: kind, Ranks: whole.NumRanks()}, cost.Line)
	return []string{fmt.Sprintf("%.2f", best), fmt.Sprintf("%.1f %%", 100*bandwidth(ideal)/best), planner.Name(ideal.Schedule),
		fmt.Sprintf("%.1f %%", 100*bandwidth(line)/best),
		fmt.Sprintf("%.2f", line.Prediction.Time.Seconds()/healthy.Prediction.Time.Seconds()),
		kept(left, healthy, line.Prediction.Time), fmt.Sprintf("%.1f s", took.Seconds())}
}

// kept is by how much longer the old plan takes than the new one, where it can be kept.
func kept(left *topology.Topology, old planner.Row, now units.Time) string {
	p := cost.Line
	k, err := planner.Keep(left, p, old.Schedule, old.Size, score.New(left, p), units.MaxTime)
	if err != nil {
		log.Fatal(err)
	}
	longer := fmt.Sprintf("%+.0f %%", 100*(k.Time.Seconds()/now.Seconds()-1))
	switch {
	case k.Time == 0:
		return "–"
	case k.Least && k.Time < now:
		return "–" // a bound that says nothing
	case k.Least:
		return "at least " + longer
	}
	return longer
}

// bandwidth is a plan's algorithm bandwidth in GB/s.
func bandwidth(r planner.Row) float64 { return float64(r.Size) / r.Prediction.Time.Seconds() / 1e9 }

// processorTime is what this process has used so far.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		log.Fatal(err)
	}
	return time.Duration(u.Utime.Nano())
}
