// Package slurm writes what Slurm's schedulers know about a network.
package slurm

import (
	"fmt"
	"io"
	"strings"

	"railyard/model/topology"
	"railyard/model/units"
)

// WriteTree writes the tiers of a topology as the topology/tree plugin's topology.conf
// (Slurm's man page topology.conf(5)): a switch for each group, its nodes or the switches
// below it. Rails are not told apart: the leaves that serve the same nodes are one switch.
func WriteTree(w io.Writer, t *topology.Topology) error {
	tiers := t.Tiers()
	if len(tiers) == 0 || tiers[0].Name != "node" {
		return fmt.Errorf("%s: its ranks are in no nodes", t.Name())
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: %s, %s\n", t.Name(), units.Counted(t.NumNodes(), "node"), units.Counted(t.NumRanks(), "GPU"))
	names := make([]string, t.NumNodes())
	for n := range names {
		names[n] = t.NodeName(n)
	}
	noun, below := "Nodes", tiers[0]
	for _, tier := range tiers[1:] {
		names, below = group(&b, tier, below, names, noun), tier
		noun = "Switches"
	}
	if len(names) > 1 || noun == "Nodes" {
		fmt.Fprintf(&b, "SwitchName=top %s=%s\n", noun, strings.Join(names, ","))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// group writes a tier's switches and returns their names.
func group(b *strings.Builder, tier, below topology.Tier, names []string, noun string) []string {
	parts := make([][]string, tier.Groups)
	seen := make([]bool, below.Groups)
	for r, g := range below.Of {
		if !seen[g] {
			seen[g] = true
			parts[tier.Of[r]] = append(parts[tier.Of[r]], names[g])
		}
	}
	out := make([]string, tier.Groups)
	for i, list := range parts {
		out[i] = fmt.Sprintf("%s-%d", tier.Name, i)
		fmt.Fprintf(b, "SwitchName=%s %s=%s\n", out[i], noun, strings.Join(list, ","))
	}
	return out
}
