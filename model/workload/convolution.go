package workload

import (
	"railyard/model/gpu"
	"railyard/model/yamlfile"
)

// Convolution of square images, with the norm and the activation behind it.
type Convolution struct {
	Side   int `file:"side,need,default=1,lo=1,hi=65536"` // of what comes out, elements
	Kernel int `file:"kernel,default=1,lo=1,hi=65536"`    // side of the kernel
	Stride int `file:"stride,default=1,lo=1,hi=65536"`
	In     int `file:"in,need,default=1,lo=1,hi=16777216"` // channels
	Out    int `file:"out,need,default=1,lo=1,hi=16777216"`
}

// positions are those of an image that comes out.
func (c *Convolution) positions() float64 { return float64(c.Side) * float64(c.Side) }

// reach is what an element that comes out is the sum of.
func (c *Convolution) reach() float64 { return float64(c.Kernel) * float64(c.Kernel) * float64(c.In) }

// made are the elements of an image that comes out.
func (c *Convolution) made() float64 { return c.positions() * float64(c.Out) }

// read are the elements of an image that goes in, as far as kernels reach them.
func (c *Convolution) read() float64 {
	side := float64(c.Side * min(c.Stride, c.Kernel))
	return side * side * float64(c.In)
}

// convolved fills in what follows from a row's convolutions; e is the size of an element: weights, scale and shift of norms; what comes
// out of each convolution and of its norm, and what is pooled of it; what comes out of the last.
func (r *Row) convolved(e float64) {
	if len(r.Convolutions) == 0 {
		return
	}
	r.Parameters, r.FLOP, r.Activations = 0, 0, 0
	for i := range r.Convolutions {
		c := &r.Convolutions[i]
		r.Parameters += c.reach()*float64(c.Out) + 2*float64(c.Out)
		r.FLOP += 2 * c.reach() * c.made()
		r.Activations += 2 * e * c.made()
	}
	made := e * r.last().made()
	if r.Output == 0 {
		r.Output = made
	}
	if r.Output < made { // pooled: the next row keeps what it takes in
		r.Activations += r.Output
	}
}

func (r *Row) last() *Convolution { return &r.Convolutions[len(r.Convolutions)-1] }

// totals reports which of the totals that convolutions make are given besides.
func (r *Row) totals(o *yamlfile.Object) {
	for _, key := range []string{"parameters", "flop", "activations"} {
		switch {
		case len(r.Convolutions) == 0 && !o.Has(key):
			o.AddAt(o.Here(), "layers: %s is missing: give parameters, flop and activations, or convolutions", key)
		case len(r.Convolutions) > 0 && o.Has(key):
			o.AddAt(o.Where(key), "layers: %s follows from convolutions: leave it out", key)
		}
	}
}

// convolve are the steps of one convolution for a batch: products as large as those of implicit multiplication (cuDNN, arXiv
// 1410.0759, section 3), which read each element of an image once, and the norm, which like every norm reads and writes what it
// scales, in its backward pass reads two and writes one.
func (b *rowBlock) convolve(c *Convolution, batch float64, backward bool) []Step {
	e, m, n, k := float64(b.w.ElementBytes()), batch*c.positions(), float64(c.Out), c.reach()
	product := Step{Name: b.r.Name, Do: Product, M: m, N: n, K: k, Count: 1, Backward: backward,
		Bytes: batch*c.read()*e - m*k*float64(b.w.Precision.Bytes()), Converts: batch * c.read()}
	if !backward {
		return []Step{product, {Name: b.r.Name + " norm", Do: Stream, Kernel: gpu.Norm, Bytes: 2 * e * batch * c.made()}}
	}
	input, weights := product, product
	input.N, input.K, input.Converts = k, n, batch*c.made()
	weights.M, weights.K, weights.ofWeights = k, m, true
	norm := Step{Name: b.r.Name + " norm backward", Do: Stream, Kernel: gpu.NormBackward, Bytes: 3 * e * batch * c.made()}
	return []Step{norm, weights, input}
}

// around are what is not convolved: the sum of a shortcut and the last result, and pooling, where less is handed on than comes out.
func (b *rowBlock) around(batch float64, backward bool) []Step {
	e := float64(b.w.ElementBytes())
	made, out, bytes := e*b.r.last().made(), b.r.Output, 0.0
	if b.r.Joined { // read besides; its gradient is written, and added to that of the first convolution's input
		bytes += out
		if backward {
			bytes += out
		}
	}
	if out < made {
		bytes += made + out
		if backward {
			bytes += made
		}
	}
	if bytes == 0 {
		return nil
	}
	return []Step{{Name: b.r.Name + " around", Do: Stream, Kernel: gpu.Copy, Bytes: batch * bytes, Backward: backward}}
}
