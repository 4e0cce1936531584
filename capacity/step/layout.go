package step

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"railyard/model/gpu"
	"railyard/model/units"
	"railyard/model/workload"
)

// Layout says how a training step is divided over GPUs. Sizes are at least 1.
type Layout struct {
	Data, Tensor, Pipeline, Context int
	Expert                          int // divides Tensor·Context·Data: experts take the place of these axes
	Offload                         int // layers whose activations go to the host's memory until the backward pass
	Virtual                         int // chunks of layers a pipeline stage (interleaved 1F1B); 1: plain 1F1B
	Zero                            int // 0: DDP; 1 optimizer states, 2 gradients, 3 parameters are cut over the data axis (ZeRO, FSDP)
	Sequence                        bool
	Recompute                       workload.Recompute
	MicroBatch, GlobalBatch         int             // samples
	Order                           []workload.Axis // how coordinates become rank numbers, innermost first
	Bucket                          units.Bytes     // of gradients that are reduced together; 0: the framework's default
	Compress                        gpu.Precision   // of gradients on the wire; "": as they are
}

// DefaultOrder puts the axes that talk most closest together.
var DefaultOrder = []workload.Axis{workload.Tensor, workload.Context, workload.Data, workload.Pipeline}

// Ranks is the number of GPUs.
func (l *Layout) Ranks() int { return l.Data * l.Tensor * l.Pipeline * l.Context }

// MicroBatches is how many a pipeline takes in a step.
func (l *Layout) MicroBatches() int { return l.GlobalBatch / (l.Data * l.MicroBatch) }

// Sharding is how blocks are cut.
func (l *Layout) Sharding() workload.Sharding {
	return workload.Sharding{Tensor: l.Tensor, Context: l.Context, Expert: l.Expert, Sequence: l.Sequence}
}

// size is the length of an axis.
func (l *Layout) size(a workload.Axis) int {
	switch a {
	case workload.Data:
		return l.Data
	case workload.Tensor:
		return l.Tensor
	case workload.Pipeline:
		return l.Pipeline
	case workload.Context:
		return l.Context
	}
	return l.Expert
}

// String is the layout in the flags' short form.
func (l *Layout) String() string {
	s := fmt.Sprintf("dp%d tp%d pp%d", l.Data, l.Tensor, l.Pipeline)
	for _, x := range []struct {
		name string
		n    int
	}{{"cp", l.Context}, {"ep", l.Expert}, {"vpp", l.Virtual}} {
		if x.n > 1 {
			s += fmt.Sprintf(" %s%d", x.name, x.n)
		}
	}
	s += fmt.Sprintf(" zero%d mb%d gb%d", l.Zero, l.MicroBatch, l.GlobalBatch)
	if l.Sequence {
		s += " sp"
	}
	if l.Recompute != workload.NoRecompute {
		s += " " + string(l.Recompute)
	}
	if l.Offload > 0 {
		s += fmt.Sprintf(" offload%d", l.Offload)
	}
	if l.Compress != "" {
		s += " " + string(l.Compress)
	}
	if !slices.Equal(l.Order, DefaultOrder) {
		var names []string
		for _, a := range l.Order {
			names = append(names, string(a))
		}
		s += " " + strings.Join(names, "<")
	}
	return s
}

// Check reports the first reason why a workload cannot be laid out so on this many GPUs,
// and which number to change.
func (l *Layout) Check(w *workload.Workload, ranks int) error {
	for _, c := range []struct {
		name  string
		value int
	}{{"dp", l.Data}, {"tp", l.Tensor}, {"pp", l.Pipeline}, {"cp", l.Context}, {"ep", l.Expert}, {"vpp", l.Virtual},
		{"micro-batch", l.MicroBatch}, {"global-batch", l.GlobalBatch}} {
		if c.value < 1 {
			return fmt.Errorf("%s %d: must be at least 1", c.name, c.value)
		}
	}
	if l.Offload > w.Layers() {
		return fmt.Errorf("offload %d: %s has %d layers: lower it", l.Offload, w.Name, w.Layers())
	}
	var err error
	if w.Transformer == nil {
		err = l.checkTable(w)
	} else {
		err = l.checkTransformer(w.Transformer)
	}
	if err != nil {
		return err
	}
	return l.checkSizes(ranks)
}

func (l *Layout) checkSizes(ranks int) error {
	block := l.Tensor * l.Context * l.Data
	if l.Ranks() != ranks {
		return l.checkRanks(ranks)
	}
	switch {
	case l.GlobalBatch%(l.Data*l.MicroBatch) != 0:
		return fmt.Errorf("global-batch %d is not a multiple of dp %d × micro-batch %d: change it to %d",
			l.GlobalBatch, l.Data, l.MicroBatch, (l.GlobalBatch/(l.Data*l.MicroBatch)+1)*l.Data*l.MicroBatch)
	case l.Offload < 0:
		return fmt.Errorf("offload %d: must not be negative", l.Offload)
	case l.Zero < 0 || l.Zero > 3:
		return fmt.Errorf("zero %d: must be 0 (DDP), 1, 2 or 3", l.Zero)
	case l.Virtual > 1 && l.Pipeline == 1:
		return fmt.Errorf("vpp %d has no effect without a pipeline: raise pp, or leave vpp out", l.Virtual)
	case l.Virtual > 1 && l.MicroBatches()%l.Pipeline != 0:
		return fmt.Errorf("vpp %d needs micro-batches (%d) in multiples of pp %d: change global-batch or micro-batch",
			l.Virtual, l.MicroBatches(), l.Pipeline)
	case l.Sequence && l.Tensor == 1:
		return fmt.Errorf("sequence-parallel has no effect with tp 1: raise tp")
	case block%l.Expert != 0:
		return fmt.Errorf("ep %d does not divide tp × cp × dp (%d): change ep", l.Expert, block)
	}
	return l.checkOrder()
}

// checkRanks says what to change where the axes need another number of GPUs.
func (l *Layout) checkRanks(ranks int) error {
	product := fmt.Sprintf("dp %d × tp %d × pp %d × cp %d", l.Data, l.Tensor, l.Pipeline, l.Context)
	if l.Ranks() > ranks {
		return fmt.Errorf("%s need %d GPUs, but there are %d: lower one of them, or raise --nodes", product, l.Ranks(), ranks)
	}
	return fmt.Errorf("%s use %d of %d GPUs: raise dp to %d, or lower --nodes",
		product, l.Ranks(), ranks, max(l.Data*ranks/l.Ranks(), l.Data+1))
}

// checkOrder reports an order that does not name each axis once.
func (l *Layout) checkOrder() error {
	seen, want := slices.Clone(l.Order), slices.Clone(DefaultOrder)
	slices.Sort(seen)
	slices.Sort(want)
	if !slices.Equal(seen, want) {
		return fmt.Errorf("order %v: name each of %v once", l.Order, DefaultOrder)
	}
	return nil
}

func (l *Layout) checkTable(w *workload.Workload) error {
	switch {
	case l.Tensor > 1 || l.Context > 1 || l.Expert > 1:
		return fmt.Errorf("%s is a table of layers, which only dp and pp can divide: set tp, cp and ep to 1", w.Name)
	case l.Pipeline*l.Virtual > len(w.Table):
		return fmt.Errorf("pp %d × vpp %d are more stages than %s has layers (%d): lower pp",
			l.Pipeline, l.Virtual, w.Name, len(w.Table))
	}
	return nil
}

func (l *Layout) checkTransformer(m *workload.Transformer) error {
	switch {
	case m.Heads%l.Tensor != 0:
		return fmt.Errorf("tp %d does not divide the %d attention heads: change tp to %s",
			l.Tensor, m.Heads, divisorsNear(m.Heads, l.Tensor))
	case max(m.KVHeads, l.Tensor)%min(m.KVHeads, l.Tensor) != 0:
		return fmt.Errorf("tp %d and the %d key/value heads do not divide one another: change tp", l.Tensor, m.KVHeads)
	case m.FFN%l.Tensor != 0:
		return fmt.Errorf("tp %d does not divide the feed-forward width %d: change tp", l.Tensor, m.FFN)
	case l.Pipeline*l.Virtual > m.Layers:
		return fmt.Errorf("pp %d × vpp %d are more stages than there are layers (%d): lower pp or vpp",
			l.Pipeline, l.Virtual, m.Layers)
	case m.Sequence%(2*l.Context) != 0 && l.Context > 1:
		return fmt.Errorf("cp %d does not divide a sequence of %d into 2 × cp chunks: change cp", l.Context, m.Sequence)
	case l.Sequence && m.Sequence/l.Context%l.Tensor != 0:
		return fmt.Errorf("tp %d does not divide the %d tokens of a sequence on a GPU: change tp", l.Tensor, m.Sequence/l.Context)
	case l.Expert > 1 && m.Experts == 0:
		return fmt.Errorf("ep %d: the workload has no experts: leave ep out", l.Expert)
	case m.Experts > 0 && m.Experts%l.Expert != 0:
		return fmt.Errorf("ep %d does not divide the %d experts: change ep to %s", l.Expert, m.Experts, divisorsNear(m.Experts, l.Expert))
	case m.Experts > 0 && l.Tensor > 1 && !l.Sequence:
		return fmt.Errorf("experts with tp %d need sequence-parallel", l.Tensor)
	}
	return nil
}

// divisorsNear names the divisors of n on both sides of x, which is none.
func divisorsNear(n, x int) string {
	var near []string
	for d := 1; d <= n; d++ {
		switch {
		case n%d != 0:
		case d < x:
			near = []string{strconv.Itoa(d)}
		default:
			return strings.Join(append(near, strconv.Itoa(d)), " or ")
		}
	}
	return strings.Join(near, " or ")
}
