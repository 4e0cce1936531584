package nccl

import (
	"strings"
	"testing"

	"railyard/model/collective"
)

// TestAllowed: values as NCCL reads them, for all collectives or for one; what it refuses leaves nothing.
func TestAllowed(t *testing.T) {
	for value, want := range map[string]string{
		"Ring":                            "Ring",
		"ring,TREE":                       "Tree Ring",
		"^Tree,nvls":                      "Ring CollNetDirect CollNetChain NVLSTree PAT",
		"allreduce:Tree":                  "Tree",
		"allgather:Ring":                  strings.Join(algoNames[:], " "),
		"Ring;allreduce:^Ring,PAT":        "Tree CollNetDirect CollNetChain NVLS NVLSTree",
		"AllReduce:tree;broadcast:ring":   "Tree",
		"rings":                           "-",
		"":                                "-",
		"allreduce:tree;ring":             "-",
		"sendrecv:ring":                   "-",
		"allreduce:tree,;allgather:^ring": "-",
	} {
		got, ok := AllowedAlgorithms(value, collective.AllReduce)
		if text := strings.Join(got, " "); ok == (want == "-") || ok && text != want {
			t.Errorf("%q: %q, %v, want %q", value, text, ok, want)
		}
	}
	if got, ok := AllowedProtocols("^LL128", collective.AllReduce); !ok || strings.Join(got, " ") != "LL Simple" {
		t.Errorf("%q, %v", got, ok)
	}
}
