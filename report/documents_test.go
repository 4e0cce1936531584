package report_test

import (
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"railyard/internal/golden"
	"railyard/model/measurement"
	"railyard/report"
	"railyard/report/table"
)

func planDocument() *report.PlanDocument {
	return &report.PlanDocument{Schema: "railyard.plan/v1", Topology: "box", Hash: "00ff", Profile: "line", Ranks: 8,
		Rows: []report.PlanRow{
			{Collective: "all_reduce", SizeBytes: 1024, Schedule: "direct/ll", TimeUS: 4.5, AlgBW: 0.2276, BusBW: 0.3982, BoundUS: 1.25,
				OfBound: 0.2778, BoundCut: "gpu0 can take in only 450GB/s", LatencyBoundUS: 0.9, OfLatencyBound: 0.2,
				Bottleneck: "latency: 2 steps", RunnerUp: "ring/ll", RunnerLoss: 1.5,
				Warnings: []string{"extrapolated: profile line was fitted from 4KiB on"},
				WhyNotOther: []report.WhyRow{{Schedule: "direct/ll", TimeUS: 4.5, Limit: "latency: 2 steps"},
					{Schedule: "ring/simple", TimeUS: 30, Pruned: true}}},
			{Collective: "all_reduce", SizeBytes: 1 << 30, Schedule: "ring/simple", TimeUS: 4175.25, AlgBW: 257.1, BusBW: 449.9,
				BoundUS: 4175.2, OfBound: 0.99999, BoundCut: "all <cuts> & more",
				Bottleneck: "link gpu0->nvswitch0: 100% busy", Warnings: []string{}},
		}, Crossovers: []report.CrossoverRow{{SizeBytes: 1 << 20, From: "direct/ll", To: "ring/simple"}}}
}

// degradedDocument is the plan of a machine that has lost a GPU and half a NIC.
func degradedDocument() *report.PlanDocument {
	d := planDocument()
	d.Topology, d.Ranks = "box without gpu gpu3, with nic nic0 at 0.5 of its rate", 7
	d.Faults, d.LostRanks = []string{"gpu:gpu3", "nic:nic0=0.5"}, []int{3}
	d.Rows[0].HealthyUS, d.Rows[0].Slowdown = 4, 1.125
	d.Rows[1].HealthyUS, d.Rows[1].Slowdown = 4175.25, 1
	d.Rows[1].KeptUS, d.Rows[1].KeptTooLarge = 6262.875, true
	d.Crossovers[0].About = true
	return d
}

// loadedDocument is the plan of a machine that others load as well, with the front.
func loadedDocument() *report.PlanDocument {
	d := degradedDocument()
	d.Topology += " with background load"
	d.Rows[0].IdleUS, d.Rows[0].LoadSlowdown = 4.2, 1.0714
	d.Rows[1].IdleUS, d.Rows[1].LoadSlowdown = 4175.25, 1
	d.Counts = &report.Counts{File: "c.csv", LargestRow: 1024, Total: 3584, ZeroPairs: 40}
	d.Pareto = &report.Pareto{SmallBytes: 8, LargeBytes: 1 << 30, Points: []report.ParetoPoint{
		{Schedule: "direct/ll", LatencyUS: 2.25, LargeUS: 30000, PerByte: 27.94, AlgBW: 35.8, BusBW: 62.6, Pareto: true,
			Best: []report.SizeRange{{From: 1024, To: 1047552, About: true}, {From: 1 << 21, To: 1 << 21}}},
		{Schedule: "tree", LatencyUS: 3, LargeUS: 40000, PerByte: 37.25, AlgBW: 26.8, BusBW: 47,
			Best: []report.SizeRange{{From: 1047553, To: 1<<20 - 1}}},
		{Schedule: "ring/ll", LatencyUS: 9, LargeUS: 8000, PerByte: 7.45, AlgBW: 134.2, BusBW: 234.9, Pareto: true,
			Best: []report.SizeRange{}},
		{Schedule: "ring/simple", LatencyUS: 20, LargeUS: 4175.25, PerByte: 3.8885, AlgBW: 257.1, BusBW: 449.9, Pareto: true,
			Best: []report.SizeRange{{From: 1 << 20, To: 1 << 30}}},
	}}
	return d
}

func simulateDocument() *report.SimulateDocument {
	d := &report.SimulateDocument{Schema: "railyard.simulate/v1", Topology: "box", Profile: "line", Schedule: "ring/simple",
		Collective: "all_gather", SizeBytes: 1 << 26, TimeUS: 131.5, AlgBW: 510.3,
		BusBW: 446.5, LaunchUS: 1.5, AlphaUS: 4, BetaUS: 120, ContentionUS: 6, Sends: 56, Events: 112, Bottleneck: "link l2: 95% busy",
		RankBalance: 1, LinkBalance: 0.5, Warnings: []string{"w", "w"}}
	for i := range 18 {
		d.Links = append(d.Links, report.LinkLoad{ID: "l" + string(rune('a'+i)), Count: 1, Class: "nvlink4", Bytes: float64(1000 * i),
			Utilisation: float64(i%7) / 10})
	}
	return d
}

// congestedDocument has everything that may slow a run down.
func congestedDocument() *report.SimulateDocument {
	d, seed := simulateDocument(), uint64(7)
	d.Links = append(d.Links[:2], report.LinkLoad{ID: "leaf0->spine1 lane 3", Count: 1, Class: "ndr400", Bytes: 4096, Utilisation: 0.75})
	d.DelayUS, d.Faults, d.HealthyUS, d.Slowdown = 12.5, []string{"nic:nic0", "link:a--b=0.5"}, 100, 1.315
	d.IdleUS, d.LoadSlowdown = 125, 1.052
	d.Congested, d.FluidUS, d.CongestedSlowdown = 0.9, 125, 1.052
	d.Jobs = []report.SimulatedJob{
		{Name: "-c all_gather", Schedule: "ring/simple", Collective: "all_gather", Ranks: "0-7", SizeBytes: 1 << 26, TimeUS: 131.5,
			AloneUS: 100, Slowdown: 1.315},
		{Name: "b.json:1M@4-7,12", Schedule: "direct", Collective: "gather", Ranks: "4-7,12", SizeBytes: 1 << 20, TimeUS: 20, AloneUS: 20,
			Slowdown: 1},
	}
	d.Shared = &report.SharedLink{ID: "leaf0->spine1 lane 3", Class: "ndr400", Utilisation: 0.75, JobBytes: []float64{3072, 1024}}
	d.Hashed = &report.Hashed{Seed: 7, QPs: 4, SpreadUS: 120, Slowdown: 1.0958, Transfers: 16, Worst: 2.25, Mean: 1.5, Ideal: 1,
		Fullest: "leaf0->spine1 lane 3"}
	d.Stragglers = &report.Stragglers{Spec: []string{"gpu:gpu3=20us", "exp:5us"}, Seed: &seed, LatestUS: 21, MeanUS: 6, PromptUS: 119,
		Slowdown: 1.105}
	d.Repeats = &report.Repeats{Runs: 100, P50: 130, P95: 150.5, P99: 160}
	return d
}

func runDocument() *report.RunDocument {
	ms := func(f float64) time.Duration { return time.Duration(f * float64(time.Millisecond)) }
	row := func(size int64, sum measurement.Summary, predicted float64, wrong int64) report.RunRow {
		r := report.RunRow{Warnings: []string{}, Collective: "all_reduce", SizeBytes: size, Count: size / 4, DType: "float32", RedOp: "sum",
			Root: -1, Schedule: "ring/simple", MeasuredUS: report.NewPercentiles(sum), PredictedUS: predicted, Wrong: wrong}
		r.AlgBW = float64(size) / r.MeasuredUS.Median / 1e3
		r.BusBW = 1.75 * r.AlgBW
		r.Error = predicted/r.MeasuredUS.Median - 1
		return r
	}
	return &report.RunDocument{Schema: "railyard.run/v1", Tool: "railyard test", Topology: "host", Hash: "00ff", Profile: "host",
		Backend: "host", Seed: 1, Timed: true, Rows: []report.RunRow{
			row(1<<20, measurement.Summary{Min: ms(1), Median: ms(1.25), P95: ms(2), P99: ms(3), Max: ms(4), Mean: ms(1.5)}, 1000, 0),
			row(1<<24, measurement.Summary{Min: ms(10), Median: ms(12.5), P95: ms(20), P99: ms(30), Max: ms(40), Mean: ms(15)}, 15000, 3),
		}}
}

func TestDocumentGoldens(t *testing.T) {
	plan, degraded, sim, run := planDocument(), degradedDocument(), simulateDocument(), runDocument()
	congested, apart := congestedDocument(), congestedDocument()
	apart.Shared, apart.Stragglers.Seed, apart.Hashed.Transfers = nil, nil, 0
	loaded, front := loadedDocument(), loadedDocument()
	loaded.Pareto = nil
	untimed := runDocument()
	run.Others = .85
	untimed.Timed, untimed.Topology = false, "dgx-h100"
	for name, doc := range map[string]any{
		"plan.txt": plan, "plan.csv": plan, "plan.wide": plan, "plan.markdown": plan, "plan-degraded.txt": degraded,
		"plan-degraded.csv": degraded,
		"plan-loaded.csv":   loaded, "plan-pareto.txt": front, "plan-pareto.csv": front,
		"simulate.txt": sim, "simulate.csv": sim,
		"simulate-congested.txt": congested, "simulate-congested.csv": congested, "simulate-apart.txt": apart,
		"run.txt": run, "run.csv": run, "run-untimed.txt": untimed,
	} {
		format := strings.TrimPrefix(filepath.Ext(name), ".")
		if format == "txt" {
			format = table.Text
		}
		golden.Equal(t, name, written(t, emitted(format, doc)))
	}
}

// TestDocumentsMatchTheirSchemas validates each document, then the same document with
// one member taken away or renamed, which the schema must refuse.
func TestDocumentsMatchTheirSchemas(t *testing.T) {
	c := compareMixed(t)
	for name, write := range map[string]func(io.Writer) error{
		"plan":      func(w io.Writer) error { return table.WriteJSON(w, planDocument()) },
		"simulate":  func(w io.Writer) error { return table.WriteJSON(w, simulateDocument()) },
		"run":       func(w io.Writer) error { return table.WriteJSON(w, runDocument()) },
		"crossover": func(w io.Writer) error { return table.WriteJSON(w, crossoverDocument()) },
		"compare":   emitted(table.JSON, c.Document("box", "test")),
	} {
		doc := written(t, write)
		validate(t, name, doc)
		schema := compiled(t, name)
		var members map[string]any
		if err := json.Unmarshal(doc, &members); err != nil {
			t.Fatal(err)
		}
		for key := range members {
			missing := map[string]any{}
			for k, v := range members {
				if k != key {
					missing[k] = v
				}
			}
			if schema.Validate(missing) == nil {
				t.Errorf("%s: accepted without %q", name, key)
			}
		}
		members["mystery"] = 1
		if schema.Validate(members) == nil {
			t.Errorf("%s: accepted an unknown member", name)
		}
		row := members["rows"]
		switch name {
		case "simulate":
			row = members["links"]
		case "crossover":
			row = members["topologies"].([]any)[0].(map[string]any)["rows"]
		}
		delete(members, "mystery")
		first := row.([]any)[0].(map[string]any)
		for _, key := range map[string][]string{"plan": {"time_us", "bound_us", "of_latency_bound", "runner_up"},
			"simulate": {"id", "utilisation"}, "crossover": {"time_us", "runner_up_loss"}, "run": {"measured_us", "wrong"},
			"compare": {"measured_us", "error", "warnings"}}[name] {
			kept := first[key]
			delete(first, key)
			if schema.Validate(members) == nil {
				t.Errorf("%s: accepted a row without %q", name, key)
			}
			first[key] = kept
		}
	}
}

// TestDegradedPlanMatchesSchema: the members that only the plan of a degraded and loaded
// machine has, or one with the front.
func TestDegradedPlanMatchesSchema(t *testing.T) {
	validate(t, "plan", written(t, func(w io.Writer) error { return table.WriteJSON(w, degradedDocument()) }))
	doc := written(t, func(w io.Writer) error { return table.WriteJSON(w, loadedDocument()) })
	validate(t, "plan", doc)
	for _, member := range []string{`"faults"`, `"lost_ranks"`, `"healthy_us"`, `"slowdown"`, `"idle_us"`, `"load_slowdown"`, `"pareto"`,
		`"counts"`} {
		if !bytes.Contains(doc, []byte(member)) {
			t.Errorf("no %s", member)
		}
		if whole := written(t, func(w io.Writer) error { return table.WriteJSON(w, planDocument()) }); bytes.Contains(whole,
			[]byte(member)) {
			t.Errorf("%s of a whole machine", member)
		}
	}
}

// TestCongestedSimulationMatchesSchema: the members that only a run has that something
// slows down, and that a plain one lacks.
func TestCongestedSimulationMatchesSchema(t *testing.T) {
	doc := written(t, func(w io.Writer) error { return table.WriteJSON(w, congestedDocument()) })
	plain := written(t, func(w io.Writer) error { return table.WriteJSON(w, simulateDocument()) })
	validate(t, "simulate", doc)
	for _, member := range []string{"delay_us", "faults", "healthy_us", "slowdown", "idle_us", "load_slowdown", "congested", "fluid_us",
		"congested_slowdown", "jobs", "shared_link",
		"ecmp", "stragglers", "repeats"} {
		if !bytes.Contains(doc, []byte(`"`+member+`"`)) || bytes.Contains(plain, []byte(`"`+member+`"`)) {
			t.Errorf("%s: in the plain document, or not in this one", member)
		}
	}
}

func compiled(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile("../docs/" + name + ".schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, name string, doc []byte) {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	if err := compiled(t, name).Validate(v); err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

// TestRunIsMeasurement holds that compare reads what run wrote.
func TestRunIsMeasurement(t *testing.T) {
	set, err := measurement.ReadCSV(bytes.NewReader(written(t, emitted(table.CSV, runDocument()))), "run.csv")
	if err != nil || len(set.Rows) != 2 || set.Rows[0].Time.Microseconds() != 1250 {
		t.Errorf("%+v, %v", set, err)
	}
}

func TestJSONLine(t *testing.T) {
	line := written(t, func(w io.Writer) error { return table.WriteJSONLine(w, map[string]string{"a": "<b>"}) })
	if string(line) != "{\"a\":\"<b>\"}\n" {
		t.Errorf("%q", line)
	}
	whole := written(t, func(w io.Writer) error { return table.WriteJSONLine(w, runDocument()) })
	if strings.Count(string(whole), "\n") != 1 {
		t.Errorf("%q", whole)
	}
}

// TestMarksInSentences: what is derived or assumed is marked in the sentence as it is in the table.
func TestMarksInSentences(t *testing.T) {
	us := 20.
	row := report.PlanRow{TimeUS: 10, BusBW: 100, Unsure: true, Library: report.Library{TimeUS: &us}}
	if got, want := row.Comparison(), "NCCL takes 20.00 µs (50 GB/s), railyard's plan takes 10.00 µs* (100 GB/s bus bandwidth)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	row.Unsure, row.Library.Assumed = false, true
	if got, want := row.Comparison(), "NCCL takes 20.00 µs* (50 GB/s), railyard's plan takes 10.00 µs (100 GB/s bus bandwidth)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestFactsAreWhole: of many facts none is cut, unlike cells of tables of many rows.
func TestFactsAreWhole(t *testing.T) {
	d := &report.SimulateDocument{TimeUS: 1, LaunchUS: 1, AlphaUS: 1, BetaUS: 1, ContentionUS: 1, DelayUS: 1, AlgBW: 1, BusBW: 1, RankBalance: 1,
		LinkBalance: 1, HealthyUS: 1, Slowdown: 1, IdleUS: 1, LoadSlowdown: 1, Bottleneck: strings.Repeat("a long reason ", 20) + "ends"}
	if text := string(written(t, emitted(table.Text, d))); !strings.Contains(text, "ends") || strings.Contains(text, "…") {
		t.Error(text)
	}
}
