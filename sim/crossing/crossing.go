// Package crossing predicts a transfer from a GPU of one node to a GPU of another, step
// by step: convert to a smaller type, copy to host memory, cross the network, copy to
// the GPU, convert back, and synchronise. GPUDirect RDMA leaves the two host copies
// out. Pieces of the transfer go through the steps as through a pipeline.
package crossing

import (
	"cmp"
	"fmt"
	"math"

	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
)

// Options say how the transfer is made.
type Options struct {
	Size         units.Bytes
	Shrink       int  // bytes in over bytes on the wire: 2 for FP32→FP16, 4 for FP32→FP8; 1: as it is
	HostStaged   bool // through host memory at both ends, without GPUDirect RDMA
	GPUInitiated bool // the GPU posts to the NIC itself; else a proxy thread does
	QueuePairs   int
	Pieces       int // of the pipeline; 0: as many as are fastest, up to maxPieces
}

// maxPieces bounds the search for the number of pieces.
const maxPieces = 256

// Step is one stage of the pipeline.
type Step struct {
	Name  string
	Bytes units.Bytes // that it handles in all
	Rate  float64     // bytes/s
	Alpha units.Time  // of each piece
	Busy  units.Time  // over all pieces
}

// Result is a predicted transfer.
type Result struct {
	Steps       []Step
	Pieces      int
	Synchronise units.Time
	Serial      units.Time // one step after the other, in one piece
	Time        units.Time // overlapped
	Slowest     string     // step that the others wait for
	Notes       []string
}

// Predict is the transfer from one rank to another, which have to be on different nodes.
func Predict(t *topology.Topology, from, to int, costs *cost.Steps, o Options) (*Result, error) {
	router := topology.NewRouter(t).Reaching(topology.HostStaged) // the options say what is staged
	route, err := router.Route(from, to)
	if err != nil {
		return nil, err
	}
	if route.Kind != topology.Net {
		return nil, fmt.Errorf("%s and %s are on one node or one scale-up fabric: the transfer does not cross a network",
			t.DeviceName(t.Ranks()[from]), t.DeviceName(t.Ranks()[to]))
	}
	if o.Size <= 0 || o.Shrink < 1 || o.QueuePairs < 1 || o.Pieces < 0 {
		return nil, fmt.Errorf("size, shrink and queue pairs must be positive")
	}
	steps := stages(&route, costs, o, copies(router, from, to, costs.HostCopy))
	r := &Result{Notes: queuePairs(&route, costs.QueuePair, o.QueuePairs), Synchronise: costs.Synchronise.Alpha, Pieces: o.Pieces}
	r.Serial = pipeline(steps, 1) + r.Synchronise
	if r.Pieces == 0 {
		r.Pieces = fastest(steps)
	}
	r.Time = pipeline(steps, r.Pieces) + r.Synchronise
	r.finish(steps)
	return r, nil
}

// copies are what a copy to host memory at one end and from it at the other costs: no more than the links on the way carry.
func copies(router *topology.Router, from, to int, c cost.Step) [2]cost.Step {
	up, known := router.ToHost(from)
	down, also := router.FromHost(to)
	out := [2]cost.Step{c, c}
	for i, way := range []struct {
		route topology.Route
		known bool
	}{{up, known}, {down, also}} {
		if way.known {
			out[i].Rate = min(c.Rate, units.Rate(cmp.Or(c.Efficiency, 1)*float64(way.route.Rate)))
		}
	}
	return out
}

// queuePairs says where more of them change nothing, and from what that is known.
func queuePairs(route *topology.Route, one cost.Step, n int) []string {
	if float64(n)*float64(one.Rate) < float64(route.Rate) {
		return nil
	}
	return []string{fmt.Sprintf("%s carry %v each, together no less than the %v of the path: more change nothing here (%s)",
		units.Counted(n, "queue pair"), one.Rate, route.Rate, one.Source)}
}

// stages are the steps that apply.
func stages(route *topology.Route, costs *cost.Steps, o Options, copies [2]cost.Step) []Step {
	wire := (o.Size + units.Bytes(o.Shrink) - 1) / units.Bytes(o.Shrink)
	convert := costs.Convert
	post := costs.PostProxy
	if o.GPUInitiated {
		post = costs.PostGPU
	}
	line := min(float64(route.Rate)*post.Efficiency, float64(o.QueuePairs)*float64(costs.QueuePair.Rate))
	network := Step{Name: "network", Bytes: wire, Rate: line, Alpha: post.Alpha + route.Latency}
	var out []Step
	if o.Shrink > 1 {
		out = append(out, Step{Name: "compress", Bytes: o.Size + wire, Rate: float64(convert.Rate), Alpha: convert.Alpha})
	}
	if o.HostStaged {
		out = append(out, Step{Name: "device to host", Bytes: wire, Rate: float64(copies[0].Rate), Alpha: copies[0].Alpha}, network,
			Step{Name: "host to device", Bytes: wire, Rate: float64(copies[1].Rate), Alpha: copies[1].Alpha})
	} else {
		out = append(out, network)
	}
	if o.Shrink > 1 {
		out = append(out, Step{Name: "expand", Bytes: o.Size + wire, Rate: float64(convert.Rate), Alpha: convert.Alpha})
	}
	return out
}

// piece is the time of one of n pieces in a step.
func (s *Step) piece(n int) float64 {
	return float64(s.Alpha) + float64(s.Bytes)/float64(n)/s.Rate*1e12
}

// pipeline is the time of n equal pieces through all steps: the first one through all,
// the others behind it at the pace of the slowest step.
func pipeline(steps []Step, n int) units.Time {
	first, slowest := 0.0, 0.0
	for i := range steps {
		p := steps[i].piece(n)
		first += p
		slowest = max(slowest, p)
	}
	return units.Time(math.Ceil(first + float64(n-1)*slowest))
}

func fastest(steps []Step) int {
	best := 1
	for n := 2; n <= maxPieces; n++ {
		if pipeline(steps, n) < pipeline(steps, best) {
			best = n
		}
	}
	return best
}

func (r *Result) finish(steps []Step) {
	most := 0.0
	for i := range steps {
		p := steps[i].piece(r.Pieces)
		steps[i].Busy = units.Time(p * float64(r.Pieces))
		if p > most {
			most, r.Slowest = p, steps[i].Name
		}
	}
	r.Steps = steps
}
