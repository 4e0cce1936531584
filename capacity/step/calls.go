package step

import (
	"railyard/model/collective"
	"railyard/model/units"
	"railyard/model/workload"
)

// Collective is what one GPU's collectives of a kind and size over an axis add up to in a
// step.
type Collective struct {
	Axis       workload.Axis
	Kind       collective.Kind
	What       string // the first step that makes it
	Size       units.Bytes
	Ranks      int
	Prediction            // of one, in all groups at once
	Count      float64    // in a step
	Exposed    units.Time // the GPU waits for them, in all
}

// Total is the time of all.
func (c *Collective) Total() units.Time { return units.Time(float64(c.Time) * c.Count) }

type callKey struct {
	axis workload.Axis
	kind collective.Kind
	size units.Bytes
}

// callTable sums calls up, in the order in which they first occur.
type callTable struct {
	index map[callKey]int
	list  []Collective
}

func (t *callTable) add(calls []call, times float64) {
	for i := range calls {
		c := &calls[i]
		if c.time == 0 {
			continue
		}
		key := callKey{c.step.Axis, c.step.Kind, c.step.Size}
		at, ok := t.index[key]
		if !ok {
			at = len(t.list)
			t.index[key] = at
			t.list = append(t.list, Collective{Axis: c.step.Axis, Kind: c.step.Kind, What: c.step.Name, Size: c.step.Size,
				Prediction: c.Prediction})
		}
		count := times
		if c.step.Count > 0 {
			count *= c.step.Count
		}
		t.list[at].Count += count
		t.list[at].Exposed += units.Time(float64(c.exposed) * times)
	}
}
