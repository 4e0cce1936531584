package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"railyard/capacity/inventory"
	"railyard/internal/long"
	"railyard/model/failure"
	"railyard/model/topology"
	"railyard/topologies"
)

// answers are times in ps of railyard's plans and of NCCL by size, as one command has them.
type answers struct{ plan, nccl map[int64]int64 }

func picoseconds(us float64) int64 { return int64(math.Round(us * 1e6)) }

// ask runs a command and reads its JSON.
func ask(t *testing.T, into any, args ...string) {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(append(args, "--format", "json"), &out, &errs); code != 0 {
		t.Fatalf("%v: %s", args, errs.String())
	}
	if err := json.Unmarshal(out.Bytes(), into); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
}

// One question has one answer, to the picosecond, whichever command is asked: plan, simulate,
// report, what-if of before the change, limits of the placement that is the whole machine; and
// NCCL's columns are what expect says. Commands that answer for one size at a time are asked one of the sizes each, in turn: a row of
// a sweep is that of its size alone (study's own test).
func TestOneQuestionOneAnswer(t *testing.T) {
	names, nodes, kinds := []string{"hgx-h200-4", "dgx1-v100"}, []int{1}, []string{"all_reduce"}
	if long.Given() {
		names, nodes, kinds = topologies.Names(), []int{1, 2}, []string{"all_reduce", "all_gather", "reduce_scatter", "all_to_all",
			"broadcast"}
	}
	sizes := []int64{1 << 10, 1 << 14, 1 << 18, 1 << 22, 1 << 26, 1 << 30}
	turn, sampled := 0, long.Sample(t, 16)
	for _, name := range names {
		for _, n := range nodes {
			for _, kind := range kinds {
				alone := sizes[turn%len(sizes)]
				turn++
				if what := fmt.Sprintf("%s-%d-%s", name, n, kind); sampled(what) {
					t.Run(what, func(t *testing.T) { oneAnswer(t, name, n, kind, sizes, alone) })
				}
			}
		}
	}
}

// small are the shipped machines that commands answer for in a moment each.
func small(t *testing.T) (out []string) {
	for _, name := range topologies.Names() {
		topo, err := topology.Load(topologies.Source, name, topology.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if topo.NumRanks() <= 16 {
			out = append(out, name)
		}
	}
	return out
}

// oneAnswer asks for sizes, and for one of these alone.
func oneAnswer(t *testing.T, name string, nodes int, kind string, sizes []int64, alone int64) {
	machine := []string{"-t", name, "-c", kind}
	if nodes > 1 {
		machine = append(machine, "--nodes", strconv.Itoa(nodes))
		var failed bytes.Buffer
		if code := run([]string{"topo", "show", "-t", name, "--nodes", strconv.Itoa(nodes)}, &bytes.Buffer{}, &failed); code != 0 {
			if !strings.Contains(failed.String(), "no fabric that could join nodes") {
				t.Fatal(failed.String())
			}
			t.Skip("it has one node only")
		}
	}
	span := []string{"-s", fmt.Sprint(sizes[0])}
	if len(sizes) > 1 {
		span = []string{"-b", fmt.Sprint(sizes[0]), "-e", fmt.Sprint(sizes[len(sizes)-1]), "-f", fmt.Sprint(sizes[1] / sizes[0])}
	}
	with := func(command []string, more ...string) []string { return append(append(command, machine...), more...) }

	plans := askPlan(t, with([]string{"plan"}, span...))
	check := func(who string, size int64, got float64, want map[int64]int64) {
		if want[size] != picoseconds(got) {
			t.Errorf("%d bytes: plan says %d ps, %s %d", size, want[size], who, picoseconds(got))
		}
	}
	for size, us := range askExpect(t, with([]string{"expect"}, span...)) {
		if _, known := plans.nccl[size]; known {
			check("expect", size, us, plans.nccl)
		}
	}
	var changed struct {
		GPUs int
		Rows []struct {
			Size   int64   `json:"size_bytes"`
			Before float64 `json:"before_ms"`
		}
	}
	ask(t, &changed, with([]string{"capacity", "what-if", "--to", name}, span...)...)
	for _, r := range changed.Rows {
		check("what-if", r.Size, r.Before*1e3, plans.plan)
	}
	for size, us := range reported(t, with([]string{"report"})) {
		if _, asked := plans.plan[size]; asked {
			check("report", size, us, plans.plan)
		}
	}
	var simulated struct {
		Time float64  `json:"time_us"`
		NCCL *float64 `json:"nccl_us"`
	}
	ask(t, &simulated, with([]string{"simulate"}, "-s", fmt.Sprint(alone))...)
	check("simulate", alone, simulated.Time, plans.plan)
	if simulated.NCCL != nil {
		check("simulate for NCCL", alone, *simulated.NCCL, plans.nccl)
	}
	var limits struct {
		Rows []struct {
			Time float64 `json:"time_ms"`
		}
	}
	ask(t, &limits, with([]string{"capacity", "what-if", "--job", strconv.Itoa(changed.GPUs)}, "-s", fmt.Sprint(alone))...)
	check("limits", alone, limits.Rows[len(limits.Rows)-1].Time*1e3, plans.plan)
}

// The same of questions by chance: sizes that are no powers of two, machines with a part lost, a machine that another job shares.
func TestRandomQuestionsHaveOneAnswer(t *testing.T) {
	names, seeds := small(t), uint64(3)
	if long.Given() {
		seeds = 40
	}
	sampled := long.Sample(t, 8)
	kinds := []string{"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast"}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 17))
		name, kind, nodes := names[r.IntN(len(names))], kinds[r.IntN(len(kinds))], 1+r.IntN(2)
		size := int64(math.Exp2(10+18*r.Float64())) / 1680 * 1680 // whole elements of any share up to 8 and 10, 12, 14, 15 and 16 ranks
		size = max(size, 1680)
		what := fmt.Sprintf("%s-%d-%s-%d", name, nodes, kind, size)
		if !sampled(what) {
			continue
		}
		t.Run(what, func(t *testing.T) {
			oneAnswer(t, name, nodes, kind, []int64{size}, size)
			part := failure.Parts[r.IntN(len(failure.Parts))]
			changedAnswer(t, name, nodes, kind, size, part)
		})
	}
}

// Parts that begin off 16 bytes take longer on GPUs whose accesses were measured, and as long wherever it is said.
func TestOddCountsHaveOneAnswer(t *testing.T) {
	const odd, even = 286_290, 286_336 // bytes, of eight ranks
	oneAnswer(t, "dgx-h100", 1, "all_gather", []int64{odd}, odd)
	asked := []string{"plan", "-t", "dgx-h100", "-c", "all_gather", "-s"}
	slow, fast := askPlan(t, append(asked, fmt.Sprint(odd))).plan[odd], askPlan(t, append(asked, fmt.Sprint(even))).plan[even]
	if float64(slow) < 1.1*float64(fast) {
		t.Errorf("%d bytes take %d ps, %d take %d", odd, slow, even, fast)
	}
}

// changedAnswer asks about a machine without a part, and about one that another job shares: what the job takes alone.
func changedAnswer(t *testing.T, name string, nodes int, kind string, size int64, part failure.Part) {
	asked := []string{"-t", name, "-c", kind, "-s", fmt.Sprint(size)}
	if nodes > 1 {
		asked = append(asked, "--nodes", strconv.Itoa(nodes))
	}
	with := func(command []string, more ...string) []string { return slices.Concat(command, asked, more) }
	var shared struct {
		Jobs []struct {
			Alone float64 `json:"alone_us"`
		}
	}
	ask(t, &shared, with([]string{"simulate"}, "--with", "all_gather:64K@0-1")...)
	if plan := askPlan(t, with([]string{"plan"})); plan.plan[size] != picoseconds(shared.Jobs[0].Alone) {
		t.Errorf("plan says %d ps, beside another job it is alone in %v us", plan.plan[size], shared.Jobs[0].Alone)
	}
	topo, err := topology.Load(topologies.Source, name, topology.Options{Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	lost := inventory.First(topo, part)
	if lost == "" || run(with([]string{"plan"}, "--fail", lost), &bytes.Buffer{}, &bytes.Buffer{}) != 0 {
		return // it has none, or nothing goes on without
	}
	plan := askPlan(t, with([]string{"plan"}, "--fail", lost))
	var simulated struct {
		Time float64 `json:"time_us"`
	}
	ask(t, &simulated, with([]string{"simulate"}, "--fail", lost)...)
	var changed struct {
		Rows []struct {
			Planned float64 `json:"planned_ms"`
		}
	}
	ask(t, &changed, with([]string{"capacity", "what-if"}, "--fail", lost)...)
	if want := plan.plan[size]; want != picoseconds(simulated.Time) || want != picoseconds(changed.Rows[0].Planned*1e3) {
		t.Errorf("without %s plan says %d ps, simulate %v us, what-if %v ms", lost, want, simulated.Time, changed.Rows[0].Planned)
	}
}

// A training step is the same whoever asks: for the layout, for the best ones, before a change, for a placement.
func TestOneStepOneAnswer(t *testing.T) {
	for _, machine := range [][]string{{"-t", "dgx-h100", "-w", "gpt-2-1.5b"}, {"-t", "dgx-a100", "--nodes", "2", "-w", "llama-2-7b"}} {
		var best struct {
			Rows []struct {
				Layout string
				Step   float64 `json:"step_ms"`
			}
		}
		ask(t, &best, append([]string{"capacity", "step", "--top", "3", "--fix", "micro-batch=1,vpp=1"}, machine...)...)
		for _, row := range best.Rows {
			fixed := append([]string{"--layout", row.Layout}, machine...)
			var step struct {
				Step float64 `json:"step_ms"`
				GPUs int
			}
			ask(t, &step, append([]string{"capacity", "step"}, fixed...)...)
			var changed struct {
				Rows []struct {
					Before float64 `json:"before_ms"`
				}
			}
			ask(t, &changed, append([]string{"capacity", "what-if", "--to", machine[1]}, fixed...)...)
			var placed struct {
				Rows []struct {
					Time float64 `json:"time_ms"`
				}
			}
			ask(t, &placed, append([]string{"capacity", "what-if", "--job", strconv.Itoa(step.GPUs)}, fixed...)...)
			last := placed.Rows[len(placed.Rows)-1].Time
			if step.Step != row.Step || changed.Rows[0].Before != row.Step || last != row.Step {
				t.Errorf("%s: %v ms of the search, %v alone, %v before a change, %v placed", row.Layout, row.Step, step.Step,
					changed.Rows[0].Before, last)
			}
		}
	}
}

func askPlan(t *testing.T, args []string) answers {
	t.Helper()
	var d struct {
		Rows []struct {
			Size int64    `json:"size_bytes"`
			Time float64  `json:"time_us"`
			NCCL *float64 `json:"nccl_us"`
		}
	}
	ask(t, &d, args...)
	a := answers{map[int64]int64{}, map[int64]int64{}}
	for _, r := range d.Rows {
		if a.plan[r.Size] = picoseconds(r.Time); r.NCCL != nil {
			a.nccl[r.Size] = picoseconds(*r.NCCL)
		}
	}
	return a
}

// askExpect is empty where NCCL does not run.
func askExpect(t *testing.T, args []string) map[int64]float64 {
	t.Helper()
	out := map[int64]float64{}
	if run(args, &bytes.Buffer{}, &bytes.Buffer{}) != 0 {
		return out
	}
	var d struct {
		Rows []struct {
			Size int64   `json:"size_bytes"`
			Time float64 `json:"time_us"`
		}
	}
	ask(t, &d, args...)
	for _, r := range d.Rows {
		out[r.Size] = r.Time
	}
	return out
}

// reported are the times in the figures of a report.
func reported(t *testing.T, args []string) map[int64]float64 {
	t.Helper()
	dir := t.TempDir()
	var errs bytes.Buffer
	if code := run(append(args, "-s", "1M", "-o", filepath.Join(dir, "r.html"), "--dir", dir), &bytes.Buffer{}, &errs); code != 0 {
		t.Fatalf("%v: %s", args, errs.String())
	}
	out := map[int64]float64{}
	file, err := os.Open(filepath.Join(dir, "time.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r[0] != "railyard's plan" {
			continue
		}
		size, err1 := strconv.ParseFloat(r[1], 64)
		us, err2 := strconv.ParseFloat(r[2], 64)
		if err1 != nil || err2 != nil {
			t.Fatalf("%v", r)
		}
		out[int64(size)] = us
	}
	return out
}
