package planner_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"railyard/internal/long"
	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/study/score"
	"railyard/topologies"
)

// goal is a row of docs/planning.md or docs/evidence/degraded-plans.md: which share of the bound a plan of 1 GiB reaches there with `--profile ideal`.
type goal struct {
	where   string // page and line
	network string
	nodes   int
	lost    []string
	kind    collective.Kind
	share   float64 // of the bound
}

// goals are the rows of the tables that have a share of each plan.
func goals(t *testing.T) []goal {
	t.Helper()
	var out []goal
	for _, page := range []string{"docs/planning.md", "docs/evidence/degraded-plans.md"} {
		text, err := os.ReadFile("../" + page)
		if err != nil {
			t.Fatal(err)
		}
		var columns map[string]int
		for i, line := range strings.Split(string(text), "\n") {
			cells := strings.Split(strings.Trim(line, "| "), " | ")
			if !strings.HasPrefix(line, "| ") {
				columns = nil
			} else if columns == nil {
				columns = map[string]int{}
				for k, name := range cells {
					columns[name] = k + 1
				}
			} else if columns["share"] > 0 && columns["plan"] > 0 && !strings.HasPrefix(line, "| ---") {
				out = append(out, goalOf(t, fmt.Sprintf("%s:%d", page, i+1), func(name string) string {
					if k := columns[name]; k > 0 {
						return cells[k-1]
					}
					return ""
				}))
			}
		}
	}
	if len(out) < 100 {
		t.Fatalf("%d rows in docs/planning.md and docs/evidence/degraded-plans.md: their tables have changed", len(out))
	}
	return out
}

func goalOf(t *testing.T, where string, cell func(column string) string) goal {
	t.Helper()
	g := goal{where: where, network: "dgx-h100", lost: strings.Fields(cell("lost")), kind: collective.AllGather}
	nodes := cell("boxes")
	if whole := cell("network"); whole != "" {
		g.network, nodes, _ = strings.Cut(whole, " × ")
	}
	if !slices.Contains(topologies.Names(), g.network) {
		g.network = "testdata/" + g.network + ".yaml"
	}
	var err error
	if g.nodes, err = strconv.Atoi(nodes); err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	if kind := cell("collective"); kind != "" {
		if g.kind, err = collective.Parse(kind); err != nil {
			t.Fatalf("%s: %v", where, err)
		}
	}
	percent, err := strconv.ParseFloat(strings.TrimSuffix(cell("share"), " %"), 64)
	if err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	g.share = percent / 100
	return g
}

// topology is the network with what it has lost, nil if it is larger than so many ranks.
func (g goal) topology(t *testing.T, most int) *topology.Topology {
	t.Helper()
	topo, err := topology.Load(topologies.Source, g.network, topology.Options{Nodes: g.nodes})
	if err != nil {
		t.Fatalf("%s: %v", g.where, err)
	}
	if topo.NumRanks() > most {
		return nil
	}
	topo = topo.WithoutInNetwork() // as the tables say
	if len(g.lost) > 0 {
		return degrade(t, topo, g.lost...)
	}
	return topo
}

// Plans come as near to the bound as the pages say, whichever algorithm does it, to half a
// percent; they are right, and no faster than the bound.
func TestPlansReachWhatTheTablesSay(t *testing.T) {
	t.Parallel()
	for i, g := range goals(t) {
		if !long.Given() && len(g.lost) > 0 && i%12 > 0 {
			continue
		}
		topo := g.topology(t, long.Or(8, 256))
		if topo == nil {
			continue
		}
		row := bestOf(t, topo, collective.Spec{Kind: g.kind, Ranks: topo.NumRanks()}, "ideal", "")
		if share := row.OfBound(); share < g.share-0.005 || share > 1 {
			t.Errorf("%s: %s without %v, %v by %s: %.2f %% of the bound, the table says %.2f %%",
				g.where, topo.Name(), g.lost, g.kind, planner.Name(row.Schedule), 100*share, 100*g.share)
		}
	}
}

// bestOf is the plan of 1 GiB, by one algorithm if it is named, proven right.
func bestOf(t *testing.T, topo *topology.Topology, spec collective.Spec, costs, algorithm string) planner.Row {
	t.Helper()
	rows, err := planner.Plan(topo, spec, []units.Bytes{units.GiB}, score.New(topo, profile(t, costs)),
		planner.PlanOptions{Algorithm: algorithm})
	if err != nil {
		t.Fatal(err)
	}
	if err := schedule.Check(rows[0].Schedule, topo); err != nil {
		t.Errorf("%s, %v by %s: %v", topo.Name(), spec.Kind, planner.Name(rows[0].Schedule), err)
	}
	return rows[0]
}

// classical are the algorithms of textbooks and libraries.
var classical = []string{"ring", "direct", "bruck", "knomial", "halving_doubling", "double_binary_tree",
	"hierarchical_ring", "hierarchical_tree", "hierarchical_all_to_all"}

// notBehindClassical fails where a classical algorithm is faster than a plan.
func notBehindClassical(t *testing.T, topo *topology.Topology, row planner.Row, costs string) {
	t.Helper()
	score := score.New(topo, profile(t, costs))
	for _, algorithm := range classical {
		rows, err := planner.Plan(topo, row.Schedule.Spec, []units.Bytes{row.Size}, score, planner.PlanOptions{Algorithm: algorithm})
		if err != nil {
			continue // does not apply
		}
		if rows[0].Prediction.Time < row.Prediction.Time {
			t.Errorf("%s, %v: %s takes %v, %s %v", topo.Name(), row.Schedule.Spec.Kind, planner.Name(row.Schedule), row.Prediction.Time,
				planner.Name(rows[0].Schedule), rows[0].Prediction.Time)
		}
	}
}
