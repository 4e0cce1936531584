package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"railyard/report"
)

// workedTransfer is a worked number of the documents about collectives and transfers alone,
// and the commands that answer it: expect or crossing.
type workedTransfer struct {
	question, says string
	runs           []transferRun
	why            string
}

type transferRun struct{ label, command string }

var workedTransfers = []workedTransfer{
	{"All-reduce of 1 GB on 8 A100: PCIe only / cube-mesh / NVSwitch", "450 / 85 / 34 ms",
		[]transferRun{
			{"PCIe 4", "expect -t pcie4-server -c all_reduce -s 1000000000"},
			{"cube-mesh (DGX-1 V100: none was built of A100)", "expect -t dgx1-v100 -c all_reduce -s 1000000000"},
			{"NVSwitch", "expect -t dgx-a100 -c all_reduce -s 1000000000"}},
		"A ring sends 2·7/8 of the data over each GPU's links. 34 ms would be 51 GB/s of the 300 that twelve NVLink 3 links carry, 85 ms 21 of a cube-mesh's 150, 450 ms 3.9 of 31.5 over PCIe 4, where rings share the links to the switches and between the sockets."},
	{"Two nodes of 8 H100, 400 Gb/s a GPU", "50 GB/s against 900 GB/s inside a node",
		[]transferRun{
			{"all-reduce in a node", "expect -t dgx-h100 -c all_reduce -s 1G"},
			{"the same over both nodes", "expect -t dgx-h100 --nodes 2 -c all_reduce -s 1G"},
			{"GPU to GPU in a node", "expect -t dgx-h100 -c send_recv -s 1G"},
			{"GPU to GPU across", "crossing -t dgx-h100 --nodes 2 --to 8 -s 1G"}},
		"900 GB/s are both directions of 18 NVLink 4 links, 50 GB/s one direction of an adapter: 450 against 50. Between two GPUs that is what decides; an all-reduce uses all eight adapters of a node, and switches inside it that add up, so that two nodes are hardly slower than one."},
	{"Penny, 2 × 8 H100: exchange inside / across nodes", "733 GB/s (both directions summed) / 87 → 96 GB/s with GPU-initiated transfers",
		[]transferRun{
			{"inside, NCCL's send_recv", "expect -t dgx-h100 -c send_recv -s 1G"},
			{"across, posted by a CPU thread", "crossing -t dgx-h100 --nodes 2 --to 8 -s 1G"},
			{"across, posted by the GPU", "crossing -t dgx-h100 --nodes 2 --to 8 -s 1G --initiated gpu"}},
		"GB/s are one direction's here: twice as much are both. 87 and 96 of 100 GB/s are where the shares of an adapter come from that either way reaches (model/cost/steps.yaml), so that these agree by construction; inside a node, kernels that only store at a peer are faster than NCCL's send_recv, 366 of 450 GB/s."},
}

// addTransfers adds what the commands say.
func addTransfers(ctx context.Context, d *report.Scenarios) error {
	for _, t := range workedTransfers {
		x := report.TransferScenario{Question: t.question, Says: t.says, Why: t.why}
		for _, r := range t.runs {
			row, err := r.row(ctx)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", t.question, r.label, err)
			}
			x.Rows = append(x.Rows, row)
		}
		d.Transfers = append(d.Transfers, x)
	}
	return nil
}

func (r *transferRun) row(ctx context.Context) (report.TransferRow, error) {
	row := report.TransferRow{Label: r.label, Command: "railyard " + r.command}
	q := question{args: strings.Fields(r.command)}
	answer, err := q.answer(ctx, nil)
	if err != nil {
		return row, err
	}
	var said struct {
		TimeUS float64            `json:"time_us"`
		GBps   float64            `json:"GBps"`
		Rows   []report.ExpectRow `json:"rows"`
	}
	if err := json.Unmarshal(answer.(json.RawMessage), &said); err != nil {
		return row, err
	}
	row.MS, row.GBps = said.TimeUS/1000, said.GBps
	if len(said.Rows) > 0 {
		row.MS, row.GBps = said.Rows[0].TimeUS/1000, said.Rows[0].BusBW
	}
	return row, nil
}
