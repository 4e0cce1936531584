package nccl

import (
	"fmt"
	"math"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/units"
)

// copyEngine is the algorithm of NCCL's collectives by copy engines: every rank copies
// its part straight to every other one, without a kernel (from NCCL 2.28 on, for memory
// in symmetric windows and the zero-CTA policy; src/ce_coll.cc). NCCL has them inside a
// node, for collectives that reduce nothing.
const copyEngine = "ce"

// twoBarriers is how many operations a rank waits for besides one copy and one signal to
// every rank: a barrier before and one after.
const twoBarriers = 2

// byCopyEngine predicts a collective from the profile's copy engines: its rows were not
// fitted on (validation of TestCopyEnginesMatchMeasurements).
func (r *Runtime) byCopyEngine(a Ask) (Prediction, error) {
	e, n := r.profile.Engine("copy_engine"), float64(r.rates.ranks)
	if a.Kind != collective.AllGather && a.Kind != collective.AllToAll || r.rates.nodes > 1 || r.overPCIe() {
		return Prediction{}, unsupported("NCCL's copy engines make all_gather and all_to_all inside one NVLink domain")
	}
	if p := Plain(a.Protocol); p != "" && p != "copy" {
		return Prediction{}, unsupported("copy engines have no protocol %s", a.Protocol)
	}
	part := units.Bytes(math.Ceil(float64(a.Size) / n))
	w := Work{Size: a.Size, Hops: 2*n + twoBarriers, Steps: n - 1, Chunk: part, Line: r.rates.scaleUp, Limit: "copy engines over " +
		r.rates.via, Wire: (n - 1) * float64(part)}
	p := Prediction{Algorithm: copyEngine, Protocol: "copy", Over: r.rates.over, Work: w, Latency: units.Time(w.Hops) * e.Alpha,
		Basis: cost.OwnEstimate, bands: r.general, ranks: r.rates.ranks, nodes: r.topo.NumNodes(),
		Slowest: fmt.Sprintf("%.0f operations of copy engines of %v each", w.Hops, e.Alpha)}
	move := w.Wire / (e.Efficiency * w.Line)
	if e.Local > 0 {
		move += float64(part) / float64(e.Local) // a rank's own part
	}
	p.Time = p.Latency + units.Time(move*1e12)
	r.bounded(&p, a.Kind, a.Size)
	return p, nil
}
