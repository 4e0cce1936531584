package report

import (
	"fmt"
	"strings"

	"railyard/model/units"
)

// collectiveWords is a collective in prose: all_reduce is an all-reduce.
func collectiveWords(name string) string {
	s := strings.ReplaceAll(name, "_", "-")
	return strings.ToUpper(s[:min(len(s), 1)]) + s[min(len(s), 1):]
}

// ncclWays says what NCCL's algorithms do.
var ncclWays = map[string]string{
	"ring": "a ring in each channel", "tree": "a double binary tree over the nodes, chains inside them",
	"nvls":      "NVLink SHARP: NVSwitches reduce and multicast",
	"nvls_tree": "NVLink SHARP in each node, trees over the NICs", "collnet_direct": "SHARP: the network's switches add up",
	"collnet_chain": "SHARP: the network's switches add up, chains inside nodes", "ce": "copy engines, no kernel",
}

// where names a machine and its number of ranks.
func where(topology string, ranks int) string {
	return fmt.Sprintf("%s (%s)", topology, units.Counted(ranks, "rank"))
}

// layoutAxes are the axes of a layout's short form, spelt out.
var layoutAxes = []struct{ short, long string }{
	{"tp", "tensor"}, {"cp", "context"}, {"pp", "pipeline"}, {"ep", "expert"}, {"dp", "data"},
}

// LayoutWords spells a layout's short form out: 8-way tensor × 4-way data parallel.
func LayoutWords(short string) string {
	sizes := map[string]string{}
	var rest []string
	for _, word := range strings.Fields(short) {
		axis := strings.TrimRight(word, "0123456789*")
		n := strings.TrimPrefix(word, axis)
		switch axis {
		case "vpp":
			rest = append(rest, "pipeline in "+n+" interleaved chunks a stage")
		case "zero":
			rest = append(rest, map[string]string{"0": "plain data parallel", "1": "optimizer states sharded (ZeRO-1)",
				"2": "optimizer states and gradients sharded (ZeRO-2)",
				"3": "parameters sharded (ZeRO-3, FSDP)"}[n])
		case "mb":
			rest = append(rest, "micro-batch "+n)
		case "gb":
			rest = append(rest, "global batch "+n)
		case "sp":
			rest = append(rest, "sequence parallel")
		case "full", "selective":
			rest = append(rest, word+" recomputation")
		default:
			if n == "" {
				rest = append(rest, word)
			}
			sizes[axis] = n
		}
	}
	var ways []string
	for _, a := range layoutAxes {
		if n := sizes[a.short]; n != "" && n != "1" {
			ways = append(ways, n+"-way "+a.long)
		}
	}
	if len(ways) == 0 {
		ways = []string{"one GPU, nothing"}
	}
	return strings.Join(append([]string{strings.Join(ways, " × ") + " parallel"}, rest...), ", ")
}
