package cost

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"railyard/model/topology"
	"railyard/model/units"
)

// Curved reports whether messages of a protocol were measured: a curve has its name.
func (p *Profile) Curved(protocol string) bool {
	return slices.ContainsFunc(p.Curves, func(c Curve) bool { return c.Protocol == protocol })
}

// Transfer is what one message costs on top of link latencies: α, the cap on its rate
// (0: none) and the share of the line rate that can be used.
type Transfer struct {
	Alpha      units.Time
	Cap        units.Rate
	Efficiency float64
	Peer       units.Time // of further peers of an operation
	Gap        units.Time // between messages of one adapter
	Launch     units.Time // besides the profile's
	Ahead, Row bool       // see Curve
	Part       units.Time // see Curve
	// What all messages of a node's adapters share, and those of a rank or of its channel; 0: nothing but links.
	Node, NodeWay, Sustained, Carrier units.Rate
	Channels                          bool
	Slower                            float64    // by which factor what carries it is slower than with the largest messages; 0: 1
	Further, Receive                  units.Time // of a further channel, once; of a receiver's program
}

// Transfer looks up the curve for a medium and protocol. The most specific curve wins:
// medium and protocol, then medium alone, then protocol alone, then any.
func (p *Profile) Transfer(medium topology.Medium, protocol string, bytes units.Bytes) Transfer {
	c := p.curve(medium, protocol)
	if c == nil {
		return Transfer{Efficiency: 1}
	}
	i := len(c.Segments) - 1
	for i > 0 && c.Segments[i].From > bytes {
		i--
	}
	x := c.Segments[i].transfer()
	if c.Smooth && i+1 < len(c.Segments) && bytes > c.Segments[i].From {
		x = x.towards(c.Segments[i+1].transfer(), Between(c.Segments[i].From, c.Segments[i+1].From, bytes))
	}
	x.Peer, x.Gap, x.Part, x.Launch, x.Ahead, x.Row, x.Receive = c.Peer, c.Gap, c.Part, c.Launch, c.Ahead, c.Row, c.Receive
	if medium == topology.Network { // a curve for any medium is one for messages inside nodes, too
		x.Node, x.NodeWay, x.Sustained, x.Carrier, x.Channels = c.Node, c.NodeWay, c.Sustained, c.Carrier, c.Channels
		x.Further, x.Slower = c.Further, 1
		if largest := c.Segments[len(c.Segments)-1].Rate; x.Cap > 0 && largest > 0 && c.Carrier > 0 && !c.Channels {
			x.Slower = float64(largest) / float64(x.Cap)
		}
	}
	return x
}

// Local is what ranks that run schedules of a protocol reach in their own memory: the profile's, or those of a curve.
func (p *Profile) Local(protocol string) (reduce, copied units.Rate) {
	reduce, copied = p.Reduce, p.Copy
	for i := range p.Curves {
		if c := &p.Curves[i]; c.Protocol == protocol {
			reduce, copied = cmp.Or(c.Reduce, reduce), cmp.Or(c.Copy, copied)
		}
	}
	return reduce, copied
}

func (s *Segment) transfer() Transfer {
	if s.Efficiency == 0 {
		return Transfer{Alpha: s.Alpha, Cap: s.Rate, Efficiency: 1}
	}
	return Transfer{Alpha: s.Alpha, Cap: s.Rate, Efficiency: s.Efficiency}
}

// towards is a share of the way to another transfer: α and the time of a byte change evenly.
func (x Transfer) towards(y Transfer, share float64) Transfer {
	x.Alpha += units.Time(math.Round(share * float64(y.Alpha-x.Alpha)))
	x.Efficiency = 1 / ((1-share)/x.Efficiency + share/y.Efficiency)
	if each := (1-share)*perByte(x.Cap) + share*perByte(y.Cap); each > 0 {
		x.Cap = units.Rate(1 / each)
	}
	return x
}

// perByte is the time of a byte in seconds; nothing where a rate has no cap.
func perByte(r units.Rate) float64 {
	if r == 0 {
		return 0
	}
	return 1 / float64(r)
}

// Between is which share of the way from one size to another a size is, on a scale of
// factors: 0 at the first and below, 1 at the second and beyond.
func Between(from, to, size units.Bytes) float64 {
	from, size = max(from, 1), max(size, 1)
	share := math.Log2(float64(size)/float64(from)) / math.Log2(float64(to)/float64(from))
	return min(max(share, 0), 1)
}

// Covers reports whether the profile has a curve for a medium and protocol; without
// one, transfers get the line rate.
func (p *Profile) Covers(medium topology.Medium, protocol string) bool {
	return p.curve(medium, protocol) != nil
}

// plainer is the protocol whose curve stands in for a protocol that has none of its own.
var plainer = map[string]string{"pull": "simple", "copy": "simple", "words": "simple", "proxy": "simple", "stages": "simple"}

// Flags without data are protocols of their own, of messages without bytes: one that orders
// what was read or written before (release and acquire), and one that orders nothing.
const (
	Flag        = "flag"
	RelaxedFlag = "relaxed_flag"
)

// Request is a protocol of its own too: what loads from a peer send the other way, to the
// memory that is read. It has bytes alone, RequestShare of those that are read.
const Request = "request"

// RequestShare: a request of 16 bytes asks for 128, as the data of packets on NVLink have them.
const RequestShare = 16. / 128

// OneWay is the protocol of messages from a rank that hears of nobody to one that sends to
// nobody, as from the root of a broadcast: no threads take what others put meanwhile.
func OneWay(protocol string) string { return protocol + oneWay }

const oneWay = "_oneway"

// curve is the most specific curve, nil where none applies.
func (p *Profile) curve(medium topology.Medium, protocol string) *Curve {
	if strings.HasSuffix(protocol, inSwitch) {
		return p.inSwitchCurve(medium, protocol)
	}
	best := p.specific(medium, protocol)
	if (protocol == Flag || protocol == RelaxedFlag || protocol == Request || strings.HasSuffix(protocol, oneWay)) &&
		(best == nil || best.Protocol != protocol) {
		return nil // the curves of messages with data say nothing of them
	}
	if other := plainer[protocol]; other != "" && (best == nil || best.Protocol != protocol) {
		return p.specific(medium, other)
	}
	return best
}

func (p *Profile) specific(medium topology.Medium, protocol string) *Curve {
	var best *Curve
	rank := -1
	for i := range p.Curves {
		c := &p.Curves[i]
		r := 0
		switch {
		case c.Medium == medium.String():
			r += 2
		case c.Medium != anyMedium:
			continue
		}
		switch {
		case c.Protocol == protocol:
			r++
		case c.Protocol != anyMedium:
			continue
		}
		if r > rank {
			best, rank = c, r
		}
	}
	return best
}

// anyMedium stands for every medium or every protocol in a curve.
const anyMedium = "any"

// On is such a message over a line (bytes/s), with what the gap between messages takes of the carrier of its rank (of which each of its
// bytes takes so many), or of the line where ranks have none; so many parts leave at once. One alone takes as long as before.
func (x Transfer) On(line float64, bytes units.Bytes, parts int) (t Transfer, each float64) {
	switch {
	case bytes == 0 || line == 0:
	case x.Carrier > 0:
		return x.carried(line, bytes, parts)
	case x.Gap > 0:
		return x.over(line, bytes, parts), 1
	}
	return x, 1
}

// carried is a message of so many bytes, and what each of them takes of its rank's carrier, which is busy for the gap, too, in bytes.
func (x Transfer) carried(line float64, bytes units.Bytes, parts int) (t Transfer, each float64) {
	gap := (x.Gap.Seconds() + float64(parts-1)*x.Part.Seconds()) / float64(parts)
	each = x.Slower + gap*float64(x.Carrier)/float64(bytes)
	carrier := float64(x.Carrier) / x.Slower
	rate := min(line*x.Efficiency, carrier)
	if x.Cap > 0 {
		rate = min(rate, float64(x.Cap))
	}
	busy, alone := x.Gap.Seconds()+float64(bytes)/carrier, float64(bytes)/rate
	x.Alpha = max(x.Alpha-units.Time(max(busy-alone, 0)*1e12), 0)
	return x, each
}

// Among is a message among others that its rank's carrier moves in the same operation, as many bytes as one would have that costs all: it
// goes no faster than that one.
func (x Transfer) Among(all Transfer) Transfer {
	if x.Carrier > 0 && !x.Channels && all.Cap > 0 && (x.Cap == 0 || all.Cap < x.Cap) {
		x.Cap, x.Slower, x.Efficiency = all.Cap, all.Slower, min(x.Efficiency, all.Efficiency)
	}
	return x
}

// over is a message on a line to which nothing is handed faster than a message, or so many parts that leave at once, in each gap: where
// bytes take less than that, they have less of the line.
func (x Transfer) over(line float64, bytes units.Bytes, parts int) Transfer {
	shared := float64(bytes) / (line * x.Efficiency)
	alone := shared
	if x.Cap > 0 {
		alone = max(alone, float64(bytes)/float64(x.Cap))
	}
	gap := x.Gap.Seconds()
	if each := (gap + float64(parts-1)*x.Part.Seconds()) / float64(parts); shared < each {
		x.Efficiency = float64(bytes) / line / each
	}
	if alone < gap {
		x.Alpha = max(x.Alpha-units.Time((gap-alone)*1e12), 0)
	}
	return x
}

// ExtraLatency is what a message over a route takes beside α: the latencies of its links where the profile counts them, else
// what they take more than usual ones, which are in an α that was measured. Nothing where messages cost nothing.
func (p *Profile) ExtraLatency(r *topology.Route) units.Time {
	switch {
	case p.Latencies:
		return r.Latency
	case len(p.Curves) == 0:
		return 0
	}
	return max(r.Beyond, 0)
}

// Protocols are the protocols that the profile has curves for; simple alone where its
// curves do not tell protocols apart.
func (p *Profile) Protocols() []string {
	var out []string
	for _, name := range []string{"simple", "ll", "ll128"} {
		for _, c := range p.Curves {
			if c.Protocol == name {
				out = append(out, name)
				break
			}
		}
	}
	if len(out) == 0 {
		return []string{"simple"}
	}
	return out
}

// Warnings says where a size or a number of GPUs lies outside what the profile was fitted on.
func (p *Profile) Warnings(size units.Bytes, gpus int) (out []string) {
	beyond := func(format string, limit any) {
		out = append(out, "extrapolated: profile "+p.Name+" was fitted "+fmt.Sprintf(format, limit))
	}
	switch {
	case p.MaxSize > 0 && size > p.MaxSize:
		beyond("up to %v", p.MaxSize)
	case p.MinSize > 0 && size < p.MinSize:
		beyond("from %v on", p.MinSize)
	}
	if p.MaxGPUs > 0 && gpus > p.MaxGPUs {
		beyond("on %d GPUs at most", p.MaxGPUs)
	}
	return out
}
