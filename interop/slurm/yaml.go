package slurm

import (
	"fmt"
	"io"
	"strings"

	"railyard/interop/foreign/hostlist"
	"railyard/model/topology"
)

// WriteYAML writes the tiers of a topology as topology.yaml (Slurm 25.05's man page topology.yaml(5)), which stands in place of
// topology.conf: the tree of switches, the default, and where GPUs of several nodes share NVSwitches, these nodes as blocks.
func WriteYAML(w io.Writer, t *topology.Topology) error {
	switches, err := TreeOf(t)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "- topology: %s\n  cluster_default: true\n  tree:\n    switches:\n", t.Name())
	for _, s := range switches {
		fmt.Fprintf(&b, "    - switch: %s\n", s.Name)
		if s.Nodes != nil {
			fmt.Fprintf(&b, "      nodes: %s\n", hostlist.Write(s.Nodes))
		} else {
			fmt.Fprintf(&b, "      children: %s\n", hostlist.Write(s.Switches))
		}
	}
	if list, size := blocks(t); size > 1 {
		fmt.Fprintf(&b, "- topology: %s-blocks\n  cluster_default: false\n  block:\n    block_sizes:\n", t.Name())
		for n := size; n <= size*len(list); n *= 2 {
			fmt.Fprintf(&b, "    - %d\n", n)
		}
		b.WriteString("    blocks:\n")
		for i, nodes := range list {
			fmt.Fprintf(&b, "    - block: block%d\n      nodes: %s\n", i, hostlist.Write(nodes))
		}
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// blocks are the nodes that share scale-up switches, and how many the smallest block has.
func blocks(t *topology.Topology) (list [][]string, least int) {
	_, domains := t.ScaleUpDomains()
	for _, ranks := range domains {
		var names []string
		last := -1
		for _, r := range ranks {
			if n := t.NodeOf(r); n != last {
				names, last = append(names, t.NodeName(n)), n
			}
		}
		if list = append(list, names); least == 0 || len(names) < least {
			least = len(names)
		}
	}
	return list, least
}
