package workload

import (
	"fmt"
	"math"
	"slices"

	"gopkg.in/yaml.v3"

	"railyard/model/gpu"
	"railyard/model/yamlfile"
)

// Schema is the version of the file format; docs/workload-format.md describes it.
const Schema = "railyard.workload/v1"

// maxCount bounds every dimension, so that no product of a few overflows a float's
// integers noticeably.
const maxCount = 1 << 24

var format = yamlfile.Format{Schema: Schema, Noun: "workload", Repeat: "repeat: N"}

// Parse reads a workload, with values changed as by Get. Mistakes come back as
// yamlfile.Errors with file and line.
func Parse(file string, data []byte, set ...string) (*Workload, error) {
	d := &yamlfile.Diagnostics{File: file}
	root := format.Parse(d, data)
	if root == nil {
		return nil, d.Err()
	}
	for _, s := range set {
		if err := format.Set(root, s); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	w := decode(d, root)
	if err := d.Err(); err != nil {
		return nil, err
	}
	return w, nil
}

func decode(d *yamlfile.Diagnostics, root *yaml.Node) *Workload {
	o := yamlfile.NewObject(d, root, "workload")
	format.CheckSchema(o)
	w := &Workload{Name: o.Text("name", true), Description: o.Text("description", false), Unit: o.Text("unit", false)}
	w.Source, w.Date = o.Provenance()
	w.Precision = choice(o, "precision", "", gpu.Precisions()...)
	w.Gradients = choice(o, "gradients", gpu.Precision(""), gpu.FP32, gpu.FP16, gpu.BF16).Bytes()
	if !o.Has("gradients") {
		w.Gradients = w.ElementBytes()
	}
	w.Optimizer = choice(o, "optimizer", "", Adam, Momentum, SGD)
	w.Framework = o.Text("framework", false)
	checkFramework(o, w.Framework)
	w.Eager = o.Boolean("eager", false)
	w.MicroBatch, w.GlobalBatch = o.Integer("micro_batch", 1, 1, maxCount), o.Integer("global_batch", 1, 1, maxCount)
	if w.GlobalBatch%w.MicroBatch != 0 {
		d.AddAt(o.Where("global_batch"), "global_batch %d is not a multiple of micro_batch %d", w.GlobalBatch, w.MicroBatch)
	}
	if n := o.Value("transformer"); n != nil {
		w.Transformer = decodeTransformer(d, n)
	}
	o.List("layers", func(i int, n *yaml.Node) { w.Table = append(w.Table, decodeRows(d, i, n)...) })
	if (w.Transformer != nil) == (len(w.Table) > 0) {
		d.AddAt(yamlfile.At(root), "give either transformer or layers")
	}
	if w.Unit == "" {
		w.Unit = map[bool]string{true: "tokens", false: "samples"}[w.Transformer != nil]
	}
	o.Done()
	return w
}

// choice reads one of several words; the first one is missing's place in a message.
func choice[T ~string](o *yamlfile.Object, key string, missing T, words ...T) T {
	text := T(o.Text(key, missing == "" && key != "gradients"))
	if text != "" && !slices.Contains(words, text) {
		o.AddAt(o.Where(key), "%s: %s must be one of %v, not %q", o.What, key, words, text)
	}
	if !slices.Contains(words, text) {
		return words[0]
	}
	return text
}

func decodeTransformer(d *yamlfile.Diagnostics, n *yaml.Node) *Transformer {
	o := yamlfile.NewObject(d, n, "transformer")
	count := func(key string, def int) int { return o.Integer(key, def, 1, maxCount) }
	need := func(key string) int {
		if !o.Has(key) {
			o.AddAt(o.Where(key), "transformer: %q is missing", key)
		}
		return count(key, 1)
	}
	m := &Transformer{Layers: o.Integer("layers", 1, 1, 1<<14), Hidden: need("hidden"), Heads: need("heads"),
		Vocabulary: need("vocabulary"), Sequence: need("sequence")}
	if !o.Has("layers") {
		o.AddAt(o.Where("layers"), `transformer: "layers" is missing`)
	}
	m.FFN = count("ffn", 4*m.Hidden)
	m.KVHeads, m.Positions = count("kv_heads", m.Heads), o.Integer("positions", 0, 0, maxCount)
	m.HeadDim = count("head_dim", max(m.Hidden/m.Heads, 1))
	m.Gated, m.Tied, m.Bias = o.Boolean("gated", false), o.Boolean("tied", false), o.Boolean("bias", false)
	m.RMSNorm, m.Causal = o.Boolean("rms_norm", false), o.Boolean("causal", true)
	m.Dropout, m.Fused = o.Boolean("dropout", false), o.Boolean("fused_attention", true)
	m.Flash = o.Boolean("flash_attention_2", false)
	m.Window, m.FullEvery = o.Integer("window", 0, 0, maxCount), o.Integer("full_every", 0, 0, maxCount)
	m.Adapter = o.Integer("lora_rank", 0, 0, maxCount)
	m.Predicted = o.Integer("predicted_tokens", 0, 0, 16)
	m.Experts, m.TopK = o.Integer("experts", 0, 0, maxCount), o.Integer("top_k", 0, 0, maxCount)
	m.SharedExperts, m.ExpertFFN = o.Integer("shared_experts", 0, 0, maxCount), count("expert_ffn", m.FFN)
	m.DenseLayers = o.Integer("dense_layers", 0, 0, maxCount)
	if o.Has("dispatch") {
		m.Dispatch = choice(o, "dispatch", gpu.Precision("-"), gpu.BF16, gpu.FP16, gpu.FP8)
	}
	m.routing = Routing{m.Experts, m.TopK, o.Integer("node_limit", 0, 0, maxCount), o.Boolean("overlap_experts", false)}
	m.QueryRank, m.KVRank = o.Integer("query_rank", 0, 0, maxCount), o.Integer("kv_rank", 0, 0, maxCount)
	m.RopeDim, m.ValueDim = o.Integer("rope_dim", 0, 0, maxCount), o.Integer("value_dim", 0, 0, maxCount)
	m.check(o)
	o.Done()
	return m
}

// check reports dimensions that do not go together.
func (m *Transformer) check(o *yamlfile.Object) {
	latent := m.KVRank > 0
	rules := []struct {
		key  string
		bad  bool
		what string
	}{
		{"heads", !o.Has("head_dim") && m.Hidden > 1 && m.Hidden%m.Heads != 0,
			fmt.Sprintf("hidden %d is not a multiple of heads %d: change one, or give head_dim", m.Hidden, m.Heads)},
		{"kv_heads", m.Heads%m.KVHeads != 0, fmt.Sprintf("heads %d is not a multiple of kv_heads %d", m.Heads, m.KVHeads)},
		{"top_k", m.Experts > 0 && (m.TopK < 1 || m.TopK > m.Experts), fmt.Sprintf("top_k must be from 1 to experts (%d), not %d",
			m.Experts, m.TopK)},
		{"flash_attention_2", m.Flash && !m.Fused, "flash_attention_2 needs fused_attention: true"},
		{"window", m.Window > 0 && !m.Fused, "window needs fused_attention: true"},
		{"full_every", m.FullEvery > 0 && m.Window == 0, "full_every goes with window"},
		{"lora_rank", m.Adapter > 0 && (m.Experts > 0 || m.Predicted > 0), "lora_rank does not go with experts or predicted_tokens"},
		{"experts", m.Experts == 0 && (m.TopK > 0 || m.SharedExperts > 0 || o.Has("expert_ffn") || m.DenseLayers > 0),
			"top_k, shared_experts, expert_ffn and dense_layers go with experts"},
		{"dense_layers", m.DenseLayers > m.Layers, fmt.Sprintf("dense_layers %d are more than layers %d", m.DenseLayers, m.Layers)},
		{"kv_rank", latent != (m.QueryRank > 0) || latent != (m.RopeDim > 0) || latent != (m.ValueDim > 0),
			"query_rank, kv_rank, rope_dim and value_dim go together"},
	}
	for _, r := range rules {
		if r.bad {
			o.AddAt(o.Where(r.key), "transformer: %s", r.what)
		}
	}
}

// decodeRows reads an entry of the table, as often as it repeats.
func decodeRows(d *yamlfile.Diagnostics, i int, n *yaml.Node) []Row {
	o := yamlfile.NewObject(d, n, fmt.Sprintf("layers[%d]", i))
	r := Row{Name: o.Text("name", true)}
	times := o.Integer("repeat", 1, 1, 1<<14)
	value := func(key string, need bool) float64 {
		if text := o.Text(key, need); text == "" || text == "0" {
			return 0
		}
		return o.Number(key, 0)
	}
	r.Parameters, r.FLOP, r.Activations = value("parameters", true), value("flop", true), value("activations", true)
	if r.Output = value("output", false); r.Output == 0 {
		r.Output = r.Activations
	}
	for _, v := range []float64{r.Parameters, r.FLOP, r.Activations, r.Output} {
		if v > 1e18 || math.IsNaN(v) {
			o.AddAt(yamlfile.At(n), "%s: %g is more than can be computed with", o.What, v)
		}
	}
	o.Done()
	return slices.Repeat([]Row{r}, times)
}
