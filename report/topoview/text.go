// Package topoview shows topologies: as text tables and as pictures.
package topoview

import (
	"fmt"
	"io"
	"strings"

	"railyard/model/topology"
	"railyard/model/units"
)

// Connection is the cell of nvidia-smi topo -m for a route.
func Connection(r topology.Route) string {
	switch {
	case r.Kind == topology.Direct && r.Medium == topology.XGMI:
		return fmt.Sprintf("XG%d", r.Links)
	case r.Kind == topology.Direct, r.Kind == topology.Switched:
		return fmt.Sprintf("NV%d", r.Links)
	}
	return r.Kind.String()
}

// maxHops is how many links of a route are listed.
const maxHops = 12

// Paths lists the best route of every kind between two ranks.
func Paths(w io.Writer, t *topology.Topology, a, b topology.DeviceID) error {
	router := topology.NewRouter(t)
	paths := router.Paths(a, b)
	if len(paths) == 0 {
		return fmt.Errorf("there is no route from %s to %s", t.DeviceName(a), t.DeviceName(b))
	}
	for i, p := range paths {
		fmt.Fprintf(w, "%d. %s  %v, %v, %s striped\n", i+1, Connection(p), p.Rate, p.Latency, units.Counted(p.Links, "link"))
		var hops []string
		for j, h := range p.Hops {
			if j == maxHops {
				hops = append(hops, fmt.Sprintf("… %d more", len(p.Hops)-maxHops))
				break
			}
			share := ""
			if h.Num != h.Den {
				share = fmt.Sprintf(" %d/%d", h.Num, h.Den)
			}
			hops = append(hops, fmt.Sprintf("%s (%s ×%d%s)", t.LinkName(h.Link), t.Class(h.Link).Name, t.Links()[h.Link].Count, share))
		}
		fmt.Fprintf(w, "   %s\n", strings.Join(hops, ", "))
	}
	return nil
}
