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
	return max(megatronBucket, 1e6*float64(l.Data)) * float64(w.Gradients)
}

// replicas makes the collectives between replicas of parameters.
type replicas struct {
	*player
	w *workload.Workload
	l *Layout
}

// wire is the size of a gradient while it is reduced.
func (r *replicas) wire() float64 {
	if r.l.Compress != "" {
		return float64(r.l.Compress.Bytes())
	}
	return float64(r.w.Gradients)
}

// gradients are the reductions of a block: of dense parameters over data and context
// axes, of experts over the copies of each.
func (r *replicas) gradients(b workload.Block) ([]transfer, []call, error) {
	kind := collective.AllReduce
	if r.l.Zero > 0 {
		kind = collective.ReduceScatter
	}
	return r.both(b, "gradients", kind, r.wire(), r.l.bucket(r.w)/float64(r.w.Gradients)*r.wire())
}

// parameters are the gathers of a block's parameters, which ZeRO has cut.
func (r *replicas) parameters(b workload.Block) ([]transfer, []call, error) {
	e := float64(r.w.ElementBytes())
	size := r.l.bucket(r.w) / float64(r.w.Gradients) * e
	if r.l.Zero == 3 {
		size = math.Inf(1) // FSDP gathers a block at once
	}
	return r.both(b, "parameters", collective.AllGather, e, size)
}

func (r *replicas) both(b workload.Block, what string, kind collective.Kind, element, bucket float64) ([]transfer, []call, error) {
	p := b.Parameters(r.l.Sharding())
	if r.l.Zero == 3 && kind == collective.ReduceScatter {
		bucket = math.Inf(1)
	}
	list, calls, err := r.one(&r.families.data, what, kind, p.Dense*element, bucket)
	if err != nil || p.Expert == 0 {
		return list, calls, err
	}
	more, moreCalls, err := r.one(&r.families.expertData, "expert "+what, kind, p.Expert*element, bucket)
	return append(list, more...), append(calls, moreCalls...), err
}

// one is the collectives of so many bytes, cut into buckets.
func (r *replicas) one(f *Family, what string, kind collective.Kind, bytes, bucket float64) ([]transfer, []call, error) {
	if f.Size < 2 || bytes == 0 {
		return nil, nil, nil
	}
	count := max(math.Round(bytes/bucket), 1)
	size := units.Bytes(math.Ceil(bytes / count))
	x, err := r.predict.Collective(f, kind, size)
	if err != nil {
		return nil, nil, err
	}
	net, err := r.predict.Spans(f)
	if err != nil {
		return nil, nil, err
	}
	t := transfer{time: units.Time(float64(x.Time) * count), sms: r.smShare(x), name: what + " " + kind.String()}
	if net {
		t.net = 1
	}
	c := call{step: workload.Step{Name: t.name, Axis: workload.Data, Kind: kind, Size: size, Count: count}, time: x.Time, Prediction: x, net: net}
	return []transfer{t}, []call{c}, nil
}

// convert is the time to pack, or to unpack, a block's gradients for the wire: it reads
// one type and writes the other.
func (r *replicas) convert(b workload.Block) units.Time {
	if r.l.Compress == "" || r.families.data.Size < 2 {
		return 0
	}
	n := b.Parameters(r.l.Sharding()).Total()
	return r.predict.machine.GPU.Stream(gpu.Copy, n*(float64(r.w.Gradients)+r.wire()))
}

// optimizer is the time of the update of what ZeRO leaves to a GPU: it reads gradients
// for their norm, then gradients and states, and writes states and parameters.
func (r *replicas) optimizer(s *stage) units.Time {
	share := 1.0
	if r.l.Zero > 0 {
		share = 1 / float64(r.l.Data*r.l.Context)
	}
	p := 0.0
	var unpack units.Time
	for _, b := range s.blocks() {
		p += b.Parameters(r.l.Sharding()).Total()
		unpack += r.convert(b)
	}
	p *= share
	g := r.predict.machine.GPU
	update := g.Stream(gpu.Optimizer, p*float64(r.w.Gradients+r.w.ElementBytes()+2*r.w.StateBytes()))
	return update + g.Stream(gpu.GradientNorm, p*float64(r.w.Gradients)) + unpack
}

// ParseCompression reads what gradients are sent as: fp16, bf16 or fp8; none is "".
func ParseCompression(s string) (gpu.Precision, error) {
	if s == "" || s == "none" {
		return "", nil
	}
	return gpu.ParsePrecision(s)
}
