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
