package workload

import "railyard/model/gpu"

// Transformer are the dimensions of one. Sizes are counts of elements.
type Transformer struct {
	Layers     int  `file:"layers,need,default=1,lo=1,hi=16384"`
	Hidden     int  `file:"hidden,need,default=1,lo=1"`
	Heads      int  `file:"heads,need,default=1,lo=1"`
	KVHeads    int  `file:"kv_heads,lo=1"` // as many as heads where none is given
	HeadDim    int  `file:"head_dim,lo=1"` // hidden/heads where none is given
	FFN        int  `file:"ffn,lo=1"`      // 4·hidden where none is given
	Gated      bool `file:"gated"`         // SwiGLU: three matrices instead of two
	Vocabulary int  `file:"vocabulary,need,default=1,lo=1"`
	Sequence   int  `file:"sequence,need,default=1,lo=1"`
	Positions  int  `file:"positions"` // learned position (and segment) embeddings; 0: rotary
	Tied       bool `file:"tied"`      // input and output embedding are one matrix
	Bias       bool `file:"bias"`
	Clamped    bool `file:"clamped"`  // both inputs of a gated activation are clamped before it
	RMSNorm    bool `file:"rms_norm"` // no mean and no bias
	Causal     bool `file:"causal,default=true"`
	Dropout    bool `file:"dropout"`
	Fused      bool `file:"fused_attention,default=true"` // scores never reach memory
	Flash      bool `file:"flash_attention_2"`            // by FlashAttention-2, not the fastest kernel of the GPU
	Window     int  `file:"window"`                       // tokens that a token attends to; 0: all before it
	FullEvery  int  `file:"full_every"`                   // of so many layers the last one has no window; 0: none of them
	// Adapter is the rank of the adapters that are trained instead of the weights (LoRA, arXiv 2106.09685); 0: weights are.
	Adapter int `file:"lora_rank"`
	// Predicted are further tokens that a module of a layer each predicts (DeepSeek-V3, section 2.2).
	Predicted int `file:"predicted_tokens,hi=16"`
	// Masked is how many tokens of a sequence have logits, where only masked ones do (arXiv 1810.04805, section 3.1: 15 %); 0: all.
	Masked int `file:"masked_tokens,lo=1"`

	Routing
	SharedExperts int           `file:"shared_experts"`
	ExpertFFN     int           `file:"expert_ffn,lo=1"`            // FFN where none is given
	DenseLayers   int           `file:"dense_layers"`               // first layers, which have FFN and no experts
	Dispatch      gpu.Precision `file:"dispatch,one=bf16|fp16|fp8"` // of tokens on their way to experts; "": as activations

	// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434); 0: ordinary heads.
	QueryRank int `file:"query_rank"`
	KVRank    int `file:"kv_rank"`
	RopeDim   int `file:"rope_dim"`
	ValueDim  int `file:"value_dim"`
}

// queries, keys and values are the widths of all heads together.
func (m *Transformer) queries() float64 { return float64(m.Heads * (m.HeadDim + m.RopeDim)) }

func (m *Transformer) values() float64 {
	if m.KVRank > 0 {
		return float64(m.Heads * m.ValueDim)
	}
	return float64(m.Heads * m.HeadDim)
}

// head is the size of one: half of what a score and its share of the result multiply.
func (m *Transformer) head() float64 { return (m.queries() + m.values()) / float64(2*m.Heads) }

// predictions is the share of tokens that have logits.
func (m *Transformer) predictions() float64 {
	if m.Masked == 0 {
		return 1
	}
	return float64(m.Masked) / float64(m.Sequence)
}

// localKV is how many key heads a GPU has: groups smaller than the tensor axis are copied.
func (m *Transformer) localKV(tensor int) float64 {
	return float64(max(m.KVHeads/tensor, 1))
}

// norm is the number of parameters of a normalisation.
func (m *Transformer) norm() float64 {
	if m.RMSNorm {
		return float64(m.Hidden)
	}
	return 2 * float64(m.Hidden)
}

// attentionParameters are a layer's.
func (m *Transformer) attentionParameters(tensor int) float64 {
	h, t := float64(m.Hidden), float64(tensor)
	if m.KVRank > 0 {
		q, kv := float64(m.QueryRank), float64(m.KVRank)
		down := h*q + h*(kv+float64(m.RopeDim)) + q + kv // not cut
		up := q*m.queries() + kv*float64(m.Heads*(m.HeadDim+m.ValueDim)) + m.values()*h
		return down + up/t
	}
	local := m.queries()/t + 2*m.localKV(tensor)*float64(m.HeadDim)
	n := h*local + m.values()/t*h
	if m.Bias {
		n += local + h
	}
	return n
}

// widened is what the first product of a feed-forward network of width f makes.
func (m *Transformer) widened(f float64) float64 {
	if m.Gated {
		return 2 * f
	}
	return f
}

// ffnParameters are those of one feed-forward network of width f.
func (m *Transformer) ffnParameters(f, tensor float64) float64 {
	h := float64(m.Hidden)
	n := 2 * h * f
	if m.Gated {
		n = 3 * h * f
	}
	n /= tensor
	if m.Bias {
		n += m.widened(f)/tensor + h
	}
	return n
}

func (w *Workload) transformerBlocks() []Block {
	m := w.Transformer
	kinds := map[layer]*layer{} // equal ones are the same value
	out := []Block{&embedding{w: w, m: m}}
	for i := range m.Layers + m.Predicted {
		x := layer{w: w, m: m, experts: m.Experts > 0 && i >= m.DenseLayers,
			window: m.Window > 0 && (m.FullEvery == 0 || (i+1)%m.FullEvery != 0), predicts: i >= m.Layers}
		if kinds[x] == nil {
			kinds[x] = &x
		}
		out = append(out, kinds[x])
	}
	return append(out, &head{w: w, m: m})
}
