package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/report"
	"railyard/report/table"
)

// scenariosPage are worked numbers of the documents that railyard was asked for with. Each of its tables stands in a block
// above the commands that make its rows, in their order: the page is the list of what is asked.
const scenariosPage = "scenarios.md"

// scenariosFlags name the directory of the page.
type scenariosFlags struct {
	Out string `flag:"output,o,default=docs"`
}

// Run makes the page's tables again.
func (f *scenariosFlags) Run(cmd *cobra.Command, _ []string) error {
	page, err := scenarios(f.Out)
	if err != nil {
		return err
	}
	return cli.WriteBytes(cmd, filepath.Join(f.Out, scenariosPage), page)
}

// scenarios is the page of a directory as its commands answer now.
func scenarios(dir string) ([]byte, error) {
	page, err := os.ReadFile(filepath.Join(dir, scenariosPage))
	if err != nil {
		return nil, err
	}
	bin, err := os.MkdirTemp("", "railyard-lab-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(bin)
	program := filepath.Join(bin, "railyard")
	if said, err := exec.Command("go", "build", "-o", program, "railyard/cmd/railyard").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building railyard: %w\n%s", err, said)
	}
	blocks := table.Blocks(page)
	for i := range blocks {
		if blocks[i].Text, err = answered(program, blocks[i].Text); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", scenariosPage, blocks[i].Name, err)
		}
	}
	return table.Fill(page, blocks)
}

// command is a command of a block, and the cells of its row of the table as they were.
type command struct {
	line  string
	cells []string
}

// answered is a block with the table that its commands make now.
func answered(program, block string) (string, error) {
	var rows [][]string
	var commands []command
	for line := range strings.Lines(block) {
		switch text, isCommand := strings.CutPrefix(line, "    railyard "); {
		case isCommand:
			commands = append(commands, command{line: strings.TrimSpace(text)})
		case strings.HasPrefix(line, "|"):
			var cells []string
			for _, c := range strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|") {
				cells = append(cells, strings.TrimSpace(c))
			}
			rows = append(rows, cells)
		}
	}
	if len(rows) != len(commands)+2 || len(commands) == 0 {
		return "", fmt.Errorf("%d commands below %d lines of a table: want one for each row below its header", len(commands), len(rows))
	}
	for i := range commands {
		commands[i].cells = rows[i+2]
	}
	var list any
	var err error
	switch {
	case rows[0][0] == "option":
		list, err = each(program, commands, trainingOption)
	case strings.HasPrefix(commands[0].line, "capacity step "):
		list, err = each(program, commands, trainedStep)
	case strings.HasPrefix(commands[0].line, "capacity size "):
		list, err = each(program, commands, clusterCost)
	default:
		list, err = each(program, commands, transfer)
	}
	if err != nil {
		return "", err
	}
	text := table.Of(list).Markdown() + "\n"
	for _, c := range commands {
		text += "    railyard " + c.line + "\n"
	}
	return text, nil
}

// each makes the rows of a table.
func each[R any](program string, commands []command, row func(program string, c command) (R, error)) ([]R, error) {
	var out []R
	for _, c := range commands {
		r, err := row(program, c)
		if err != nil {
			return nil, fmt.Errorf("railyard %s: %w", c.line, err)
		}
		out = append(out, r)
	}
	return out, nil
}

// answer runs a command and reads its document.
func (c *command) answer(program string, into any) error {
	var out, errs bytes.Buffer
	run := exec.Command(program, append(cli.Words(c.line), "--format", "json")...)
	run.Stdout, run.Stderr = &out, &errs
	if err := run.Run(); err != nil {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(errs.Bytes()))
	}
	return json.Unmarshal(out.Bytes(), into)
}

// stepRow is a training step.
type stepRow struct {
	Case              string  `json:"case" text:"case"`
	StepMS            float64 `json:"step_ms" text:"step"`
	ComputeMS         float64 `json:"compute_ms" text:"compute"`
	CommunicationMS   float64 `json:"communication_ms" text:"communication"`
	ExposedMS         float64 `json:"exposed_ms" text:"exposed"`
	ScalingEfficiency float64 `json:"scaling_efficiency" text:"scaling efficiency" as:"share"`
	Fits              bool    `json:"fits" text:"fits"`
}

func trainedStep(program string, c command) (stepRow, error) {
	var d report.StepDocument
	err := c.answer(program, &d)
	return stepRow{c.cells[0], d.StepMS, d.ComputeMS, d.CommunicationMS, d.ExposedMS, d.ScalingEfficiency,
		d.Memory.Total <= d.Memory.Capacity}, err
}

// clusterRow is what a cluster costs, and its bandwidth between halves.
type clusterRow struct {
	Case          string  `json:"case" text:"case"`
	Purchase      float64 `json:"purchase" text:"purchase" as:"money"`
	Watts         float64 `json:"watts" text:"power" as:"kW"`
	Energy        float64 `json:"energy_month" text:"energy a month" as:"money"`
	BisectionGBps float64 `json:"bisection_GBps" text:"bisection bandwidth"`
}

func clusterCost(program string, c command) (clusterRow, error) {
	var d report.CostDocument
	err := c.answer(program, &d)
	return clusterRow{c.cells[0], d.Purchase, d.Watts, d.Energy, d.BisectionGBps}, err
}

// transferRow is a collective as NCCL runs it or as simulated, or a transfer between two GPUs: its time, and its bandwidth as nccl-tests
// count (busbw).
type transferRow struct {
	Case string  `json:"case" text:"case"`
	MS   float64 `json:"time_ms" text:"time"`
	GBps float64 `json:"busbw_GBps" text:"busbw"`
}

func transfer(program string, c command) (transferRow, error) {
	var d struct {
		report.CrossingDocument
		BusBW float64 `json:"busbw_GBps"` // of simulate
		Rows  []report.ExpectRow
	}
	err := c.answer(program, &d)
	d.GBps = max(d.GBps, d.BusBW)
	if len(d.Rows) > 0 {
		d.TimeUS, d.GBps = d.Rows[0].TimeUS, d.Rows[0].BusBW
	}
	return transferRow{c.cells[0], d.TimeUS / 1e3, d.GBps}, err
}
