// Package slurm writes what Slurm's schedulers know about a network and its nodes, and reads what was written for them.
package slurm

import (
	"fmt"
	"io"
	"strings"

	"railyard/interop/foreign/hostlist"
	"railyard/model/topology"
	"railyard/model/units"
)

// Switch is a switch of the topology/tree plugin: it has nodes, or switches below it.
type Switch struct {
	Name     string
	Nodes    []string
	Switches []string
}

// TreeOf are the tiers of a topology as switches, leaves first. Rails are not told apart: the leaves that serve the same nodes
// are one switch.
func TreeOf(t *topology.Topology) ([]Switch, error) {
	tiers := t.Tiers()
	if len(tiers) == 0 || tiers[0].Name != "node" {
		return nil, fmt.Errorf("%s: its ranks are in no nodes", t.Name())
	}
	names := make([]string, t.NumNodes())
	for n := range names {
		names[n] = t.NodeName(n)
	}
	var out []Switch
	leaf, below := true, tiers[0]
	for _, tier := range tiers[1:] {
		list := group(tier, below, names, leaf)
		names = names[:0:0]
		for _, s := range list {
			names = append(names, s.Name)
		}
		out, leaf, below = append(out, list...), false, tier
	}
	if len(names) > 1 || leaf {
		out = append(out, switchOf("top", names, leaf))
	}
	return out, nil
}

func switchOf(name string, below []string, leaf bool) Switch {
	if leaf {
		return Switch{Name: name, Nodes: below}
	}
	return Switch{Name: name, Switches: below}
}

// group are a tier's switches.
func group(tier, below topology.Tier, names []string, leaf bool) []Switch {
	parts := make([][]string, tier.Groups)
	seen := make([]bool, below.Groups)
	for r, g := range below.Of {
		if !seen[g] {
			seen[g] = true
			parts[tier.Of[r]] = append(parts[tier.Of[r]], names[g])
		}
	}
	out := make([]Switch, tier.Groups)
	for i, list := range parts {
		out[i] = switchOf(fmt.Sprintf("%s-%d", tier.Name, i), list, leaf)
	}
	return out
}

// WriteTree writes the tiers of a topology as the topology/tree plugin's topology.conf
// (Slurm's man page topology.conf(5)): a switch for each group, its nodes or the switches
// below it.
func WriteTree(w io.Writer, t *topology.Topology) error {
	switches, err := TreeOf(t)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: %s, %s\n", t.Name(), units.Counted(t.NumNodes(), "node"), units.Counted(t.NumRanks(), "GPU"))
	for _, s := range switches {
		if s.Nodes != nil {
			fmt.Fprintf(&b, "SwitchName=%s Nodes=%s\n", s.Name, hostlist.Write(s.Nodes))
		} else {
			fmt.Fprintf(&b, "SwitchName=%s Switches=%s\n", s.Name, hostlist.Write(s.Switches))
		}
	}
	_, err = io.WriteString(w, b.String())
	return err
}
