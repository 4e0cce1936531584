package report

import (
	"cmp"
	"slices"

	"railyard/model/collective"
	"railyard/model/measurement"
)

// caseKey is a measured case whatever its size: what a line of the summary and a curve
// of a figure stand for.
type caseKey struct {
	kind                collective.Kind
	algo, proto, launch string
	gpus, nodes         int
	dtype, system, id   string
}

func keyOf(m measurement.Row) caseKey {
	return caseKey{m.Collective, m.Algo, m.Proto, m.Launch, m.GPUs, m.Nodes, m.DType, m.System, m.ID}
}

// group is the rows of a comparison that share a key.
type group struct {
	key  caseKey
	rows []ComparedRow
}

func (g *group) errors() []float64 { return (&Comparison{Rows: g.rows}).errors() }

// groups sorts the rows into cases by the given key, numbers by value.
func (c *Comparison) groups(key func(measurement.Row) caseKey) []group {
	index := map[caseKey]int{}
	var out []group
	for _, r := range c.Rows {
		k := key(r.Measured)
		at, ok := index[k]
		if !ok {
			at = len(out)
			index[k] = at
			out = append(out, group{key: k})
		}
		out[at].rows = append(out[at].rows, r)
	}
	slices.SortFunc(out, func(a, b group) int {
		x, y := a.key, b.key
		return cmp.Or(cmp.Compare(x.kind, y.kind), cmp.Compare(x.algo, y.algo), cmp.Compare(x.proto, y.proto),
			cmp.Compare(x.launch, y.launch),
			cmp.Compare(x.gpus, y.gpus), cmp.Compare(x.nodes, y.nodes), cmp.Compare(x.dtype, y.dtype), cmp.Compare(x.system, y.system),
			cmp.Compare(x.id, y.id))
	})
	return out
}

// summaryKey leaves out what the summary does not tell apart.
func summaryKey(m measurement.Row) caseKey {
	return caseKey{kind: m.Collective, algo: m.Algo, proto: m.Proto, launch: m.Launch, gpus: m.GPUs}
}
