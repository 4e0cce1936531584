package step

import (
	"railyard/model/collective"
	"railyard/model/units"
	"railyard/model/workload"
)

// tied is the all-reduce of a tied embedding's gradient between the first and the last
// stage, which both have a copy: after the last backward pass, before the update
// (Megatron-LM's allreduce_word_embedding_grads). nil where there is none.
func (b *builder) tied() (*Collective, error) {
	m := b.w.Transformer
	if m == nil || !m.Tied || b.l.Pipeline == 1 {
		return nil, nil
	}
	size := units.Bytes(m.Vocabulary*m.Hidden/b.l.Tensor) * units.Bytes(b.w.Gradients())
	x, err := b.predict.Collective(&b.families.ends, collective.AllReduce, size)
	if err != nil {
		return nil, err
	}
	return &Collective{Axis: workload.Pipeline, Kind: collective.AllReduce, What: "tied embedding's gradient", Size: size, Ranks: 2,
		Prediction: x, Count: 1, Exposed: x.Time}, nil
}
