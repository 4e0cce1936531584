package workload

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strings"

	"railyard/model/yamlfile"
)

// Schema is the version of the file format; docs/workload-format.md describes it.
const Schema = "railyard.workload/v1"

//go:embed shipped/*.yaml
var shipped embed.FS

var library = yamlfile.Library[Workload]{Files: shipped, Dir: "shipped",
	Format: yamlfile.Format{Schema: Schema, Noun: "workload", Repeat: "repeat: N"}}

// Names are the shipped workloads, sorted.
func Names() []string { return library.Names() }

// Get is a shipped workload by name, or one from a YAML file where the name is a path, with values of the file changed:
// "transformer.sequence=4096".
func Get(name string, set ...string) (*Workload, error) { return library.Get(name, set...) }

// Parse reads a workload's file, with values changed as by Get. Mistakes come back as yamlfile.Errors with file and line.
func Parse(file string, data []byte, set ...string) (*Workload, error) {
	return library.Read(file, data, set...)
}

// Check reports what does not go together, and fills in what is left out.
func (w *Workload) Check(o *yamlfile.Object) {
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
		r.convolved(float64(w.ElementBytes()))
		rows = append(rows, slices.Repeat([]Row{r}, r.Repeat)...)
	}
	w.Table = rows
	w.Unit = cmp.Or(w.Unit, map[bool]string{true: "tokens", false: "samples"}[w.Transformer != nil])
}

// Check fills in what is handed on, and reports totals that are missing or follow from others.
func (r *Row) Check(o *yamlfile.Object) {
	r.totals(o)
	r.Output = cmp.Or(r.Output, r.Activations)
}

// Check fills in dimensions that follow from others, and reports those that do not go together.
func (m *Transformer) Check(o *yamlfile.Object) {
	m.FFN, m.KVHeads = cmp.Or(m.FFN, 4*m.Hidden), cmp.Or(m.KVHeads, m.Heads)
	m.HeadDim, m.ExpertFFN = cmp.Or(m.HeadDim, m.Hidden/m.Heads, 1), cmp.Or(m.ExpertFFN, m.FFN)
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
		{"masked_tokens", m.Masked > m.Sequence, fmt.Sprintf("masked_tokens %d are more than the sequence of %d", m.Masked, m.Sequence)},
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
