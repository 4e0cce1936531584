package main

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"railyard/internal/long"
	"railyard/report/table"
)

// documentCommands are questions whose answers are documents, by the name of their schema.
var documentCommands = []struct {
	schema string
	args   string
}{
	{"plan", "plan dgx-h100 -c all_reduce --why"},
	{"plan", "plan dgx-h100 --nodes 2 -c all_gather -s 1G --why"},
	{"plan", "plan dgx1-v100 -c all_gather -s 256M --profile ideal --fail link:gpu0--gpu3#1"},
	{"plan", "plan dgx1-v100 -c all_reduce --pareto"},
	{"simulate", "simulate dgx-h100 --nodes 2 -c all_reduce -s 64M --straggler exp:5us"},
	{"expect", "expect dgx-h100 -c all_reduce"},
	{"gate", "expect dgx-h100 --nodes 4 --gate table"},
	{"crossover", "plan --crossover dgx1-v100 dgx-h100 -c all_gather"},
	{"parts", "topo show superpod-h100 --nodes 8 --fail gpu:node0/gpu3 --slow nic:node1/nic2=0.5"},
	{"crossing", "topo show dgx-h100 --nodes 2 0 8 -s 1G"},
	{"cost", "capacity size superpod-h100 --nodes 32"},
	{"limits", "capacity what-if leaf-spine-roce --nodes 18 --job 16 -c all_reduce -s 64M"},
	{"what-if", "capacity what-if dgx-h100 --nodes 2 -c all_reduce -s 1M --fail nic:node1/nic3"},
	{"step", "capacity step superpod-h100 --nodes 2 -w llama-3-8b --layout dp2_tp4_pp2_zero1_mb1_gb8_sp"},
	{"step", "capacity step dgx-a100 -w resnet-50 --fix zero=0,micro-batch=32"},
	{"search", "capacity step --top 10 dgx-h100 -w llama-3-8b --fix global-batch=16,zero=1"},
}

// TestDocumentsOfCommands: each answer fits 120 columns in text, --why a screen, and matches its schema in docs as JSON; by default every
// other is asked for in text.
func TestDocumentsOfCommands(t *testing.T) {
	for i, c := range documentCommands {
		var args []string
		for _, a := range strings.Fields(c.args) {
			if strings.HasPrefix(a, "dp2_") {
				a = strings.ReplaceAll(a, "_", " ")
			}
			args = append(args, a)
		}
		text := ""
		if long.Given() || i%2 == 0 {
			text = answered(t, args)
		}
		for _, line := range strings.Split(text, "\n") {
			if n := utf8.RuneCountInString(line); n > table.Columns {
				t.Errorf("%s: a line of %d characters: %s", c.args, n, line)
			}
		}
		if n := strings.Count(text, "\n"); strings.Contains(c.args, "--why") && n > 50 {
			t.Errorf("%s: %d lines", c.args, n)
		}
		schema, err := jsonschema.NewCompiler().Compile("../../docs/" + c.schema + ".schema.json")
		if err != nil {
			t.Fatal(err)
		}
		document, err := jsonschema.UnmarshalJSON(strings.NewReader(answered(t, append(args, "--format", "json"))))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(document); err != nil {
			t.Errorf("%s: %v", c.args, err)
		}
	}
}

// answered is what a command prints.
func answered(t *testing.T, args []string) string {
	t.Helper()
	var out, warned bytes.Buffer
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(&out)
	root.SetErr(&warned)
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatalf("%v: %v %s", args, err, warned.String())
	}
	return out.String()
}
