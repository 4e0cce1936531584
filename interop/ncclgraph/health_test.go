package ncclgraph

import (
	"os"
	"testing"

	"railyard/model/health"
)

// TestReadHealth: what channels carry together, between nodes where they have adapters at their ends.
func TestReadHealth(t *testing.T) {
	for file, want := range map[string]map[string]any{
		"ring-all_reduce-1x8.xml":               {"inside": nil, "way": "NVL"},
		"simple_ring-all_reduce-2x8.xml":        {"between": nil, "way_between": "PXN"},
		"double_binary_tree-all_reduce-1x8.xml": {"inside": nil},
	} {
		data, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		s := new(health.State)
		if err := ReadHealth(s, file, data); !Is(data) || err != nil {
			t.Fatal(err)
		}
		parts := s.Parts(health.Graph)
		if len(parts) != 1 {
			t.Fatalf("%s: %v", file, parts)
		}
		p := parts[0]
		for fact, is := range want {
			v, known := p.Fact(fact)
			if !known || is != nil && v.Is != is || is == nil && (v.Is.(float64) < p.Number("channels") || p.Number("channels") < 1) {
				t.Errorf("%s: %s %v", file, fact, v.Is)
			}
		}
		if _, several := p.Fact("between"); several != (want["way_between"] != nil) {
			t.Errorf("%s: between nodes %v", file, several)
		}
	}
}
