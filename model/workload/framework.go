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
	Overhead     Shares     // of the computation, comes on top of it
	OverheadFP8  Shares     // the same where products are in FP8: conversions, amax and scales besides
	Attention    Shares     // of attention, comes on top of the measured kernel
	StopsEarly   bool       // recomputation ends with the last tensor that is needed
	Operators    bool       // selective recomputation keeps attention and every second product of a layer, and nothing else
	Modules      bool       // selective recomputation repeats norms and activations as well
	PlainLoss    bool       // the loss keeps logits and their gradients in 16 bits and in FP32
	TensorPieces int        // the tensor axis exchanges this many pieces beside products; 0: before and after them
	ContextRing  bool       // keys and values go round the context axis beside attention
	ExpertPass   units.Time // a forward pass of an expert layer on the host: routing, permutation, waiting for counts
	ExpertLaunch units.Time // each product of each local expert
	Source, Date string
}

// Shares are shares by GPU.
type Shares map[string]float64

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
	f := &Framework{Name: name, Title: o.Text("title", true),
		StopsEarly: o.Boolean("stops_early", false), Operators: o.Boolean("selective_operators", false),
		TensorPieces: o.Integer("tensor_pieces", 0, 2, 64), ContextRing: o.Boolean("context_ring", false),
		PlainLoss: o.Boolean("plain_loss", false), Modules: o.Boolean("selective_modules", false)}
	if o.Has("expert_pass") {
		f.ExpertPass, f.ExpertLaunch = o.Duration("expert_pass", units.Second), o.Duration("expert_launch", units.Second)
	}
	f.Overhead, f.OverheadFP8, f.Attention = decodeShares(o, "overhead"), decodeShares(o, "overhead_fp8"), decodeShares(o, "attention")
	f.Source, f.Date = o.Provenance()
	o.Done()
	return f
}

// decodeShares reads shares by GPU, none where the key is missing.
func decodeShares(o *yamlfile.Object, key string) Shares {
	n := o.Value(key)
	if n == nil {
		return nil
	}
	by, out := yamlfile.NewObject(o.Diagnostics, n, o.What+" "+key), Shares{}
	for _, name := range gpu.Names() {
		if by.Has(name) {
			out[name] = optional(by, name)
		}
	}
	by.Done()
	return out
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

// On is the share on a GPU: that of the measured GPU whose peak rate is nearest.
func (s Shares) On(g *gpu.GPU) float64 {
	share, near := 0.0, math.Inf(1)
	for _, name := range slices.Sorted(maps.Keys(s)) {
		known, err := gpu.Get(name)
		if err != nil {
			continue // the file's test knows all
		}
		if d := math.Abs(math.Log(known.Peak[gpu.FP16] / g.Peak[gpu.FP16])); d < near {
			share, near = s[name], d
		}
	}
	return share
}

// OverheadOn is the overhead on a GPU whose products are in a precision.
func (f *Framework) OverheadOn(g *gpu.GPU, p gpu.Precision) float64 {
	if p == gpu.FP8 && f.OverheadFP8 != nil {
		return f.OverheadFP8.On(g)
	}
	return f.Overhead.On(g)
}

// checkFramework reports an unknown name.
func checkFramework(o *yamlfile.Object, name string) {
	if name != "" && frameworks()[name] == nil {
		o.AddAt(o.Where("framework"), "%s: framework %q is not one of %s", o.What, name, strings.Join(FrameworkNames(), ", "))
	}
}

// String says what it is.
func (f *Framework) String() string { return fmt.Sprintf("%s (%s)", f.Name, f.Title) }
