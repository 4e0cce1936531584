package report_test

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"railyard/internal/golden"
	"railyard/report"
	"railyard/report/table"
)

// shipped are the documents whose schemas docs has.
var shipped = []string{"plan", "run", "simulate", "expect", "compare", "crossover", "step", "search", "what-if", "size", "cost", "limits",
	"parts", "crossing", "validate", "doctor", "gate", "groups", "watch"}

// documents are examples of all documents.
func documents(t *testing.T) map[string]any {
	v := func(x float64) *float64 { return &x }
	plan := loadedDocument()
	plan.Pareto = nil
	plan.Rows[0].WhyNotOther[1].Gain = .002
	plan.Rows[1].Library = report.Library{Choice: "nvls/simple", TimeUS: v(4800), ModelUS: v(4100), MeasuredUS: v(4900),
		MeasuredIn: "a-series"}
	plan.Rows[0].How = "everybody talks to everybody"
	compare := compareMixed(t)
	compare.Rows[0].Predicted.Low, compare.Rows[0].Predicted.High, compare.Rows[0].Predicted.Own = 15e6, 25e6, 18e6
	goodput := report.GoodputResult{StopsADay: .5, MTBFHours: 48, IntervalHours: 1.5, Goodput: .9, Checkpoints: .05, Lost: .03, Slowed: .02,
		Played: .91, PlayedStops: .4, Rate: 9e5}
	crossover := crossoverDocument()
	return map[string]any{
		"plan": plan, "plan with front": loadedDocument(), "run": runDocument(), "simulate": congestedDocument(),
		"compare": compare.Document("box", "test"), "validate": compare.Judge(), "crossover": crossover,
		"expect": &report.ExpectDocument{Schema: "railyard.expect/v1", Topology: "box", Profile: "h100", Collective: "all_reduce", Ranks: 8,
			Rows: []report.ExpectRow{
				{SizeBytes: 1 << 30, Algorithm: "nvls", Protocol: "simple", TimeUS: 4029, LowUS: 3900, HighUS: 4200, AlgBW: 266, BusBW: 466,
					LowBusBW: 447, HighBusBW: 482, WireBW: 300, LineBW: 450,
					NCCLUS: v(4100), Limit: "nvlink4 of each GPU carries 9/8 of the data, out and in",
					Warnings: []string{"extrapolated"}}}},
		"gate": &report.GateDocument{Schema: "railyard.gate/v1", Topology: "box", Profile: "h100", Collective: "all_reduce", Nodes: 4,
			Ranks: 32, FalseAlarms: .01, Rows: []report.GateRow{{SizeBytes: 1 << 32, Algorithm: "ring", Protocol: "simple", BusBW: 371,
				Band: 1.7, Runs: 3, Spread: .02, Typical: 360, Floor: 330, Tolerance: .08, Warnings: []string{"extrapolated"}}},
			Beside: []report.GateBeside{{Kind: "nic", Fault: "nic:node0/nic0", Runs: 2, Times: 1, Of: "all nodes over adapters 0-3, then the others",
				SizeBytes: 1 << 32, Share: .85, Slower: 1.33, Detection: .987, Detected: true}},
			Faults: []report.GateFault{{SizeBytes: 1 << 32, Kind: "nic", Fault: "nic:node0/nic0", Slower: 1.14, BusBW: 325, Detection: .97,
				Detected: true}, {SizeBytes: 1 << 32, Kind: "link", Fault: "link:node0/gpu0--node0/nvswitch0#1", Slower: 1.01, BusBW: 367,
				Detection: .04, FromBytes: new(int64), Bearable: v(.001)}}},
		"step": &report.StepDocument{Schema: "railyard.step/v1", Topology: "superpod", GPU: "NVIDIA H100 SXM", GPUs: 64,
			Workload: "llama-3-8b", Layout: "dp8 tp8 pp1 zero1 mb1 gb64 sp", Runtime: "nccl", Searched: 40,
			StepMS: 12345, ComputeMS: 10000, CommunicationMS: 4000, ExposedMS: 2000, BubbleMS: 1, MFU: .41, TFLOPS: 405, Unit: "tokens",
			UnitsPerSecond: 435012, ScalingEfficiency: .995, Bottleneck: "compute",
			LimitingLink: "ndr400", Parts: []report.StepPart{{Name: "compute", TimeMS: 10000, Share: .8}}, Notes: []string{"a note"},
			Collectives: []report.StepCollective{{Axis: "tensor", Collective: "all_gather", What: "activations", SizeBytes: 1 << 26,
				Ranks: 8, Network: true, Schedule: "nvls/simple", Limit: "nvlink4", TimeUS: 210,
				Count: 512, TotalMS: 107, ExposedMS: 90}},
			Memory: report.StepMemory{Stage: 1, Parameters: 10, Gradients: 5, Optimizer: 20, Activations: 12, Gathered: 1, Reserve: 2,
				Total: 50, Capacity: 80}},
		"search": &report.SearchDocument{Schema: "railyard.search/v1", Topology: "superpod", GPUs: 64, Workload: "llama-3-8b",
			Runtime: "nccl", Layouts: 40, Timed: 10, Pruned: 20, TooLarge: 10, Resumed: 3, Unit: "tokens",
			Rows: []report.SearchRow{{Layout: "dp8 tp8 pp1 zero1 mb1 gb64 sp", StepMS: 842, MFU: .41, UnitsPerSecond: 435012, MemoryGiB: 50,
				Slower: .01, Why: "best; compute"}}},
		"parts": &report.TopologyDocument{Schema: "railyard.parts/v1", Topology: "box without gpu gpu3", Description: "a box",
			Hash: "00ff", Ranks: 7, Healthy: "box", HealthyHash: "ff00", LostRanks: []int{3},
			Devices: []report.TopologyKind{{Kind: "gpu", Count: 7}}, Tiers: []report.TopologyTier{{Tier: "node", Groups: 1}},
			Links:  []report.TopologyClass{{Class: "nvlink4", Count: 14, GBps: 25, LatencyUS: .34, Source: "vendor", Date: "2026-01-01"}},
			Faults: []report.TopologyFault{{State: "failed", Part: "gpu:gpu3"}}},
		"what-if": &report.WhatIfDocument{Schema: "railyard.what-if/v1", Topology: "superpod", Changed: "superpod without nic node2/nic3",
			GPUs: 64, After: 56, Subject: "llama-3-8b", By: "nccl", Notes: []string{"a note"},
			Rows: []report.WhatIfRow{{SizeBytes: 1024, BeforeMS: 842, Plan: "dp8 tp8 pp1 zero1 mb1 gb64 sp", Limit: "compute", KeptMS: 900,
				KeptSlowdown: 1.07, KeptLimit: "ndr400", PlannedMS: 880, PlannedSlowdown: 1.045,
				NewPlan: "dp7 tp8 pp1 zero1 mb1 gb56 sp", NewLimit: "compute", BeforeRate: 435012, PlannedRate: 400000, Unit: "tokens"}},
			Goodput: &report.WhatIfGoodput{Rates: "llama-3", Source: "a paper", CheckpointS: 60, RestartS: 600, RepairS: 3600,
				RunOn: []report.RunOn{{Part: "nic", Lost: "node0/nic0", Slowdown: 1.1}}, Seed: 1, SimulatedDays: 100,
				Before: goodput, After: goodput},
			Cost: &report.CostDifference{Currency: "USD", Prices: "list", Date: "2026-01-01", Months: 36, Before: 1e6, After: 2e6,
				TotalBefore: 3e6, TotalAfter: 4e6}},
		"size": &report.SizeDocument{Schema: "railyard.size/v1", Workload: "llama-3-8b", Unit: "tokens", Target: "1e12 tokens in 30 days",
			Currency: "USD", Prices: "list", Date: "2026-01-01", Months: 36, Best: 0,
			Rows: []report.SizeRow{{Design: "8 × dgx-h100, rails", Node: "dgx-h100", Nodes: 8, GPUs: 64, StepMS: 842,
				UnitsPerSecond: 435012, Days: 26.6, MFU: .41, Layout: "dp8 tp8", Bottleneck: "compute", Purchase: 3e6, Total: 5e6,
				Watts: 90000, BisectionGBps: 1600, Switches: 12, Cables: 128, Optics: 256, Priced: true, Meets: true, Pareto: true,
				Unpriced: "no"}, {Design: "1 × dgx-v100", Error: "does not fit"}}},
		"cost": &report.CostDocument{Schema: "railyard.cost/v1", Topology: "superpod", Nodes: 8, GPUs: 64, Prices: "list",
			PricesDate: "2026-01-01", Currency: "USD", Months: 1, Utilisation: .8, Purchase: 3e6, Network: 4e5,
			Watts: 90000, Switches: 12, Cables: 128, Optics: 256, BisectionGBps: 1600, Energy: 9000, Space: 8000, Staff: 20000,
			Maintenance: 30000, Total: 5e6, GPUHour: 2.41, Owned: []float64{3e6, 3.07e6},
			Bill:  []report.CostLine{{Part: "dgx-h100", Count: 8, Each: 3e5, Total: 2.4e6, Watts: 81600, Source: "list"}},
			Rents: []report.CostRent{{Offer: "cloud", Month: 2e5, Total: 2e5, BreakEven: 20, Source: "list"}}},
		"limits": &report.LimitsDocument{Schema: "railyard.limits/v1", Topology: "superpod", Subject: "all_reduce of 1 GiB", By: "railyard",
			GPUs: 64, Within: .05, Tier: "leaf", Slurm: []string{"#SBATCH --nodes=8"},
			Kueue: []string{"required"}, Notes: []string{"a note"}, Rows: []report.LimitRow{{Tier: "leaf", Nodes: 8, Groups: 4, TimeMS: 9.1,
				Slowdown: 1, Limit: "ring; ndr400", Within: true}}},
		"crossing": &report.CrossingDocument{Schema: "railyard.crossing/v1", Topology: "superpod", From: "node0/gpu0", To: "node1/gpu0",
			SizeBytes: 1 << 26, Compress: "fp8", Staged: true, Initiated: "gpu", QueuePairs: 4, Pieces: 16,
			TimeUS: 900, SerialUS: 1500, SynchroniseUS: 8, GBps: 74, Slowest: "network",
			Steps: []report.CrossingStep{{Name: "compress", Bytes: 1 << 26, GBps: 900, AlphaUS: 4, BusyUS: 75}},
			Notes: []string{"32 queue pairs carry 25GB/s each"}},
		"groups": &report.GroupsDocument{Schema: "railyard.groups/v1", Topology: "pod", Nodes: 64, GPUs: 8, Collective: "all_reduce",
			SizeBytes: 1 << 32, Healthy: .001, Longer: 1.2, Band: 1.5, Across: 3, Islands: []report.GroupIsland{{Nodes: 2,
				Hosts: "host1 host17"}}, Suspects: []report.GroupSuspect{{Part: "adapter 3", Host: "host17", Probability: .995,
				Named: true,
				Look:  "its cable"}}, Next: []report.GroupTest{{Name: "group-8", Nodes: 2, Hosts: []string{"host1", "host17"},
				Adapters: "0-3",
				Passes:   .4}}, Rows: []report.GroupRow{{File: "group-7", Nodes: 2, Hosts: []string{"host1", "host17"}, MeasuredUS: 2e4,
				ExpectedUS: 1e4, Longer: 2}}, Notes: []string{"a note"}},
		"watch": &report.WatchDocument{Schema: "railyard.watch/v1", Topology: "discovered", At: "2026-11-23T21:00:00Z", Seconds: 1.0004,
			HotFrom: .5, Hot: 1, Own: .004, Ports: []report.WatchPort{{Part: "GPU 3 link 17", Links: "gpu3->nvswitch0 and 3 more",
				Sent:     13.5,
				Received: 2, Line: 26.56, Load: .51, Hot: true, Errors: "replays 3"}, {Part: "mlx5_4"}}, Notes: []string{"mlx5_5 is gone"}},
		"doctor": &report.DoctorDocument{Schema: "railyard.doctor/v1", Setups: []report.DoctorSetup{}, Series: []report.DoctorSeries{},
			Choices:  []report.DoctorChoice{{Collective: "all_reduce", From: 1 << 20, Chose: "ring/ll"}},
			Topology: "dgx-h100", Assumed: true, GPUs: 8, Judged: 25,
			Findings: []report.DoctorFinding{{Level: "slow", Part: "GPU 3", Says: "has 17 of 18 NVLinks", Share: v(.056), Best: v(.05),
				Of: "all-reduce of 1 GiB on 8 GPUs", How: "simulated", Why: "the slowest decides", Do: "reset it", Rule: "links-missing",
				Source: "https://example.org", From: "nvidia-smi.xml:7"}},
			Unjudged: []report.DoctorUnjudged{{Rule: "acs", Missing: "pci.acs"}},
			Read:     []report.DoctorEvidence{{File: "nvidia-smi.xml", Kind: "nvidia-smi -q -x"}},
			Collect:  []string{"lspci -vv"}, Notes: []string{"a note"}},
	}
}

// TestEveryColumnIsInEveryFormat: what a row's struct declares is in the wide text, Markdown and HTML under its heading, in CSV where the
// list is CSV's, in JSON and in the schema under its key.
func TestEveryColumnIsInEveryFormat(t *testing.T) {
	for name, doc := range documents(t) {
		if p, ok := doc.(*report.PlanDocument); ok && p.Pareto != nil {
			p.Rows = nil // CSV holds the front instead
		}
		wide, html := string(written(t, emitted(table.Wide, doc))), string(written(t, emitted(table.HTML, doc)))
		markdown, js := string(written(t, emitted(table.Markdown, doc))), string(written(t, emitted(table.JSON, doc)))
		schema := string(written(t, func(w io.Writer) error { return table.WriteSchema(w, doc) }))
		lines, err := csv.NewReader(bytes.NewReader(written(t, emitted(table.CSV, doc)))).ReadAll()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		declared(reflect.ValueOf(doc), false, func(key, heading, column string, texts []string) {
			for format, text := range map[string]string{"wide text": wide, "HTML": html, "Markdown": markdown} {
				if !strings.Contains(text, heading) && !strings.Contains(text, strings.ReplaceAll(heading, "'", "&#39;")) {
					t.Errorf("%s: %s does not have the column %q of %s", name, format, heading, key)
				}
			}
			for format, text := range map[string]string{"JSON": js, "the schema": schema} {
				if key != "-" && !strings.Contains(text, `"`+key+`": `) {
					t.Errorf("%s: %s does not have %q", name, format, key)
				}
			}
			if _, months := doc.(table.Lining); column != "" && !months && !slices.Contains(lines[0], column) {
				t.Errorf("%s: CSV does not have %q: %v", name, column, lines[0])
			}
			for _, note := range texts {
				for format, text := range map[string]string{"wide text": wide, "Markdown": markdown, "HTML": html, "JSON": js,
					"CSV": fmt.Sprint(lines)} {
					if !strings.Contains(text, note) && !strings.Contains(text, strings.ReplaceAll(note, "'", "&#39;")) {
						t.Errorf("%s: %s does not say %q", name, format, note)
					}
				}
			}
		})
	}
}

// declared calls visit with what the tags of a document's fields say: key, heading, column in CSV ("" in lists that CSV does not hold), and
// the texts of notes.
func declared(v reflect.Value, lines bool, visit func(key, heading, column string, notes []string)) {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	for i := range v.NumField() {
		f, x := v.Type().Field(i), v.Field(i)
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		column, marked := f.Tag.Lookup("csv")
		switch {
		case !f.IsExported() || f.Type == reflect.TypeFor[table.Extra]():
		case f.Tag.Get("note") != "":
			if key != "-" {
				visit(key, "", "", x.Interface().([]string))
			}
		case f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct:
			for k := range x.Len() {
				declared(x.Index(k), marked, visit)
			}
		case f.Type.Kind() == reflect.Struct, f.Type.Kind() == reflect.Pointer && f.Type.Elem().Kind() == reflect.Struct:
			declared(x, lines, visit)
		case f.Tag.Get("const") == "":
			if x.IsZero() && (f.Type.Kind() == reflect.Pointer || f.Type.Kind() == reflect.String ||
				strings.HasSuffix(f.Tag.Get("json"), ",omitempty")) {
				continue // this row leaves it empty
			}
			heading := cmp.Or(f.Tag.Get("text"), f.Tag.Get("wide"))
			if lines && column == "" && key != "-" {
				column = key
			}
			visit(key, heading, column, nil)
		}
	}
}

// TestDefaultTextFits: no line of the default text is longer than 120 characters, and --why fits a screen.
func TestDefaultTextFits(t *testing.T) {
	for name, doc := range documents(t) {
		text := string(written(t, emitted(table.Text, doc)))
		for _, line := range strings.Split(text, "\n") {
			if n := utf8.RuneCountInString(line); n > table.Columns {
				t.Errorf("%s: a line of %d characters: %s", name, n, line)
			}
		}
		if n := strings.Count(text, "\n"); name == "plan" && n > 50 {
			t.Errorf("%s: %d lines", name, n)
		}
	}
}

// TestSchemas: the shipped schemas are those of the declarations, and the examples match them.
func TestSchemas(t *testing.T) {
	all := documents(t)
	if len(all) != len(shipped)+1 {
		t.Errorf("%d documents, %d schemas", len(all), len(shipped))
	}
	for _, name := range shipped {
		golden.Equal(t, "../../docs/"+name+".schema.json", written(t, func(w io.Writer) error { return table.WriteSchema(w, all[name]) }))
		validate(t, name, written(t, emitted(table.JSON, all[name])))
	}
}

// TestLayoutWords spells layouts out.
func TestLayoutWords(t *testing.T) {
	for short, want := range map[string]string{
		"dp4 tp8 pp1 zero0 mb1 gb64": "8-way tensor × 4-way data parallel, plain data parallel, micro-batch 1, global " +
			"batch 64",
		"dp2 tp4 pp8 vpp2 zero1 mb1 gb128 sp full": "4-way tensor × 8-way pipeline × 2-way data parallel, pipeline in 2 interleaved " +
			"chunks a stage, optimizer states sharded (ZeRO-1), micro-batch 1, global batch 128, sequence parallel, full recomputation",
	} {
		if got := report.LayoutWords(short); got != want {
			t.Errorf("%s: %s, want %s", short, got, want)
		}
	}
}
