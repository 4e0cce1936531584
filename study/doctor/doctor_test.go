package doctor

import (
	"fmt"
	"strings"
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/model/health"
	"railyard/model/topology"
	"railyard/study"
	"railyard/topologies"
)

// healthy is what a DGX H100 says of itself.
func healthy() *health.State {
	s := new(health.State)
	s.Say(s.Host(), "gpus", 8.0, "test")
	for i := range 8 {
		p := s.GPU(i)
		s.Say(p, "product", "NVIDIA H100 80GB HBM3", "test")
		s.Say(p, "bus", fmt.Sprintf("0000:%02x:00.0", 0x18+i), "test")
		for fact, n := range map[string]float64{"links": 18, "links_up": 18, "pcie_width": 16, "pcie_width_max": 16, "ecc_uncorrected": 0} {
			s.Say(p, fact, n, "test")
		}
		s.Say(p, "rows_failed", false, "test")
	}
	return s
}

// planted are faults and the rule that finds each.
var planted = []struct {
	rule  string
	plant func(s *health.State)
	says  string
}{
	{"gpus-missing", func(s *health.State) { s.Set(s.Host(), "gpus", 7.0, "test") }, "this machine shows 7 of 8 GPUs"},
	{"nvlinks-missing", func(s *health.State) { s.Set(s.GPU(3), "links_up", 17.0, "test") }, "GPU 3 has 17 of 18 NVLinks"},
	{"pcie-width", func(s *health.State) { s.Set(s.GPU(5), "pcie_width", 8.0, "test") }, "GPU 5 has 8 of 16 PCIe lanes"},
	{"ecc-uncorrected", func(s *health.State) { s.Set(s.GPU(1), "ecc_uncorrected", 2.0, "test") }, "GPU 1 has 2 memory errors"},
	{"rows-failed", func(s *health.State) { s.Set(s.GPU(0), "rows_failed", true, "test") }, "GPU 0 could not replace a row"},
}

func examined(t *testing.T, s *health.State) *Diagnosis {
	t.Helper()
	d, err := Examine(Asked{State: s, Intended: study.Site{Name: "dgx-h100"}})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestNothingIsFoundOnAHealthyMachine, though its GPUs say which one it is.
func TestNothingIsFoundOnAHealthyMachine(t *testing.T) {
	d, err := Examine(Asked{State: healthy()})
	if err != nil || len(d.Findings) > 0 || d.Topology != "dgx-h100" || !d.Assumed || d.Sick() {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestPlantedFaultsAreFound: by their rule and no other, with the figure.
func TestPlantedFaultsAreFound(t *testing.T) {
	for _, p := range planted {
		s := healthy()
		p.plant(s)
		d := examined(t, s)
		if len(d.Findings) != 1 || d.Findings[0].Rule != p.rule {
			t.Errorf("%s: %+v", p.rule, d.Findings)
			continue
		}
		f := d.Findings[0]
		if said := f.Part + " " + f.Says; !strings.HasPrefix(said, p.says) || f.Why == "" || f.Do == "" || len(f.From) == 0 {
			t.Errorf("%s: %q", p.rule, said)
		}
	}
}

// TestCostIsAsked: 17 of 18 links leave an all-reduce in the switches 17/18 of its rate, and what two nodes send does not change.
func TestCostIsAsked(t *testing.T) {
	s := healthy()
	s.Set(s.GPU(3), "links_up", 17.0, "test")
	f := examined(t, s).Findings[0]
	if c := f.Cost; !c.Known || c.Share < 0.05 || c.Share > 1.0/17+0.001 || c.Best > c.Share || c.Of != "all-reduce of 1GiB on 8 GPUs" {
		t.Errorf("%+v", c)
	}
}

// TestEqualFindingsAreOne: what is wrong with all is said once, and costs what all of it costs.
func TestEqualFindingsAreOne(t *testing.T) {
	s := healthy()
	for i := range 8 {
		s.Set(s.GPU(i), "pcie_width", 8.0, "test")
	}
	d := examined(t, s)
	if len(d.Findings) != 1 || d.Findings[0].Part != "GPUs 0-7" || !strings.Contains(d.Findings[0].Do, "lspci") || !d.Findings[0].Cost.Known {
		t.Errorf("%+v", d.Findings)
	}
}

// TestUnknownFactsAreNoFault: rules without their facts are named with what they lack.
func TestUnknownFactsAreNoFault(t *testing.T) {
	s := new(health.State)
	s.GPU(0)
	d, err := Examine(Asked{State: s})
	if err != nil || len(d.Findings) > 0 || d.Judged != 0 || len(d.Unjudged) != len(rules().Rules) || d.Uncosted == "" {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestRules: each has an address, and each machine that is guessed is shipped, with as many GPUs.
func TestRules(t *testing.T) {
	for _, r := range rules().Rules {
		if !strings.HasPrefix(r.Source, "https://") || r.Effect != "" && r.Left.text == "" && r.Effect != "gpu" {
			t.Errorf("%s: source %q, effect %q without left", r.Name, r.Source, r.Effect)
		}
	}
	for _, m := range rules().Machines {
		top, err := topology.Load(topologies.Source, m.Topology, topology.Options{})
		if err != nil || top.NumRanks() != m.GPUs || top.NumNodes() != 1 {
			t.Errorf("%+v: %v", m, err)
		}
	}
}

// TestWrongRules are refused with their line.
func TestWrongRules(t *testing.T) {
	for rule, want := range map[string]string{
		"if: links_up < 18, says: x":                    "",
		"if: links_high < 18, says: x":                  "links_high",
		"if: host.gpu < 18, says: x":                    "host.gpu",
		"if: median(peers.product) < 1, says: x":        "peers.product",
		`if: product < 1, says: x`:                      "invalid operation",
		`if: links_up < 1, says: "{links_up"`:           "without }",
		`if: links_up < 1, says: x, effect: earthquake`: "earthquake",
	} {
		_, err := readBook("r.yaml", []byte("schema: railyard.rules/v1\nmachines: [{gpu: x, gpus: 1, topology: y}]\nrules:\n"+
			"  - {name: r, of: gpu, "+rule+", level: slow, why: x, do: x, source: x}\n"))
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "r.yaml:4: ")) {
			t.Errorf("%s: %v", rule, err)
		}
	}
}
