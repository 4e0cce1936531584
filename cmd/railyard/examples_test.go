package main

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"railyard/model/topology"
	"railyard/report"
	"railyard/report/table"
	"railyard/topologies"
)

var (
	layoutOfPage = regexp.MustCompile(`Layout ([^,]+), the best of`)
	hashOfPage   = regexp.MustCompile(`topology ([a-z0-9-]+), ([0-9a-f]{16})`)
)

// TestExamplesAreCurrent: what the finished reports say of a step, and of which machine,
// is what is predicted now. .ci/examples makes them whole and compares; that takes minutes.
func TestExamplesAreCurrent(t *testing.T) {
	commands, err := os.ReadFile("../../docs/examples/make")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		page  string
		nodes int
		step  []string // the question without its layout, as docs/examples/make has it; none: the page has no step
	}{
		{"dgx-generations", 0, []string{"-t", "dgx-h100", "-w", "gpt-2-1.5b", "--workload-set", "precision=fp16"}},
		{"superpod-405b", 256, []string{"-t", "superpod-h100", "--nodes", "256", "-w", "llama-3-405b"}},
		{"h200-validation", 0, nil},
	} {
		text, err := os.ReadFile("../../docs/examples/" + c.page + ".html")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(commands), "report "+strings.Join(c.step, " ")) {
			t.Errorf("%s: docs/examples/make asks something else than %v", c.page, c.step)
		}
		m := hashOfPage.FindSubmatch(text)
		if m == nil {
			t.Errorf("%s: its footer names no topology", c.page)
			continue
		}
		top, err := topology.Load(topologies.Source, string(m[1]), topology.Options{Nodes: c.nodes})
		if err != nil || !strings.HasPrefix(top.Hash(), string(m[2])) {
			t.Errorf("%s: %s is another machine now (%v): run sh docs/examples/make", c.page, m[1], err)
		}
		if c.step != nil {
			checkStep(t, c.page, text, c.step)
		}
	}
}

// checkStep predicts the page's layout and looks for the figures.
func checkStep(t *testing.T, name string, text []byte, args []string) {
	t.Helper()
	layout := layoutOfPage.FindSubmatch(text)
	if layout == nil {
		t.Errorf("%s names no layout", name)
		return
	}
	var out bytes.Buffer
	root := newRoot()
	root.SetArgs(append([]string{"capacity", "step", "--format", "json", "--layout", string(layout[1])}, args...))
	root.SetOut(&out)
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	var d report.StepDocument
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	want := "A step takes " + table.Milliseconds(d.StepMS) + " (" + table.Rate(d.UnitsPerSecond)
	if !strings.Contains(string(text), want) {
		t.Errorf("%s does not say %q: run sh docs/examples/make", name, want)
	}
}
