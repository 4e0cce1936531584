package main

import (
	"bytes"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestCapacityDocumentsMatchTheirSchemas: docs/*.schema.json describe every member.
func TestCapacityDocumentsMatchTheirSchemas(t *testing.T) {
	for _, c := range []struct {
		schema string
		args   []string
	}{
		{"step", []string{"capacity", "step", "-t", "superpod-h100", "--nodes", "2", "-w", "llama-3-8b", "--layout", "dp2 tp4 pp2 zero1 mb1 gb8 sp"}},
		{"step", []string{"capacity", "step", "-t", "dgx-a100", "-w", "resnet-50", "--fix", "zero=0,micro-batch=32"}},
		{"search", []string{"capacity", "step", "--top", "10", "-t", "dgx-h100", "-w", "llama-3-8b", "--fix", "global-batch=16,zero=1"}},
	} {
		var out bytes.Buffer
		root := newRoot()
		root.SetArgs(append(c.args, "--format", "json"))
		root.SetOut(&out)
		root.SetErr(&bytes.Buffer{})
		if err := root.ExecuteContext(t.Context()); err != nil {
			t.Errorf("%v: %v", c.args, err)
			continue
		}
		schema, err := jsonschema.NewCompiler().Compile("../../docs/" + c.schema + ".schema.json")
		if err != nil {
			t.Fatal(err)
		}
		document, err := jsonschema.UnmarshalJSON(&out)
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(document); err != nil {
			t.Errorf("%v: %v", c.args, err)
		}
	}
}
