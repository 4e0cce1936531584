package show

import (
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/sim"
)

// kernels are the hand-written all-reduces of docs/measured/h200-4/prototype.csv that are
// schedules of ours.
var kernels = map[string]struct {
	algorithm string
	protocol  schedule.Protocol
}{
	"oneshotLL": {"direct", schedule.LL}, "twoshotLL": {"two_shot", schedule.LL}, "twoshot": {"two_shot", schedule.Simple},
}

// Case is an all-reduce by a hand-written kernel with its best number of blocks, and its
// prediction.
type Case struct {
	Kernel              string
	Size                units.Bytes
	Measured, Predicted units.Time
}

// Error is (predicted − measured)/measured.
func (c *Case) Error() float64 { return float64(c.Predicted)/float64(c.Measured) - 1 }

// readCases are the cases of a file like prototype.csv on so many GPUs, in its order.
func readCases(file string, gpus int) (out []Case, err error) {
	at := map[Case]int{}
	err = measurement.FileLines(nil, file, func(l *measurement.Line) {
		l.Given("gpus", "bytes", "us")
		key, time := Case{Kernel: l.Cell("kernel"), Size: l.Size("bytes")}, units.FromMicroseconds(l.Number("us"))
		if _, ours := kernels[key.Kernel]; !ours || l.Count("gpus") != gpus {
			return
		}
		if k, known := at[key]; known {
			out[k].Measured = min(out[k].Measured, time)
			return
		}
		at[key] = len(out)
		out = append(out, Case{Kernel: key.Kernel, Size: key.Size, Measured: time})
	}, "kernel", "gpus", "bytes", "us")
	return out, err
}

// predict simulates a case's schedule.
func (c *Case) predict(t *topology.Topology, p *cost.Profile) error {
	k := kernels[c.Kernel]
	s, err := planner.Build(t, collective.Spec{Kind: collective.AllReduce, Ranks: t.NumRanks()}, k.algorithm,
		planner.Options{Protocol: k.protocol, Slices: 1})
	if err != nil {
		return err
	}
	r, err := sim.Run(t, s, c.Size, p, sim.Options{})
	if err != nil {
		return err
	}
	c.Predicted = r.Time
	return nil
}
