package show

import (
	"fmt"
	"os"
	"strconv"

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
func readCases(file string, gpus int) ([]Case, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := measurement.Records(f, file, "kernel", "gpus", "bytes", "us")
	if err != nil {
		return nil, err
	}
	var out []Case
	at := map[Case]int{}
	for _, r := range rows {
		n, err1 := strconv.Atoi(r.Cell("gpus"))
		size, err2 := strconv.ParseInt(r.Cell("bytes"), 10, 64)
		us, err3 := strconv.ParseFloat(r.Cell("us"), 64)
		if err1 != nil || err2 != nil || err3 != nil {
			return nil, fmt.Errorf("%s:%d: gpus, bytes and us must be numbers", file, r.Line)
		}
		if _, ours := kernels[r.Cell("kernel")]; !ours || n != gpus {
			continue
		}
		key, time := Case{Kernel: r.Cell("kernel"), Size: units.Bytes(size)}, units.FromMicroseconds(us)
		if k, known := at[key]; known {
			out[k].Measured = min(out[k].Measured, time)
			continue
		}
		at[key] = len(out)
		out = append(out, Case{Kernel: r.Cell("kernel"), Size: key.Size, Measured: time})
	}
	return out, nil
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
