package step

import (
	"fmt"
	"slices"
	"strings"

	"railyard/model/collective"
	"railyard/model/units"
	"railyard/model/workload"
)

// Result is a predicted step, as a GPU of the busiest pipeline stage sees it. Its times
// add up: Time = Compute + Convert + Optimizer + all Exposed + Bubble.
type Result struct {
	Workload *workload.Workload
	Layout   Layout
	Runtime  string // what predicted the collectives

	Time          units.Time
	Compute       units.Time // forward, backward and what is recomputed
	Recompute     units.Time // of Compute, in kernels
	Framework     units.Time // of Compute: what the framework adds
	Stragglers    units.Time // of Compute: what the slowest GPU takes longer
	Convert       units.Time // of gradients for the wire
	Optimizer     units.Time
	Exposed       map[workload.Axis]units.Time // the GPU waits for communication over an axis
	Bubble        units.Time                   // it waits for other stages
	Communication units.Time                   // all collectives of the GPU, hidden or not
	Replica       units.Time                   // the step of one model replica, without the others
	Stage         int                          // the busiest

	Collectives []Collective
	Memory      Memory
	Notes       []string

	machine  *Machine
	unseen   bool       // no step on its GPU is in the fit
	played   units.Time // of Time: until the last pass and transfer have ended
	timeline []lane
}

// collect reads the engine's result.
func (r *Result) collect(b *builder, e *engine, end units.Time, tied *Collective) {
	stage, _, _ := b.busiest() // its passes are known: it does not fail
	r.Stage = stage
	r.unseen = !b.measured && !r.machine.GPU.Stepped
	l := &e.lanes[stage]
	r.Optimizer = b.update()
	r.played, r.Time = end, end+r.Optimizer
	r.Exposed = map[workload.Axis]units.Time{}
	if tied != nil {
		r.Time += tied.Time
		r.Exposed[workload.Pipeline] += tied.Time
	}
	var adds additions
	for i := range l.tasks {
		t := &l.tasks[i]
		r.Compute += t.compute
		r.Convert += t.convert
		for _, p := range t.parts {
			r.Recompute += p.again
			adds.add(p.adds)
			for a, x := range p.exposed {
				r.Exposed[a] += x
			}
		}
		stretched := l.ended[i] - l.started[i] - t.length() // by transfers on the same links
		r.Exposed[workload.Data] += max(stretched, 0)
	}
	r.Framework, r.Stragglers = adds.framework, adds.stragglers
	computed := l.ended[len(l.ended)-1]
	r.Exposed[workload.Data] += l.waited[1] + max(l.last-computed, 0)
	r.Bubble = l.waited[0] + end - max(l.last, computed)
	r.collectives(b, stage, tied)
	r.notes(b)
}

// collectives are those of the stage; what the step waits for replicas is shared out
// among their collectives in proportion.
func (r *Result) collectives(b *builder, stage int, tied *Collective) {
	r.Collectives = b.calls[stage].list
	var data units.Time
	for i := range r.Collectives {
		c := &r.Collectives[i]
		if c.Axis == workload.Data {
			data += c.Total()
		}
		c.Ranks = b.families.of(c.Axis).Size
		if c.Axis == workload.Data && strings.HasPrefix(c.What, "expert") {
			c.Ranks = b.families.expertData.Size
		}
	}
	for i := range r.Collectives {
		if c := &r.Collectives[i]; c.Axis == workload.Data && data > 0 {
			c.Exposed = units.Time(float64(r.Exposed[workload.Data]) * float64(c.Total()) / float64(data))
		}
	}
	if b.l.Pipeline > 1 && b.sentSize > 0 {
		n := float64(2 * b.l.MicroBatches() * b.l.Virtual)
		r.Collectives = append(r.Collectives, Collective{Axis: workload.Pipeline, Kind: collective.SendRecv,
			What: "hidden states and their gradients", Size: b.sentSize, Ranks: b.l.Pipeline, Prediction: b.sent, Count: n})
	}
	if tied != nil {
		r.Collectives = append(r.Collectives, *tied)
	}
	for i := range r.Collectives {
		r.Communication += r.Collectives[i].Total()
	}
}

// alone plays the step of one replica: what scaling is measured against.
func (r *Result) alone(b *builder, played []lane) error {
	if b.l.Data*b.l.Context == 1 {
		r.Replica = r.Time
		return nil
	}
	lanes := make([]lane, len(played))
	for i := range lanes {
		lanes[i].tasks = slices.Clone(played[i].tasks)
		for j := range lanes[i].tasks {
			t := &lanes[i].tasks[j]
			t.needs, t.begins, t.ends, t.convert = 0, nil, nil, 0
		}
	}
	end, err := (&engine{lanes: lanes}).run()
	r.Replica = end + r.Time - r.played
	return err
}

// notes says what to know before believing the result.
func (r *Result) notes(b *builder) {
	r.Notes = append(r.Notes, r.machine.GPU.NotesFor(b.w.Precision)...)
	if m := &r.Memory; !m.Fits() {
		r.Notes = append(r.Notes, fmt.Sprintf("it needs %s of %s with all activations: the framework has to free, repeat or move some "+
			"of %s",
			gib(m.Total()), gib(float64(m.Capacity)), gib(m.Activations)))
	}
	if b.l.Offload > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("activations of %d layers move to host memory and back while GPUs compute: "+
			"that this hides them is assumed", b.l.Offload))
	}
	if r.unseen {
		r.Notes = append(r.Notes, fmt.Sprintf("no published step on %s is in the fit: the band is that of steps on GPUs that were left out",
			r.machine.GPU.Name))
	}
	if by := b.shard.By; !b.measured {
		r.Notes = append(append(r.Notes, "framework: "+by.String()), by.Assumes(b.w.Transformer, r.machine.GPU)...)
	} else {
		r.Notes = append(r.Notes, "computation is the user's measurement")
	}
	for _, c := range r.Collectives {
		for _, w := range c.Warnings {
			if !slices.Contains(r.Notes, w) {
				r.Notes = append(r.Notes, w)
			}
		}
	}
	r.Notes = append(r.Notes, "left out: data loading")
}

// ExposedTotal is what the GPU waits for communication in all.
func (r *Result) ExposedTotal() units.Time {
	var sum units.Time
	for _, t := range r.Exposed {
		sum += t
	}
	return sum
}

// UnitsPerSecond is the throughput of the whole machine, in the workload's unit.
func (r *Result) UnitsPerSecond() float64 {
	return float64(r.Layout.GlobalBatch) * float64(r.Workload.SampleUnits()) / r.Time.Seconds()
}

// FLOPS are the model's FLOP of a step per GPU and second, without recomputation.
func (r *Result) FLOPS() float64 {
	return r.Workload.ModelFLOP() * float64(r.Layout.GlobalBatch) / float64(r.Layout.Ranks()) / r.Time.Seconds()
}

// MFU is the share of the peak rate (PaLM, arXiv 2204.02311, appendix B).
func (r *Result) MFU() float64 { return r.FLOPS() / r.machine.GPU.Peak[r.Workload.Precision] }

// minComputeTime is how long a GPU's share of the arithmetic takes at its peak rate.
func (r *Result) minComputeTime() units.Time {
	return units.FromMicroseconds(r.MFU() * r.Time.Microseconds())
}

// ScalingEfficiency is the throughput per GPU over that of one replica of the model alone.
func (r *Result) ScalingEfficiency() float64 { return r.Replica.Seconds() / r.Time.Seconds() }

// GPU is the title of the GPU.
func (r *Result) GPU() string { return r.machine.GPU.Title }

// Part is a share of the step's time.
type Part struct {
	Name string
	Time units.Time
	Axis workload.Axis // of exposed communication
}

// Parts are where the time goes; they add up to it.
func (r *Result) Parts() []Part {
	parts := []Part{{"compute", r.Compute - r.Recompute - r.Framework - r.Stragglers, ""}, {"recompute", r.Recompute, ""},
		{"framework", r.Framework, ""}, {"stragglers", r.Stragglers, ""}, {"pipeline bubble", r.Bubble, ""}}
	for _, a := range []workload.Axis{workload.Tensor, workload.Context, workload.Expert, workload.Pipeline, workload.Data} {
		parts = append(parts, Part{"exposed " + string(a) + " communication", r.Exposed[a], a})
	}
	parts = append(parts, Part{"conversion", r.Convert, ""}, Part{"optimizer", r.Optimizer, ""})
	return slices.DeleteFunc(parts, func(p Part) bool { return p.Time == 0 })
}

// Bottleneck says what takes most of the step, and which link if it is communication.
func (r *Result) Bottleneck() string {
	parts := r.Parts()
	most := slices.MaxFunc(parts, func(a, b Part) int { return int(a.Time/units.Nanosecond - b.Time/units.Nanosecond) })
	text := fmt.Sprintf("%s (%.0f %%)", most.Name, 100*most.Time.Seconds()/r.Time.Seconds())
	if most.Axis != "" {
		if limit := r.LimitingLink(most.Axis); limit != "" {
			text += ", limited by " + limit
		}
	}
	return text
}

// LimitingLink is what bounds the axis's collectives, "" for all axes: those that the GPU
// waits for longest.
func (r *Result) LimitingLink(axis workload.Axis) string {
	var most units.Time
	limit := ""
	for _, c := range r.Collectives {
		if (axis == "" || c.Axis == axis) && c.Exposed >= most && c.Limit != "" {
			most, limit = c.Exposed, c.Limit
		}
	}
	return limit
}
