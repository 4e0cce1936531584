package show

import (
	"encoding/csv"
	"fmt"
	"os"
	"strconv"

	"railyard/model/collective"
	"railyard/model/cost"
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
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var out []Case
	at := map[Case]int{}
	for i, r := range rows[min(1, len(rows)):] { // kernel,gpus,bytes,blocks,threads,us,wrong
		if len(r) < 6 {
			return nil, fmt.Errorf("%s:%d: %d columns, want at least 6", file, i+2, len(r))
		}
		n, err1 := strconv.Atoi(r[1])
		size, err2 := strconv.ParseInt(r[2], 10, 64)
		us, err3 := strconv.ParseFloat(r[5], 64)
		if err1 != nil || err2 != nil || err3 != nil {
			return nil, fmt.Errorf("%s:%d: %v: want numbers of GPUs, bytes and us", file, i+2, r)
		}
		if _, ours := kernels[r[0]]; !ours || n != gpus {
			continue
		}
		key, time := Case{Kernel: r[0], Size: units.Bytes(size)}, units.FromMicroseconds(us)
		if k, known := at[key]; known {
			out[k].Measured = min(out[k].Measured, time)
			continue
		}
		at[key] = len(out)
		out = append(out, Case{Kernel: r[0], Size: key.Size, Measured: time})
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
