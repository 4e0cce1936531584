package step

import (
	"fmt"

	"railyard/model/units"
	"railyard/model/workload"
)

// Memory is what the fullest GPU holds, in bytes.
type Memory struct {
	Stage       int
	Parameters  float64
	Gradients   float64
	Optimizer   float64
	Activations float64
	Gathered    float64 // parameters of blocks that ZeRO 3 has gathered
	Reserve     float64
	Capacity    units.Bytes
}

// reserve is what the driver, libraries and NCCL's buffers take (assumption, to be
// replaced by a measurement: the CUDA context and cuBLAS' workspaces take a little over
// 1 GiB, NCCL's channels a few hundred MiB).
const reserve = 2 * float64(units.GiB)

// Total is the sum.
func (m *Memory) Total() float64 {
	return m.Parameters + m.Gradients + m.Optimizer + m.Activations + m.Gathered + m.Reserve
}

// Fits reports whether it is within the capacity.
func (m *Memory) Fits() bool { return m.Total() <= float64(m.Capacity) }

// Excess: our count is up to so many times what was published (Llama 3 8B by torchtitan on 32 H200: 64.7 GiB for 48.0;
// validation/steps.csv, a test holds it to that): what is beyond the capacity by less may fit. sparing is
// the share of the activations that frameworks have got along with: they free early what is not used again
// (Llama 3, section 3.3.2), keep or repeat single modules and move some to the host (Megatron-Bridge), which
// published layouts do not always say.
const Excess, sparing = 1.35, 0.5

// CanFit reports whether it may be within the capacity: our count may be too high, and a framework spares
// activations.
func (m *Memory) CanFit() bool {
	return min(m.Total()/Excess, m.Total()-(1-sparing)*m.Activations) <= float64(m.Capacity)
}

// TooLarge is the error of a layout whose GPUs hold more than they can.
type TooLarge struct {
	Memory Memory
	Advice string
}

// TooLarge is the error that the layout does not fit.
func (m *Memory) TooLarge(l *Layout) *TooLarge { return &TooLarge{Memory: *m, Advice: m.advise(l)} }

func (e *TooLarge) Error() string {
	m := &e.Memory
	parts := fmt.Sprintf("parameters %s, gradients %s, optimizer %s, activations %s, gathered %s, reserve %s",
		gib(m.Parameters), gib(m.Gradients), gib(m.Optimizer), gib(m.Activations), gib(m.Gathered), gib(m.Reserve))
	return fmt.Sprintf("a GPU of stage %d needs %s, %s more than its %s (%s): %s",
		m.Stage, gib(m.Total()), gib(m.Total()-float64(m.Capacity)), gib(float64(m.Capacity)), parts, e.Advice)
}

func gib(b float64) string { return fmt.Sprintf("%.1f GiB", b/float64(units.GiB)) }

// memory is what the fullest stage's GPUs hold. States as in ZeRO (arXiv 1910.02054,
// figure 1), activations of the micro-batches that 1F1B keeps in flight (Narayanan et
// al., section 2.2; Korthikanti et al., appendix C).
func memory(w *workload.Workload, l *Layout, shard workload.Sharding, all []stage, capacity units.Bytes) Memory {
	var worst Memory
	for i := range all {
		m := stageMemory(w, l, shard, &all[i])
		if i == 0 || m.Total() > worst.Total() {
			worst = m
		}
	}
	worst.Capacity = capacity
	return worst
}

func stageMemory(w *workload.Workload, l *Layout, shard workload.Sharding, s *stage) Memory {
	m := Memory{Stage: s.index, Reserve: reserve}
	var p, trained workload.Parameters
	largest := 0.0
	for _, b := range s.blocks() {
		q := b.Parameters(shard)
		p.Dense, p.Expert = p.Dense+q.Dense, p.Expert+q.Expert
		largest = max(largest, q.Total())
		q = q.Trained()
		trained.Dense, trained.Expert = trained.Dense+q.Dense, trained.Expert+q.Expert
	}
	if t := w.Transformer; t != nil && t.Tied && l.Pipeline > 1 && s.index == l.Pipeline-1 {
		copied := float64(t.Vocabulary * t.Hidden / l.Tensor) // the last stage's of the embedding
		if p.Dense += copied; t.Adapter == 0 {
			trained.Dense += copied
		}
	}
	copies := float64(l.Data * l.Context)
	expertCopies := copies * float64(l.Tensor) / float64(l.Expert)
	cut := func(level int, p workload.Parameters) float64 {
		if l.Zero >= level {
			return p.Dense/copies + p.Expert/expertCopies
		}
		return p.Total()
	}
	m.Parameters = cut(3, p) * float64(w.ElementBytes())
	m.Gradients = cut(2, trained) * float64(w.Gradients())
	m.Optimizer = cut(1, trained) * float64(w.StateBytes())
	if l.Zero == 3 {
		m.Gathered = 2 * largest * float64(w.ElementBytes()) // the block at work and the next one
	}
	m.Activations = stageActivations(w, l, shard, s)
	return m
}

// stageActivations are those of all micro-batches in flight, and what recomputation
// brings back for one block. Of layers that are offloaded only the one at work is there.
func stageActivations(w *workload.Workload, l *Layout, shard workload.Sharding, s *stage) float64 {
	batch := float64(l.MicroBatch)
	perChunk, again := 0.0, 0.0
	here := 1 - float64(l.Offload)/float64(max(w.Layers(), 1))
	for _, b := range s.blocks() {
		kept := b.Activations(shard, batch, l.Recompute)
		perChunk += kept * here
		again = max(again, b.Activations(shard, batch, workload.NoRecompute)-kept*here)
	}
	perChunk /= float64(l.Virtual)
	return perChunk*float64(inFlight(l, s.index)) + again
}

// inFlight is how many chunks of activations a stage keeps at most.
func inFlight(l *Layout, stage int) int {
	m := l.MicroBatches()
	if l.Virtual == 1 {
		return min(l.Pipeline-stage, m)
	}
	return min(2*(l.Pipeline-stage-1)+(l.Virtual-1)*l.Pipeline+1, m*l.Virtual)
}

// advise says which number to change, by the term that could give most.
func (m *Memory) advise(l *Layout) string {
	states := m.Parameters + m.Gradients + m.Optimizer
	switch {
	case m.Activations > states && l.Recompute == workload.NoRecompute:
		return "activations are most of it: set recompute selective or full"
	case m.Activations > states && l.MicroBatch > 1:
		return fmt.Sprintf("activations are most of it: lower micro-batch (%d)", l.MicroBatch)
	case m.Activations > states && l.Recompute == workload.SelectiveRecompute:
		return "activations are most of it: set recompute full"
	case m.Activations > states:
		return fmt.Sprintf("activations are most of it: raise tp (%d) or cp (%d)", l.Tensor, l.Context)
	case l.Zero == 0 && l.Data > 1:
		return "optimizer states are copied on every replica: set zero 1"
	case l.Zero < 3 && l.Data > 1 && l.Pipeline == 1:
		return fmt.Sprintf("parameters and their states are most of it: set zero %d, or raise tp (%d) or pp (%d)",
			l.Zero+1, l.Tensor, l.Pipeline)
	}
	return fmt.Sprintf("parameters and their states are most of it: raise pp (%d) or tp (%d), or use more GPUs", l.Pipeline, l.Tensor)
}
