package report

import (
	"railyard/model/topology"
)

// TopologyDocument is what a topology is made of.
type TopologyDocument struct {
	Schema      string          `json:"schema" const:"railyard.parts/v1" doc:"what a topology is made of"`
	Topology    string          `json:"topology"`
	Description string          `json:"description"`
	Hash        string          `json:"hash" text:"hash"`
	Ranks       int             `json:"ranks" text:"ranks"`
	Healthy     string          `json:"healthy,omitempty" text:"the whole machine" doc:"where parts have failed"`
	HealthyHash string          `json:"healthy_hash,omitempty" text:"its hash"`
	Devices     []TopologyKind  `json:"devices" title:"Devices"`
	Links       []TopologyClass `json:"links" csv:"" title:"Links (a direction)"`
	Tiers       []TopologyTier  `json:"tiers" title:"Tiers"`
	Faults      []TopologyFault `json:"faults,omitempty" title:"Faults"`
	LostRanks   []int           `json:"lost_ranks,omitempty" doc:"gone of the whole machine; the others are numbered in order"`
}

// TopologyKind is a kind of device.
type TopologyKind struct {
	Kind  string `json:"kind" text:"kind"`
	Count int    `json:"count" text:"count"`
}

// TopologyClass is a class of links.
type TopologyClass struct {
	Class     string  `json:"class" text:"class"`
	Count     int     `json:"count" text:"count"`
	GBps      float64 `json:"GBps" text:"rate"`
	LatencyUS float64 `json:"latency_us" text:"latency"`
	Source    string  `json:"source"`
	Date      string  `json:"date"`
}

// TopologyTier is a level of locality.
type TopologyTier struct {
	Tier   string `json:"tier" text:"tier"`
	Groups int    `json:"groups" text:"groups"`
}

// TopologyFault is a part that has failed or is slow.
type TopologyFault struct {
	State string `json:"state" text:"state"`
	Part  string `json:"part" text:"part"`
}

// NewTopology counts what a topology is made of.
func NewTopology(t *topology.Topology) *TopologyDocument {
	d := &TopologyDocument{Schema: "railyard.parts/v1", Topology: t.Name(), Description: t.Description(), Hash: t.Hash(),
		Ranks: t.NumRanks(), LostRanks: t.LostRanks()}
	kinds := map[topology.Kind]int{}
	for _, x := range t.Devices() {
		kinds[x.Kind]++
	}
	for k := topology.GPU; k <= topology.Core; k++ {
		if kinds[k] > 0 {
			d.Devices = append(d.Devices, TopologyKind{k.String(), kinds[k]})
		}
	}
	links := make([]int, len(t.Classes()))
	for _, l := range t.Links() {
		links[l.Class] += int(l.Count)
	}
	for i, c := range t.Classes() {
		if links[i] > 0 {
			d.Links = append(d.Links, TopologyClass{c.Name, links[i], c.Rate.GBps(), c.Latency.Microseconds(), c.Source, c.Date})
		}
	}
	for _, tier := range t.Tiers() {
		d.Tiers = append(d.Tiers, TopologyTier{tier.Name, tier.Groups})
	}
	for _, f := range t.Faults() {
		state := "failed"
		if f.Slow() {
			state = "slow"
		}
		d.Faults = append(d.Faults, TopologyFault{state, f.String()})
		d.Healthy, d.HealthyHash = t.Healthy().Name(), t.Healthy().Hash()
	}
	return d
}
