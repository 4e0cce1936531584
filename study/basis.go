package study

import (
	"fmt"
	"slices"
	"strings"

	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/study/measured"
)

// Basis says how a predicted time comes to be known: by the least known of the costs that it is made of.
type Basis struct {
	Kind   cost.OriginKind // measured, fitted, derived, assumed or line rate
	Source string          // in words
	Beyond bool            // extrapolated: outside the sizes that the costs were found at
}

// String is what stands in tables.
func (b Basis) String() string {
	if b.Beyond {
		return string(b.Kind) + ", extrapolated"
	}
	return string(b.Kind)
}

// Unsure reports whether nothing was measured that the time rests on directly.
func (b *Basis) Unsure() bool { return b.Beyond || b.Kind == cost.Derived || b.Kind == cost.Assumed }

// originOrder are the kinds of origins from the best to the worst.
var originOrder = []cost.OriginKind{cost.Measured, cost.Fitted, cost.Derived, cost.Assumed, cost.LineRate}

// bases are those of plans on a question's machine, found once.
type bases struct {
	moved     cost.Origin // of messages between ranks
	inNetwork cost.Origin // of operations that switches make
}

// basesOf looks at the media that messages cross: between the first ranks, and between nodes.
func (q *Question) basesOf() bases {
	t := q.asked.Topology
	media := []topology.Medium{measured.Medium(t)}
	if t.NumNodes() > 1 && slices.ContainsFunc(t.Classes(), func(c topology.Class) bool { return c.Medium == topology.Network }) {
		media = append(media, topology.Network)
	}
	b := bases{moved: q.costs.OriginOver(media[0])}
	for _, m := range media[1:] {
		if o := q.costs.OriginOver(m); slices.Index(originOrder, o.Kind) > slices.Index(originOrder, b.moved.Kind) {
			b.moved = o
		}
	}
	b.inNetwork = q.costs.OriginInSwitch()
	_, outside := t.InNetwork(func(d topology.Device) bool { return d.Kind != topology.NVSwitch })
	if outside && b.moved.Kind != cost.LineRate {
		b.inNetwork = cost.Origin{Kind: cost.Assumed,
			Source: "operations of the network's switches cost what messages do: none were measured"}
	}
	if slices.Index(originOrder, b.moved.Kind) > slices.Index(originOrder, b.inNetwork.Kind) {
		b.inNetwork = b.moved
	}
	return b
}

// basis is that of a schedule's prediction.
func (b *bases) basis(s *schedule.Schedule, warnings []string) Basis {
	o := b.moved
	if len(s.Needs) > 0 {
		o = b.inNetwork
	}
	return Basis{Kind: o.Kind, Source: fmt.Sprint(&o), Beyond: extrapolated(warnings)}
}

// extrapolated reports whether a warning says so.
func extrapolated(warnings []string) bool {
	return slices.ContainsFunc(warnings, func(w string) bool { return strings.HasPrefix(w, "extrapolated") })
}
