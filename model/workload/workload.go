// Package workload says what a training step has to compute, keep and communicate: a
// neural network as a sequence of blocks, each of which knows its parameters, its
// arithmetic, the activations that it keeps for the backward pass, and what one GPU does
// in it under a sharding.
//
// Formulae: parameters and FLOP of transformers from Narayanan et al. 2021 (arXiv
// 2104.04473, section 5 and appendix) extended to grouped heads, gated feed-forward
// networks and experts; activations from Korthikanti et al. 2022 (arXiv 2205.05198,
// section 4), counted tensor by tensor so that they hold for these as well; bytes of
// optimizer states from ZeRO (arXiv 1910.02054, section 3).
package workload

import (
	"railyard/model/collective"
	"railyard/model/gpu"
	"railyard/model/units"
	"railyard/model/yamlfile"
)

// Workload is a network with how it is trained.
type Workload struct {
	Name        string        `file:"name,need"`
	Description string        `file:"description"`
	Source      string        `file:"source,need"`
	Date        string        `file:"date,date"`
	Unit        string        `file:"unit"`                         // what throughput counts: tokens, images, …
	Precision   gpu.Precision `file:"precision,need"`               // of products; parameters and activations have at least 16 bits
	Reduced     gpu.Precision `file:"gradients,one=fp32|fp16|bf16"` // of gradients when they are accumulated and reduced; "": as parameters
	Optimizer   Optimizer     `file:"optimizer,need"`
	Framework   string        `file:"framework"` // "": the usual one
	// Eager has norms, rotary embeddings and gated activations by PyTorch's operators one by one, not compiled together.
	Eager       bool `file:"eager"`
	MicroBatch  int  `file:"micro_batch,default=1,lo=1,hi=16777216"`  // samples in a GPU's forward pass
	GlobalBatch int  `file:"global_batch,default=1,lo=1,hi=16777216"` // samples in a step
	// Transformer has dimensions so small that products of a few do not overflow a float's integers noticeably.
	Transformer *Transformer `file:"transformer,hi=16777216"`
	Table       []Row        `file:"layers,lo=0,hi=1e18"` // of a workload that is no transformer
}

// Optimizer is what updates the parameters.
type Optimizer string

// The optimizers.
const (
	Adam     Optimizer = "adam" // or AdamW: two moments
	LAMB     Optimizer = "lamb" // Adam's update, scaled for each layer by norms (arXiv 1904.00962, algorithm 2)
	Momentum Optimizer = "momentum"
	SGD      Optimizer = "sgd"
)

// Choices are their names.
func (Optimizer) Choices() []string { return yamlfile.Words(Adam, LAMB, Momentum, SGD) }

// Gradients is the size in bytes of a gradient when it is accumulated and reduced.
func (w *Workload) Gradients() int {
	if w.Reduced == "" {
		return w.ElementBytes()
	}
	return w.Reduced.Bytes()
}

// StateBytes are kept for a parameter besides itself and its gradient: FP32 moments, and
// an FP32 copy where parameters have fewer bits (ZeRO, section 3.1: K = 12 for Adam).
func (w *Workload) StateBytes() int {
	n := map[Optimizer]int{Adam: 8, LAMB: 8, Momentum: 4, SGD: 0}[w.Optimizer]
	if w.ElementBytes() < 4 {
		n += 4
	}
	return n
}

// ElementBytes is the size of a parameter or an activation in memory.
func (w *Workload) ElementBytes() int { return max(w.Precision.Bytes(), 2) }

// SampleUnits is how many units (tokens, images) a sample has.
func (w *Workload) SampleUnits() int {
	if w.Transformer != nil {
		return w.Transformer.Sequence
	}
	return 1
}

// Sharding is how blocks are cut over GPUs; its fields are at least 1.
type Sharding struct {
	Tensor, Context, Expert int
	Sequence                bool // norms and dropout are cut along the sequence, over the tensor group
	By                      *Framework
}

// Axis is a way in which work is divided over GPUs.
type Axis string

// The axes.
const (
	Data     Axis = "data"
	Tensor   Axis = "tensor"
	Context  Axis = "context"
	Expert   Axis = "expert"
	Pipeline Axis = "pipeline"
)

// Action is what a Step does.
type Action uint8

// The actions.
const (
	Product     Action = iota // Count products M×K by K×N
	Multiply                  // FLOP of unknown shape over Bytes
	Attend                    // fused attention: FLOP over Tokens
	Stream                    // Bytes through memory
	Communicate               // a collective of Size over Axis
	Wait                      // for all asynchronous communication
	Launch                    // the host starts to launch Count products of experts and the steps behind
	Launched                  // nothing behind it begins before the host has launched them
)

// Step is one thing that a GPU does in a block.
type Step struct {
	Name      string
	Do        Action
	M, N, K   float64
	Count     float64 // of products; of a collective, the share of it that is meant here, 0 is all
	FLOP      float64
	Bytes     float64    // of a Product: what it moves besides its operands
	Head      float64    // of attention: the size of a head
	Converts  float64    // elements of a Product's operand that have to be brought into its precision
	Wide      bool       // a Product in 16 bits where the others are in fewer
	Kernel    gpu.Kernel // of a Stream
	Flash     bool       // attention by FlashAttention-2
	Tokens    float64
	Backward  bool
	Axis      Axis
	Kind      collective.Kind
	Size      units.Bytes // as nccl-tests counts it
	Async     bool        // the GPU goes on computing
	Beside    bool        // all of its pass, and of another micro-batch's, hides it
	Routing   *Routing    // of an all-to-all of tokens
	ofWeights bool        // the product that makes their gradient
	activates bool        // with the activation, and again where that is computed again
	core      bool        // of the attention between its products: what selective recomputation repeats
}

// Time is how long a GPU computes; communication takes none here.
func (s *Step) Time(g *gpu.GPU, p gpu.Precision) units.Time {
	if s.Wide && p == gpu.FP8 {
		p = gpu.BF16
	}
	switch s.Do {
	case Product:
		return g.MatMul(p, s.M, s.N, s.K, s.Count, s.Bytes) + g.Convert(p, s.Converts)
	case Multiply:
		return g.Multiply(p, s.FLOP, s.Bytes)
	case Attend:
		return g.Attend(p, gpu.Attended{FLOP: s.FLOP, Bytes: s.Bytes, Tokens: s.Tokens, Head: s.Head, Backward: s.Backward, Flash: s.Flash})
	case Stream:
		return g.Stream(s.Kernel, s.Bytes)
	}
	return 0
}

// Recompute says which activations are computed again in the backward pass.
type Recompute string

// The choices (Korthikanti et al., section 4.2 and 5).
const (
	NoRecompute        Recompute = "none"
	SelectiveRecompute Recompute = "selective" // scores and softmax of attention
	FullRecompute      Recompute = "full"      // everything but a block's input
)

// Parameters are those of a block on one GPU; Experts' are divided over the expert axis. Where they
// are Frozen, Adapters of Dense are trained alone.
type Parameters struct {
	Dense, Expert float64
	Adapters      float64
	Frozen        bool
}

// Trained are those that have gradients and states.
func (p Parameters) Trained() Parameters {
	if p.Frozen {
		return Parameters{Dense: p.Adapters}
	}
	return p
}

// Total is their sum.
func (p Parameters) Total() float64 { return p.Dense + p.Expert }

// Block is a stretch of the network that is never divided between pipeline stages.
type Block interface {
	// Parameters are one GPU's.
	Parameters(Sharding) Parameters
	// FLOP are those of a sample's forward pass, each product counted once and attention
	// without the saving of causality, as published utilisations count.
	FLOP() float64
	// Forward and Backward are one GPU's steps for batch samples.
	Forward(s Sharding, batch float64) []Step
	Backward(s Sharding, batch float64) []Step
	// Activations are the bytes that one GPU keeps for the backward pass of batch samples.
	Activations(s Sharding, batch float64, r Recompute) float64
	// Boundary is the size in bytes of what batch samples hand to the next block, on one GPU.
	Boundary(s Sharding, batch float64) float64
}

// Blocks are the network from input to output; equal blocks are the same value.
func (w *Workload) Blocks() []Block {
	if w.Transformer == nil {
		return w.tableBlocks()
	}
	return w.transformerBlocks()
}

// ModelFLOP are those of a sample's forward and backward pass without recomputation: the
// backward pass costs twice the forward pass, as much where weights are frozen.
func (w *Workload) ModelFLOP() float64 {
	sum, passes := 0.0, 3.0
	if w.Transformer != nil && w.Transformer.Adapter > 0 {
		passes = 2
	}
	for _, b := range w.Blocks() {
		sum += passes * b.FLOP()
	}
	return sum
}

// Layers is the number of blocks that pipeline stages divide: without embedding and head.
func (w *Workload) Layers() int {
	if w.Transformer != nil {
		return w.Transformer.Layers
	}
	return len(w.Table)
}
