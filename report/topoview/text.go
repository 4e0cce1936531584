// Package topoview shows topologies: as text tables and as pictures.
package topoview

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"railyard/model/topology"
	"railyard/model/units"
)

// maxMatrix is how many ranks a matrix shows.
const maxMatrix = 72

// Matrix prints connections in the style of nvidia-smi topo -m, then bandwidths.
func Matrix(w io.Writer, t *topology.Topology) error {
	n := t.NumRanks()
	if n > maxMatrix {
		return fmt.Errorf("a matrix of %d ranks cannot be read: choose fewer with --nodes or --gpus (at most %d)", n, maxMatrix)
	}
	router := topology.NewRouter(t)
	table := func(title string, cell func(topology.Route) string) error {
		fmt.Fprintln(w, title)
		tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for b := range n {
			fmt.Fprintf(tw, "\t%s", t.DeviceName(t.Ranks()[b]))
		}
		fmt.Fprintln(tw)
		for a := range n {
			fmt.Fprint(tw, t.DeviceName(t.Ranks()[a]))
			for b := range n {
				r, err := router.Route(a, b)
				switch {
				case err != nil:
					fmt.Fprint(tw, "\t-")
				case a == b:
					fmt.Fprint(tw, "\tX")
				default:
					fmt.Fprint(tw, "\t", cell(r))
				}
			}
			fmt.Fprintln(tw)
		}
		return tw.Flush()
	}
	if err := table("Connections", Connection); err != nil {
		return err
	}
	fmt.Fprint(w, legend)
	return table("\nBandwidth of one transfer, GB/s", func(r topology.Route) string { return fmt.Sprintf("%.4g", r.Rate.GBps()) })
}

const legend = `
NV#  # bonded links, direct or over switches   XG#  # Infinity Fabric links
PIX  one PCIe switch at most   PXB  several PCIe switches   PHB  through a CPU   SYS  across sockets
SHM  shared memory   HOST  copied through host memory   NET  NICs and network
`

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
