package workload

import (
	"cmp"
	_ "embed" // frameworks.yaml
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"railyard/model/gpu"
	"railyard/model/yamlfile"
)

// Framework is the software that runs a training step: what it takes besides the kernels and
// the communication that are predicted one by one.
type Framework struct {
	Name     string `file:",key"`
	Title    string `file:"title,need"`
	Overhead Shares `file:"overhead,lo=0,hi=100"` // of the computation, comes on top of it
	// OverheadFP8 is the same where products are in FP8: conversions, amax and scales besides.
	OverheadFP8 Shares `file:"overhead_fp8,lo=0,hi=100"`
	Attention   Shares `file:"attention,lo=0,hi=100"` // of attention, comes on top of the measured kernel
	StopsEarly  bool   `file:"stops_early"`           // recomputation ends with the last tensor that is needed
	// Operators says that selective recomputation keeps attention and every second product of a layer, and nothing else.
	Operators bool `file:"selective_operators"`
	Modules   bool `file:"selective_modules"` // selective recomputation repeats norms and activations as well
	// Separate says that biases, dropout, masks and scales of attention, and transposes are kernels of their own.
	Separate bool `file:"separate_kernels"`
	// ExpertOperators says that what experts add to products and gated activations (biases, clamps) are PyTorch's operators one by one.
	ExpertOperators bool `file:"expert_operators"`
	PlainLoss       bool `file:"plain_loss"`               // the loss keeps logits and their gradients in 16 bits and in FP32
	TensorPieces    int  `file:"tensor_pieces,lo=2,hi=64"` // that the tensor axis exchanges beside products; 0: before and after them
	ContextRing     bool `file:"context_ring"`             // keys and values go round the context axis beside attention
	// ExpertOverlap is the share of the tokens' exchange that is hidden where it goes on beside another micro-batch; 0: all.
	ExpertOverlap float64 `file:"expert_overlap,lo=0,hi=1"`
	ExpertLaunch  Shares  `file:"expert_launch_us,lo=0,hi=1e6"` // microseconds for each product of each local expert, on the host
	// SharesOf is another framework whose shares it has; "": its own.
	SharesOf string `file:"shares_of"`
	Source   string `file:"source,need"`
	Date     string `file:"date,date"`
}

// Shares are shares by GPU.
type Shares map[gpuName]float64

// gpuName names a shipped GPU.
type gpuName string

// Choices are all of them.
func (gpuName) Choices() []string { return gpu.Names() }

//go:embed frameworks.yaml
var frameworksFile []byte

var frameworks = sync.OnceValue(func() map[string]*Framework {
	var file struct {
		List map[string]*Framework `file:"frameworks,each=framework"`
	}
	format := yamlfile.Format{Schema: "railyard.frameworks/v1", Noun: "list of frameworks"}
	if err := format.Read("frameworks.yaml", frameworksFile, &file); err != nil {
		panic(err) // a test reads the file
	}
	for _, f := range file.List {
		if of := file.List[f.SharesOf]; of != nil {
			f.Overhead, f.OverheadFP8, f.Attention = of.Overhead, of.OverheadFP8, of.Attention
		}
	}
	return file.List
})

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
func (s Shares) On(g *gpu.GPU) float64 { return s[s.nearest(g)] }

// nearest is the measured GPU whose peak rate is nearest, "" where none was measured.
func (s Shares) nearest(g *gpu.GPU) (name gpuName) {
	near := math.Inf(1)
	for _, n := range slices.Sorted(maps.Keys(s)) {
		known, err := gpu.Get(string(n))
		if err != nil {
			continue // the file's test knows all
		}
		if d := math.Abs(math.Log(known.Peak[gpu.FP16] / g.Peak[gpu.FP16])); d < near {
			name, near = n, d
		}
	}
	return name
}

// Assumes says which numbers of a step with experts were found elsewhere and are taken for it: all of frameworks.yaml, which has their
// sources.
func (f *Framework) Assumes(m *Transformer, g *gpu.GPU) (out []string) {
	if m == nil || m.Experts == 0 {
		return nil
	}
	if us := f.ExpertLaunch.On(g); us > 0 {
		out = append(out, fmt.Sprintf("assumed: the host launches a product of an expert in %g us, fitted on published steps with %s",
			us, f.ExpertLaunch.nearest(g)))
	}
	if m.Overlapped && f.ExpertOverlap > 0 {
		out = append(out, fmt.Sprintf("assumed: %.1f %% of the tokens' exchange is hidden behind another micro-batch, as others have "+
			"profiled one model", 100*f.ExpertOverlap))
	}
	return out
}

// OverheadOn is the overhead on a GPU whose products are in a precision.
func (f *Framework) OverheadOn(g *gpu.GPU, p gpu.Precision) float64 {
	shares, _ := f.overhead(p)
	return shares.On(g)
}

// ShareOn names what OverheadOn takes: a framework of frameworks.yaml, its key and the GPU there.
func (f *Framework) ShareOn(g *gpu.GPU, p gpu.Precision) Share {
	shares, key := f.overhead(p)
	return Share{cmp.Or(f.SharesOf, f.Name), key, string(shares.nearest(g))}
}

// Share is the place of a number in frameworks.yaml.
type Share struct{ Framework, Key, GPU string }

// launches is the key of what the host takes for each product of each local expert, known to LaunchStep microseconds.
const (
	launches   = "expert_launch_us"
	LaunchStep = 5.0
)

func (f *Framework) overhead(p gpu.Precision) (shares Shares, key string) {
	if p == gpu.FP8 && f.OverheadFP8 != nil {
		return f.OverheadFP8, "overhead_fp8"
	}
	return f.Overhead, "overhead"
}

// String names the place in words.
func (s Share) String() string {
	if s.GPU == "" {
		return ""
	}
	return s.Framework + " " + s.Key + " " + s.GPU
}

// ParseShare reads what String writes.
func ParseShare(text string) (s Share) {
	parts := append(strings.Fields(text), "", "", "")
	return Share{parts[0], parts[1], parts[2]}
}

// Value is the number; ok is false where there is none.
func (s Share) Value() (v float64, ok bool) {
	v, ok = s.of()[gpuName(s.GPU)]
	return v, ok
}

func (s Share) of() Shares {
	f := frameworks()[s.Framework]
	switch {
	case f == nil:
		return nil
	case s.Key == "overhead_fp8":
		return f.OverheadFP8
	case s.Key == "attention":
		return f.Attention
	case s.Key == launches:
		return f.ExpertLaunch
	}
	return f.Overhead
}

// Launches are what the host takes beside each GPU, in the first framework that has it.
func Launches() (out []Share) {
	seen := map[gpuName]bool{}
	for _, name := range FrameworkNames() {
		for _, g := range slices.Sorted(maps.Keys(frameworks()[name].ExpertLaunch)) {
			if !seen[g] {
				seen[g], out = true, append(out, Share{name, launches, string(g)})
			}
		}
	}
	return out
}

// Places are where the file has what is fitted as one: an overhead and what attention takes on that GPU; launches, which take the
// host beside a GPU as long whatever the framework.
func (s Share) Places() (out []Share) {
	switch s.Key {
	case "overhead":
		return []Share{s, {s.Framework, "attention", s.GPU}}
	case launches:
		for _, name := range FrameworkNames() {
			out = append(out, Share{name, launches, s.GPU})
		}
		return out
	}
	return []Share{s}
}

// Scale multiplies the number, rounded to half a hundredth, of launches to LaunchStep, wherever it stands; it reports whether that
// changed anything.
func (s Share) Scale(factor float64) (changed bool) {
	unit := 200.0
	if s.Key == launches {
		unit = 1 / LaunchStep
	}
	for _, place := range s.Places() {
		if before, ok := place.Value(); ok {
			after := math.Round(unit*factor*before) / unit
			place.of()[gpuName(s.GPU)] = after
			changed = changed || after != before
		}
	}
	return changed
}

// String says what it is.
func (f *Framework) String() string { return fmt.Sprintf("%s (%s)", f.Name, f.Title) }
