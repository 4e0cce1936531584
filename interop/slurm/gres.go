package slurm

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"railyard/interop/foreign/hostlist"
	"railyard/model/survey"
	"railyard/model/topology"
	"railyard/model/units"
)

// WriteGres writes the GPUs of a topology as gres.conf (Slurm's man page gres.conf(5)): a line for each GPU of each type of
// node, with Links= the NVLinks that lead to each GPU of the node directly, −1 for itself. Links over NVSwitches and AMD's
// do not count: slurmd's NVML plugin counts NVLinks between GPUs, its RSMI plugin none, so that with AutoDetect any other
// number drains the node.
func WriteGres(w io.Writer, t *topology.Topology) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# gres.conf of %s: %s, %s. Device files are taken to be in the order of PCI addresses, as Links= counts them.\n",
		t.Name(), units.Counted(t.NumNodes(), "node"), units.Counted(t.NumRanks(), "GPU"))
	var order []string
	nodes, gpus := map[string][]int{}, map[int][]topology.DeviceID{}
	for rank, d := range t.Ranks() {
		if t.Devices()[d].Kind != topology.GPU {
			return fmt.Errorf("%s is no GPU: gres.conf is for GPUs", t.DeviceName(d))
		}
		gpus[t.NodeOf(rank)] = append(gpus[t.NodeOf(rank)], d)
	}
	for n := range t.NumNodes() {
		lines := nodeLines(t, gpus[n])
		if nodes[lines] == nil {
			order = append(order, lines)
		}
		nodes[lines] = append(nodes[lines], n)
	}
	for _, lines := range order {
		names := make([]string, len(nodes[lines]))
		for i, n := range nodes[lines] {
			names[i] = t.NodeName(n)
		}
		for line := range strings.Lines(lines) {
			fmt.Fprintf(&b, "NodeName=%s %s", hostlist.Write(names), line)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// nodeLines are the GPUs of a node, without its name.
func nodeLines(t *topology.Topology, gpus []topology.DeviceID) string {
	var b strings.Builder
	for i, d := range gpus {
		links := make([]string, len(gpus))
		for j, peer := range gpus {
			links[j] = fmt.Sprint(direct(t, d, peer))
		}
		links[i] = "-1"
		kind, file := "", nvidiaFile
		if m := t.Devices()[d].Model; m >= 0 {
			name := t.Models()[m].Name
			kind = "Type=" + gresType(name) + " "
			if survey.IsAMD(name) {
				file = amdFile
			}
		}
		fmt.Fprintf(&b, "Name=gpu %sFile=%s Links=%s\n", kind, file(i), strings.Join(links, ","))
	}
	return b.String()
}

// nvidiaFile and amdFile are the device files of a node's GPUs: minor numbers of AMD's, which are DRM's render nodes, begin at 128.
func nvidiaFile(gpu int) string { return fmt.Sprintf("/dev/nvidia%d", gpu) }
func amdFile(gpu int) string    { return fmt.Sprintf("/dev/dri/renderD%d", 128+gpu) }

// direct are the NVLinks from one GPU to another without a switch.
func direct(t *topology.Topology, from, to topology.DeviceID) (n int) {
	for _, l := range t.Out(from) {
		if x := t.Links()[l]; x.To == to && t.Class(l).Medium == topology.NVLink {
			n += int(x.Count)
		}
	}
	return n
}

// gresType is a model's name as a type: Slurm looks for it in the driver's name for the GPU, in small letters.
func gresType(model string) string {
	return cmp.Or(strings.Map(func(r rune) rune {
		if r == ' ' || r == '=' || r == ',' || r == '#' {
			return '_'
		}
		return r
	}, strings.ToLower(model)), "gpu")
}
