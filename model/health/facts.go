package health

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"railyard/model/yamlfile"
)

// Kind is a kind of part.
type Kind string

// The kinds of parts, with how parts of each are called.
const (
	Host     Kind = "host"     // "", the one
	GPU      Kind = "gpu"      // by the driver's number: "0"
	NVLink   Kind = "nvlink"   // GPU and port: "0/17"
	NIC      Kind = "nic"      // as the system calls it: "mlx5_0"
	Path     Kind = "way"      // from a GPU to an adapter: "0/mlx5_0"
	PCI      Kind = "pci"      // by its address as sysfs writes it: "0000:1b:00.0"
	Variable Kind = "variable" // of the environment: "NCCL_P2P_DISABLE"
	Process  Kind = "process"  // that computes on GPUs, by its number: "4711"
	Graph    Kind = "graph"    // of channels that NCCL found: "ring", "tree"
)

// Kinds are all of them.
var Kinds = []Kind{Host, GPU, NVLink, NIC, Path, PCI, Variable, Process, Graph}

// Choices are their names.
func (Kind) Choices() []string { return yamlfile.Words(Kinds...) }

// Plural is how several parts of the kind are called.
func (k Kind) Plural() string {
	return map[Kind]string{Host: "the host", GPU: "GPUs", NVLink: "NVLinks", NIC: "adapters", Path: "paths to adapters", PCI: "PCI devices",
		Variable: "variables", Process: "processes", Graph: "NCCL's graphs"}[k]
}

// Type is what a fact is.
type Type string

// The types of facts: float64, string and bool.
const (
	Number Type = "number"
	Text   Type = "text"
	YesNo  Type = "yesno"
)

// Choices are their names.
func (Type) Choices() []string { return yamlfile.Words(Number, Text, YesNo) }

// Fact is something that can be known of parts of a kind.
type Fact struct {
	Of    Kind   `file:"of,need"`
	Name  string `file:"name,need,names"`
	Type  Type   `file:"type,default=number"`
	Unit  string `file:"unit"`  // of a number; "": a count
	Moves bool   `file:"moves"` // changes while the machine works: that sources differ is no contradiction
	// Identity: no two machines have the same, so that sources which differ are of different ones.
	Identity bool `file:"identity"`
	// Counter: it only grows, until it is cleared; Wraps is what it begins anew at, in its unit, 0 where that is never reached.
	Counter bool    `file:"counter"`
	Wraps   float64 `file:"wraps,lo=0"`
	Means   string  `file:"means,need"`
}

//go:embed facts.yaml
var factsFile []byte

type catalogue struct {
	Facts []Fact `file:"facts,some,each=fact,lines"`
}

var known = sync.OnceValue(func() map[factKey]Fact {
	format := yamlfile.Format{Schema: "railyard.facts/v1", Noun: "list of facts"}
	c, err := yamlfile.Library[catalogue]{Format: format}.Read("facts.yaml", factsFile)
	if err != nil {
		panic(err)
	}
	out := map[factKey]Fact{}
	for _, f := range c.Facts {
		if _, twice := out[factKey{f.Of, f.Name}]; twice {
			panic(fmt.Sprintf("facts.yaml: %s of %s appears twice", f.Name, f.Of))
		}
		out[factKey{f.Of, f.Name}] = f
	}
	return out
})

type factKey struct {
	of   Kind
	name string
}

// FactOf is what can be known of parts of a kind under a name.
func FactOf(k Kind, name string) (Fact, bool) {
	f, ok := known()[factKey{k, name}]
	return f, ok
}

// FactsOf are all that can be known of parts of a kind, by name.
func FactsOf(k Kind) []Fact {
	var out []Fact
	for key, f := range known() {
		if key.of == k {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b Fact) int { return strings.Compare(a.Name, b.Name) })
	return out
}
