package workload

import "slices"

// Row is a stretch of a network that is described by its totals, or by its convolutions.
type Row struct {
	Name        string  `file:"name,need"`
	Repeat      int     `file:"repeat,default=1,lo=1,hi=16384"` // how often a file's entry stands in the table
	Parameters  float64 `file:"parameters"`
	FLOP        float64 `file:"flop"`        // of a sample's forward pass
	Activations float64 `file:"activations"` // bytes that a sample's backward pass needs, in the workload's precision
	Output      float64 `file:"output"`      // bytes that a sample hands to the next row; as activations where none is given

	Convolutions []Convolution `file:"convolutions"`
	Joined       bool          `file:"joined"` // what goes in, or a convolution of it, is added to what comes out
}

// rowBlock is a Row as a block. It is not cut by tensor, context or expert axes.
type rowBlock struct {
	w *Workload
	r *Row
}

func (w *Workload) tableBlocks() []Block {
	var out []Block
	for i := range w.Table {
		out = append(out, &rowBlock{w, &w.Table[i]})
	}
	return out
}

func (b *rowBlock) Parameters(Sharding) Parameters { return Parameters{Dense: b.r.Parameters} }
func (b *rowBlock) FLOP() float64                  { return b.r.FLOP }

// traffic: activations are written and read once forward (assumption: an activation
// function and a norm are fused into their neighbours).
func (b *rowBlock) traffic(batch float64) float64 {
	return 2*b.r.Activations*batch + b.r.Parameters*float64(b.w.ElementBytes())
}

func (b *rowBlock) Forward(_ Sharding, batch float64) (steps []Step) {
	if len(b.r.Convolutions) > 0 {
		for i := range b.r.Convolutions {
			steps = append(steps, b.convolve(&b.r.Convolutions[i], batch, false)...)
		}
		return append(steps, b.around(batch, false)...)
	}
	return []Step{{Name: b.r.Name, Do: Multiply, FLOP: b.r.FLOP * batch, Bytes: b.traffic(batch)}}
}

// Backward has two products for one, over twice the bytes.
func (b *rowBlock) Backward(_ Sharding, batch float64) []Step {
	if len(b.r.Convolutions) > 0 {
		steps := b.around(batch, true)
		for i := range slices.Backward(b.r.Convolutions) {
			steps = append(steps, b.convolve(&b.r.Convolutions[i], batch, true)...)
		}
		return steps
	}
	return []Step{{Name: b.r.Name + " backward", Do: Multiply, FLOP: 2 * b.r.FLOP * batch, Bytes: 2 * b.traffic(batch), Backward: true}}
}

func (b *rowBlock) Activations(_ Sharding, batch float64, r Recompute) float64 {
	if r == FullRecompute {
		return b.Boundary(Sharding{}, batch)
	}
	return b.r.Activations * batch
}

func (b *rowBlock) Boundary(_ Sharding, batch float64) float64 { return b.r.Output * batch }
