package workload

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"railyard/model/gpu"
	"railyard/model/yamlfile"
)

// Schema is the version of the file format; docs/workload-format.md describes it.
const Schema = "railyard.workload/v1"

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
	w := &Workload{}
	format.Decode(d, root, w)
	if err := d.Err(); err != nil {
		return nil, err
	}
	return w, nil
}

// Check reports what does not go together, and fills in what is left out.
func (w *Workload) Check(o *yamlfile.Object) {
	only(o, "gradients", w.Reduced, gpu.FP32, gpu.FP16, gpu.BF16)
	if w.Framework != "" && frameworks()[w.Framework] == nil {
		o.AddAt(o.Where("framework"), "%s: framework %q is not one of %s", o.What, w.Framework, strings.Join(FrameworkNames(), ", "))
	}
	if w.GlobalBatch%w.MicroBatch != 0 {
		o.AddAt(o.Where("global_batch"), "global_batch %d is not a multiple of micro_batch %d", w.GlobalBatch, w.MicroBatch)
	}
	if (w.Transformer != nil) == (len(w.Table) > 0) {
		o.AddAt(o.Here(), "give either transformer or layers")
	}
	var rows []Row
	for _, r := range w.Table {
		rows = append(rows, slices.Repeat([]Row{r}, r.Repeat)...)
	}
	w.Table = rows
	w.Unit = cmp.Or(w.Unit, map[bool]string{true: "tokens", false: "samples"}[w.Transformer != nil])
}

// Check fills in what is handed on.
func (r *Row) Check(*yamlfile.Object) { r.Output = cmp.Or(r.Output, r.Activations) }

// only reports a precision that a key cannot have.
func only(o *yamlfile.Object, key string, p gpu.Precision, of ...gpu.Precision) {
	if p != "" && !slices.Contains(of, p) {
		o.AddAt(o.Where(key), "%s: %s must be one of %v, not %q", o.What, key, of, p)
	}
}

// Check fills in dimensions that follow from others, and reports those that do not go together.
func (m *Transformer) Check(o *yamlfile.Object) {
	m.FFN, m.KVHeads = cmp.Or(m.FFN, 4*m.Hidden), cmp.Or(m.KVHeads, m.Heads)
	m.HeadDim, m.ExpertFFN = cmp.Or(m.HeadDim, m.Hidden/m.Heads, 1), cmp.Or(m.ExpertFFN, m.FFN)
	only(o, "dispatch", m.Dispatch, gpu.BF16, gpu.FP16, gpu.FP8)
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
