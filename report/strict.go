package report

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"railyard/model/units"
)

// Outside is the error of a comparison in which rows are outside what is normal, with what to
// check next; nil where all are within it.
func (c *Comparison) Outside(topology string) error {
	var worst *ComparedRow
	count, next := map[string]int{}, []string{}
	judged := 0
	for i := range c.Rows {
		r := &c.Rows[i]
		v := r.verdict()
		if v == "" {
			continue
		}
		judged++
		if v == "normal" {
			continue
		}
		kind, check := r.nextCheck(v, topology)
		if count[kind]++; count[kind] == 1 {
			next = append(next, "check next: "+check)
		}
		if worst == nil || r.distance() > worst.distance() {
			worst = r
		}
	}
	switch {
	case worst != nil:
		m, p := worst.Measured, worst.Predicted
		n := 0
		for _, k := range count {
			n += k
		}
		text := fmt.Sprintf("%d of %d rows are outside what is normal; the farthest: %v of %v takes %v, normal are %v to %v", n, judged,
			m.Collective, m.Size, worst.farther(), p.Low, p.High)
		return errors.New(text + "\n" + strings.Join(next, "\n"))
	case judged == 0:
		return fmt.Errorf("nothing says what is normal for these %d rows: compare with a profile that has NCCL's kernels (railyard list "+
			"machines)", len(c.Rows))
	}
	return nil
}

// bulk is the size from which links, not launches, decide what a collective takes.
const bulk = units.MiB

// nextCheck is what a row outside of what is normal points to, and a name for that.
func (r *ComparedRow) nextCheck(verdict, topology string) (kind, check string) {
	switch {
	case !strings.Contains(verdict, "slow"):
		return "fast", fmt.Sprintf("whether %s is this machine and the profile is of its GPUs: rows are faster than predicted (railyard "+
			"discover; railyard fit makes a profile of these rows)", topology)
	case r.Measured.Size < bulk:
		return "launch", "what launches cost: small sizes are slow; capture them in a CUDA graph (nccl-tests -G 1), bind processes to " +
			"the CPUs of their GPUs, look for other load"
	case r.Measured.Nodes > 1:
		return "network", fmt.Sprintf("the network: `railyard check live --against %s` on each node finds missing NICs and links, "+
			"NCCL_DEBUG=INFO says whether all NICs and GPUDirect RDMA are used, and the same rows on one node whether it is inside",
			topology)
	}
	return "links", fmt.Sprintf("the links of the node: `railyard check live --against %s` finds missing ones, `railyard probe -o "+
		"probe.yaml` slow ones", topology)
}

// farther is the time of a row, out of place or in place, that is farther from what is normal.
func (r *ComparedRow) farther() units.Time {
	if r.outBy(r.Measured.InPlace) > r.outBy(r.Measured.Time) {
		return r.Measured.InPlace
	}
	return r.Measured.Time
}

func (r *ComparedRow) distance() float64 { return r.outBy(r.farther()) }

// outBy is by what factor a time is outside what is normal, as a logarithm; 0 within it.
func (r *ComparedRow) outBy(t units.Time) float64 {
	if t <= 0 {
		return 0
	}
	return max(0, math.Log(t.Seconds()/r.Predicted.High.Seconds()), math.Log(r.Predicted.Low.Seconds()/t.Seconds()))
}
