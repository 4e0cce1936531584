package main

import (
	"fmt"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/report"
	"railyard/sim/crossing"
	"railyard/sim/nccl"
	"railyard/study"
)

// workedTransfer is a worked number of the documents about collectives and transfers alone,
// and what answers it.
type workedTransfer struct {
	question string
	runs     []transferRun
}

// transferRun is a collective as NCCL runs it, or a transfer from rank 0 to the first of the next node.
type transferRun struct {
	label   string
	machine machine
	ask     nccl.Ask
	cross   crossing.Options
}

func onNodes(name string, nodes int) machine {
	return machine{topology: name, options: topology.Options{Nodes: nodes}}
}

var workedTransfers = []workedTransfer{
	{"All-reduce of 1 GB on 8 A100: PCIe only / cube-mesh / NVSwitch",
		[]transferRun{
			{"PCIe 4", onNodes("pcie4-server", 1), nccl.Ask{Kind: collective.AllReduce, Size: 1_000_000_000}, crossing.Options{}},
			{"cube-mesh (DGX-1 V100: none was built of A100)", onNodes("dgx1-v100", 1), nccl.Ask{Kind: collective.AllReduce,
				Size: 1_000_000_000}, crossing.Options{}},
			{"NVSwitch", onNodes("dgx-a100", 1), nccl.Ask{Kind: collective.AllReduce, Size: 1_000_000_000}, crossing.Options{}}}},
	{"Two nodes of 8 H100, 400 Gb/s a GPU",
		[]transferRun{
			{"all-reduce in a node", onNodes("dgx-h100", 1), nccl.Ask{Kind: collective.AllReduce, Size: units.GiB}, crossing.Options{}},
			{"the same over both nodes", onNodes("dgx-h100", 2), nccl.Ask{Kind: collective.AllReduce, Size: units.GiB}, crossing.Options{}},
			{"GPU to GPU in a node", onNodes("dgx-h100", 1), nccl.Ask{Kind: collective.SendRecv, Size: units.GiB}, crossing.Options{}},
			{"GPU to GPU across", onNodes("dgx-h100", 2), nccl.Ask{}, crossing.Options{Size: units.GiB, Shrink: 1, QueuePairs: 2}}}},
	{"Penny, 2 × 8 H100: exchange inside / across nodes",
		[]transferRun{
			{"inside, NCCL's send_recv", onNodes("dgx-h100", 1), nccl.Ask{Kind: collective.SendRecv, Size: units.GiB}, crossing.Options{}},
			{"across, posted by a CPU thread", onNodes("dgx-h100", 2), nccl.Ask{}, crossing.Options{Size: units.GiB, Shrink: 1,
				QueuePairs: 2}},
			{"across, posted by the GPU", onNodes("dgx-h100", 2), nccl.Ask{}, crossing.Options{Size: units.GiB, Shrink: 1, QueuePairs: 2,
				GPUInitiated: true}}}},
}

// addTransfers adds what models say.
func addTransfers(d *report.Scenarios) error {
	for _, t := range workedTransfers {
		x := report.TransferScenario{Question: t.question}
		for _, r := range t.runs {
			row, err := r.row()
			if err != nil {
				return fmt.Errorf("%s, %s: %w", t.question, r.label, err)
			}
			x.Rows = append(x.Rows, row)
		}
		d.Transfers = append(d.Transfers, x)
	}
	return nil
}

func (r *transferRun) row() (report.TransferRow, error) {
	row := report.TransferRow{Label: r.label}
	t, err := r.machine.load()
	if err != nil {
		return row, err
	}
	machine, err := cost.MachineFor(t)
	if err != nil {
		return row, err
	}
	flags := "-t " + r.machine.topology
	if n := r.machine.options.Nodes; n > 1 {
		flags += fmt.Sprintf(" --nodes %d", n)
	}
	if r.ask.Size == 0 {
		to := t.NumRanks() / t.NumNodes()
		row.Command = fmt.Sprintf("railyard topo show %s 0 %d -s %s", flags, to, sizeFlag(r.cross.Size))
		if r.cross.GPUInitiated {
			row.Command += " --how initiated=gpu"
		}
		x, err := crossing.Predict(t, 0, to, machine.Crossing(), r.cross)
		if err == nil {
			row.MS, row.GBps = ms(x.Time), float64(r.cross.Size)/x.Time.Seconds()/1e9
		}
		return row, err
	}
	row.Command = fmt.Sprintf("railyard expect %s -c %v -s %s", flags, r.ask.Kind, sizeFlag(r.ask.Size))
	library, err := study.NCCL(t, machine, nccl.Options{})
	if err != nil {
		return row, err
	}
	x, err := library.Predict(r.ask)
	if err == nil {
		row.MS, row.GBps = ms(x.Time), float64(r.ask.Size)/x.Time.Seconds()/1e9*r.ask.Kind.BusFactor(t.NumRanks())
	}
	return row, err
}

// sizeFlag is a size as flags take it.
func sizeFlag(b units.Bytes) string {
	if b%units.GiB == 0 {
		return fmt.Sprintf("%dG", b/units.GiB)
	}
	return fmt.Sprint(int64(b))
}
