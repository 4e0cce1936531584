package workload

import (
	_ "embed" // frameworks.yaml
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"railyard/model/gpu"
	"railyard/model/units"
	"railyard/model/yamlfile"
)

// Framework is the software that runs a training step: what it takes besides the kernels and
// the communication that are predicted one by one.
type Framework struct {
	Name, Title  string
	Overhead     map[string]float64 // by GPU: share of the computation that comes on top of it
	StopsEarly   bool               // recomputation ends with the last tensor that is needed
	ExpertPass   units.Time         // a forward pass of an expert layer on the host: routing, permutation, waiting for counts
	ExpertLaunch units.Time         // each product of each local expert
	Source, Date string
}

//go:embed frameworks.yaml
var frameworksFile []byte

var frameworks = sync.OnceValue(func() map[string]*Framework {
	d := &yamlfile.Diagnostics{File: "frameworks.yaml"}
	list := parseFrameworks(d, frameworksFile)
	if err := d.Err(); err != nil {
		panic(err) // a test reads the file
	}
	return list
})

func parseFrameworks(d *yamlfile.Diagnostics, data []byte) map[string]*Framework {
	format := yamlfile.Format{Schema: "railyard.frameworks/v1", Noun: "list of frameworks"}
	list := map[string]*Framework{}
	root := format.Parse(d, data)
	if root == nil {
		return list
	}
	o := yamlfile.NewObject(d, root, "list of frameworks")
	format.CheckSchema(o)
	o.Mapping("frameworks", func(name string, n *yaml.Node) { list[name] = decodeFramework(d, name, n) })
	o.Done()
	return list
}

func decodeFramework(d *yamlfile.Diagnostics, name string, n *yaml.Node) *Framework {
	o := yamlfile.NewObject(d, n, "framework "+name)
	f := &Framework{Name: name, Title: o.Text("title", true), Overhead: map[string]float64{},
		StopsEarly: o.Boolean("stops_early", false)}
	if o.Has("expert_pass") {
		f.ExpertPass, f.ExpertLaunch = o.Duration("expert_pass", units.Second), o.Duration("expert_launch", units.Second)
	}
	if n := o.Value("overhead"); n != nil {
		by := yamlfile.NewObject(d, n, o.What+" overhead")
		for _, name := range gpu.Names() {
			if by.Has(name) {
				f.Overhead[name] = optional(by, name)
			}
		}
		by.Done()
	}
	f.Source, f.Date = o.Provenance()
	o.Done()
	return f
}

// optional is a number that may be 0 or missing.
func optional(o *yamlfile.Object, key string) float64 {
	if text := o.Text(key, false); text == "" || text == "0" {
		return 0
	}
	return o.Number(key, 0)
}

// FrameworkNames are the known frameworks, sorted.
func FrameworkNames() []string { return slices.Sorted(maps.Keys(frameworks())) }

// RunBy is the workload's framework or, where it names none, the usual one: PyTorch's FSDP for
// parameters or gradients that are cut over replicas and PyTorch's own attention, else
// Megatron-Core.
func (w *Workload) RunBy(zero int) *Framework {
	name := w.Framework
	switch {
	case name != "":
	case w.Transformer == nil:
		name = "none"
	case zero >= 2 && w.Transformer.Flash:
		name = "fsdp"
	case !w.Transformer.Causal && !w.Transformer.Fused:
		name = "apex"
	default:
		name = "megatron-core"
	}
	return frameworks()[name]
}

// On is the overhead on a GPU: that of the measured GPU whose
// peak rate is nearest.
func (f *Framework) On(g *gpu.GPU) float64 {
	share, near := 0.0, math.Inf(1)
	for _, name := range slices.Sorted(maps.Keys(f.Overhead)) {
		known, err := gpu.Get(name)
		if err != nil {
			continue // the file's test knows all
		}
		if d := math.Abs(math.Log(known.Peak[gpu.FP16] / g.Peak[gpu.FP16])); d < near {
			share, near = f.Overhead[name], d
		}
	}
	return share
}

// checkFramework reports an unknown name.
func checkFramework(o *yamlfile.Object, name string) {
	if name != "" && frameworks()[name] == nil {
		o.AddAt(o.Where("framework"), "%s: framework %q is not one of %s", o.What, name, strings.Join(FrameworkNames(), ", "))
	}
}

// String says what it is.
func (f *Framework) String() string { return fmt.Sprintf("%s (%s)", f.Name, f.Title) }
