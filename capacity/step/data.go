package step

import (
	"math"

	"railyard/model/collective"
	"railyard/model/gpu"
	"railyard/model/units"
	"railyard/model/workload"
)

// Default sizes of gradient buckets: PyTorch's DistributedDataParallel (bucket_cap_mb) and
// Megatron-Core's DistributedDataParallelConfig (bucket_size, elements).
const (
	ddpBucket      = 25 * units.MiB
	megatronBucket = 40_000_000
)

// bucket is the size of what is reduced at once.
func (l *Layout) bucket(w *workload.Workload) float64 {
	switch {
	case l.Bucket > 0:
		return float64(l.Bucket)
	case l.Zero == 0:
		return float64(ddpBucket)
	}
	return max(megatronBucket, 1e6*float64(l.Data)) * float64(w.Gradients())
}

// replicas makes the collectives between replicas of parameters, once for all that are equal.
type replicas struct {
	*player
	w     *workload.Workload
	l     *Layout
	known map[exchangedKey]exchanged
}

type exchangedKey struct {
	bytes shares
	kind  collective.Kind
}

// shares are bytes on the wire of dense parameters and of experts', which have groups of their own.
type shares struct {
	dense, expert float64
}

// exchanged is what replicas exchange of a block.
type exchanged struct {
	transfers []transfer
	calls     []call
}

// wire is the size of a gradient while it is reduced.
func (r *replicas) wire() float64 {
	if r.l.Compress != "" {
		return float64(r.l.Compress.Bytes())
	}
	return float64(r.w.Gradients())
}

// gradients are the reductions that begin when a block's gradients are there: of dense parameters over data and context axes, of
// experts over the copies of each. What does not fill a bucket waits in it for the blocks that follow, after the last
// for none (PyTorch's DistributedDataParallel, arXiv 2006.15704, section 3.2.3). FSDP (ZeRO 2 and 3) reduces each block by itself.
func (r *replicas) gradients(b workload.Block, waiting *shares, last bool) (exchanged, error) {
	kind := collective.AllReduce
	if r.l.Zero > 0 {
		kind = collective.ReduceScatter
	}
	p, bucket := b.Parameters(r.l.Sharding()).Trained(), r.bucket(r.wire())
	var full shares
	for _, x := range []struct {
		add            float64
		waiting, leave *float64
	}{{p.Dense, &waiting.dense, &full.dense}, {p.Expert, &waiting.expert, &full.expert}} {
		*x.waiting += x.add * r.wire()
		if *x.waiting >= bucket || last || r.l.Zero >= 2 {
			*x.leave, *x.waiting = *x.waiting, 0
		}
	}
	return r.both(full, "gradients", kind, bucket)
}

// parameters are the gathers of a block's parameters, which ZeRO has cut.
func (r *replicas) parameters(b workload.Block) (exchanged, error) {
	p := b.Parameters(r.l.Sharding())
	if r.l.Zero < 3 {
		p = p.Trained() // ZeRO 1 and 2 gather what the update has changed
	}
	element := float64(r.w.ElementBytes())
	return r.both(shares{p.Dense * element, p.Expert * element}, "parameters", collective.AllGather, r.bucket(element))
}

// bucket is the most that one collective takes, in bytes, of elements that have so many on the wire.
func (r *replicas) bucket(element float64) float64 {
	if r.l.Zero == 3 {
		return math.Inf(1) // FSDP exchanges a block at once
	}
	return r.l.bucket(r.w) / float64(r.w.Gradients()) * element
}

func (r *replicas) both(bytes shares, what string, kind collective.Kind, bucket float64) (exchanged, error) {
	return once(r.known, exchangedKey{bytes, kind}, func() (x exchanged, err error) {
		err = r.add(&x, &r.families.data, what, kind, bytes.dense, bucket)
		if err == nil {
			err = r.add(&x, &r.families.expertData, "expert "+what, kind, bytes.expert, bucket)
		}
		return x, err
	})
}

// add adds the collective of so many bytes, cut into buckets.
func (r *replicas) add(to *exchanged, f *Family, what string, kind collective.Kind, bytes, bucket float64) error {
	if f.Size < 2 || bytes == 0 {
		return nil
	}
	count := max(math.Round(bytes/bucket), 1)
	size := units.Bytes(math.Ceil(bytes / count))
	x, err := r.predict.Collective(f, kind, size)
	if err != nil {
		return err
	}
	t := transfer{time: units.Time(float64(x.Time) * count), sms: r.smShare(x), name: what + " " + kind.String()}
	if x.Network {
		t.net = 1
	}
	to.transfers = append(to.transfers, t)
	s := workload.Step{Name: t.name, Axis: workload.Data, Kind: kind, Size: size, Count: count}
	to.calls = append(to.calls, call{step: s, time: x.Time, Prediction: x})
	return nil
}

// convert is the time to pack, or to unpack, a block's gradients for the wire: it reads
// one type and writes the other.
func (r *replicas) convert(b workload.Block) units.Time {
	if r.l.Compress == "" || r.families.data.Size < 2 {
		return 0
	}
	n := b.Parameters(r.l.Sharding()).Trained().Total()
	return r.predict.machine.GPU.Stream(gpu.Copy, n*(float64(r.w.Gradients())+r.wire()))
}

// update is the time of the optimizer on the stage where it takes longest.
func (b *builder) update() units.Time {
	var most units.Time
	for i := range b.stages {
		most = max(most, b.optimizer(&b.stages[i]))
	}
	return most
}

// optimizer is the time of the update of what ZeRO leaves to a GPU: it reads gradients
// for their norm, then gradients and states, and writes states and parameters. LAMB's update is written in FP32, normed like the
// parameters, and read with them again before these are written (apex, csrc/multi_tensor_lamb.cu).
func (r *replicas) optimizer(s *stage) units.Time {
	share := 1.0
	if r.l.Zero > 0 {
		share = 1 / float64(r.l.Data*r.l.Context)
	}
	p := 0.0
	var unpack units.Time
	for _, b := range s.blocks() {
		p += b.Parameters(r.l.Sharding()).Trained().Total()
		unpack += r.convert(b)
	}
	p *= share
	g := r.predict.machine.GPU
	moved, normed := r.w.Gradients()+r.w.ElementBytes()+2*r.w.StateBytes(), r.w.Gradients()
	if r.w.Optimizer == workload.LAMB {
		moved, normed = moved+3*4, normed+2*4
	}
	return g.Stream(gpu.Optimizer, p*float64(moved)) + g.Stream(gpu.GradientNorm, p*float64(normed)) + unpack
}

// ParseCompression reads what gradients are sent as: fp16, bf16, fp8 or int8; none is "".
func ParseCompression(s string) (gpu.Precision, error) {
	switch {
	case s == "" || s == "none":
		return "", nil
	case gpu.Precision(s) == gpu.INT8:
		return gpu.INT8, nil
	}
	return gpu.ParsePrecision(s)
}
