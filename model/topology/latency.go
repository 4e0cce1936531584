package topology

import "railyard/model/units"

// usual are the latencies of links as all shipped topologies have them (facts_test.go there): those of the machines
// that costs were measured on, whose messages and hops they are part of.
var usual = map[Medium]units.Time{
	NVLink: 340 * units.Nanosecond, XGMI: 500 * units.Nanosecond, C2C: 340 * units.Nanosecond,
	PCIe: 500 * units.Nanosecond, Socket: 300 * units.Nanosecond, Network: 600 * units.Nanosecond,
}

// Beyond is what a link takes more than usual ones, which costs that were measured elsewhere do not hold: ten kilometres
// of fibre 50 µs. Less than nothing where it is faster.
func (c *Class) Beyond() units.Time {
	if known, ok := usual[c.Medium]; ok {
		return c.Latency - known
	}
	return 0
}

// delay is what the links on a way add to a message.
type delay struct{ all, beyond units.Time }

func (c *Class) delay() delay { return delay{c.Latency, c.Beyond()} }

// then is one way behind another.
func (d delay) then(o delay) delay { return delay{d.all + o.all, d.beyond + o.beyond} }

// slower is the slower of ways side by side.
func (d delay) slower(o delay) delay { return delay{max(d.all, o.all), max(d.beyond, o.beyond)} }

func (r *Route) delay() delay { return delay{r.Latency, r.Beyond} }

// stagedLatency is what a transfer through host memory takes at least, its links included: one GPU writes a flag there, another
// finds it. From a GPU to the CPU and back, over the links up and down: 2.65 µs (2 H200, pinned memory, 2026-11-22). All_reduce of
// 8 B through host memory takes 2.6 µs a hop on 4 RTX 5090 and on 8 RTX 2080 Ti, all that NCCL does beside hops included, and 2.8 on
// 8 RTX 4090 (series genoa-rtx5090x4, rtx2080ti-x8, epyc7542-rtx4090x8 in validation/).
const stagedLatency = 2650 * units.Nanosecond

// instead is a way that is taken where costs were measured over another.
func (d delay) instead(o delay) delay { return delay{d.all, d.all - (o.all - o.beyond)} }

// staged is a way through host memory: links that take more than usual ones add that to what was measured over such.
func (d delay) staged() delay { return delay{d.beyond + max(d.all-d.beyond, stagedLatency), d.beyond} }
