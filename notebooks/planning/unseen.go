package main

import (
	"fmt"
	"log"
	"regexp"
	"strconv"

	"railyard/internal/gen"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/study/score"
)

// unseenKinds are the collectives that are planned on unseen graphs.
var unseenKinds = []collective.Kind{collective.AllGather, collective.ReduceScatter, collective.AllReduce, collective.Broadcast,
	collective.Reduce, collective.AllToAll}

// unseen prints how near plans on seeded random graphs come to the exact bound, and the processor time that they took: of each
// family so many graphs, from the first seed on. Arguments: how many (3), the first seed (0), a pattern of names.
func unseen(arguments []string) {
	count, first, on := int64(3), int64(0), regexp.MustCompile("")
	for i, number := range []*int64{&count, &first} {
		if len(arguments) > i {
			var err error
			if *number, err = strconv.ParseInt(arguments[i], 10, 64); err != nil {
				log.Fatal(err)
			}
		}
	}
	if len(arguments) > 2 {
		on = regexp.MustCompile(arguments[2])
	}
	sums := make([]unseenSum, len(unseenKinds))
	head("graph", "GPUs", "collective", "share", "plan", "planned in")
	try := func(family string, seed int64) {
		for i, kind := range unseenKinds {
			if name := fmt.Sprintf("%s %d %v", family, seed, kind); on.MatchString(name) {
				sums[i].add(name, gen.Unseen(family, seed), kind)
			}
		}
	}
	for _, family := range gen.Families() {
		for seed := first; seed < first+count; seed++ {
			try(family, seed)
		}
	}
	try("16 boxes", first) // flat graphs of 128 GPUs
	try("8 boxes", first)
	fmt.Println()
	head("collective", "graphs", "no plan", "mean", "worst", "where", "longest")
	for i, s := range sums {
		mean := s.total / float64(max(s.graphs, 1))
		fmt.Printf("| %v | %d | %d | %.2f %% | %.2f %% | %s | %.1f s |\n", unseenKinds[i], s.graphs, s.none, 100*mean, 100*s.worst, s.where,
			s.longest)
	}
}

// unseenSum is what plans of a collective come to; none is a share of 0.
type unseenSum struct {
	graphs, none          int
	total, worst, longest float64 // shares; seconds
	where                 string
}

func (s *unseenSum) add(name string, t *topology.Topology, kind collective.Kind) {
	began := processorTime()
	scorer := score.New(t, cost.Ideal)
	scorer.Limit = int64(planner.DefaultBudget)
	rows, err := planner.Plan(t, collective.Spec{Kind: kind, Ranks: t.NumRanks()}, []units.Bytes{size}, scorer, planner.PlanOptions{})
	took := (processorTime() - began).Seconds()
	share, plan := 0.0, "none"
	if err != nil {
		plan = err.Error()
		s.none++
	} else {
		share, plan = rows[0].OfBound(), planner.Name(rows[0].Schedule)
	}
	fmt.Printf("| %s | %d | %v | %.2f %% | %s | %.1f s |\n", t.Name(), t.NumRanks(), kind, 100*share, plan, took)
	if s.graphs == 0 || share < s.worst {
		s.worst, s.where = share, name
	}
	s.graphs++
	s.total += share
	s.longest = max(s.longest, took)
}
