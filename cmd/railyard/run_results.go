package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"railyard/cmd/internal/cli"
	"railyard/internal/outfile"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/planner"
	"railyard/report"
	"railyard/report/table"
)

// resultDir is where a run leaves everything.
type resultDir struct {
	path        string
	rows, ranks *os.File
	written     map[*schedule.Schedule]bool
}

// newResultDir makes the directory; it never writes into an existing one.
func newResultDir(path string) (*resultDir, error) {
	if path != "" {
		if err := os.Mkdir(path, 0o755); err != nil {
			return nil, fmt.Errorf("result directory: %w (choose one that does not exist)", err)
		}
		return &resultDir{path: path}, nil
	}
	for i := 1; ; i++ {
		path = fmt.Sprintf("railyard-run-%d", i)
		err := os.Mkdir(path, 0o755)
		if err == nil {
			return &resultDir{path: path}, nil
		}
		if !os.IsExist(err) {
			return nil, err
		}
	}
}

// freeDir refuses a directory that exists, before anything is measured for it.
func freeDir(path string) error {
	if _, err := os.Lstat(path); path == "" || err != nil { // what else is wrong, newResultDir says
		return nil
	}
	return fmt.Errorf("result directory %s exists: choose one that does not exist", path)
}

// write writes a file of the directory.
func (d *resultDir) write(name string, content func(io.Writer) error) error {
	return outfile.Write(filepath.Join(d.path, name), content)
}

// schedules writes those of a plan that are not there yet.
func (d *resultDir) schedules(p *planned) error {
	for _, r := range p.Rows {
		if d.written[r.Schedule] {
			continue
		}
		name := fmt.Sprintf("schedule-%02d.json", len(d.written))
		d.written[r.Schedule] = true
		if err := d.write(name, func(w io.Writer) error { return schedule.Encode(w, r.Schedule) }); err != nil {
			return err
		}
	}
	return nil
}

// begin writes what the run is made from, before anything is measured.
func (d *resultDir) begin(p *planned, doc *report.RunDocument, args []string) error {
	d.written = map[*schedule.Schedule]bool{}
	if err := d.schedules(p); err != nil {
		return err
	}
	if _, data, err := source(p.source); err != nil {
		return err
	} else if err := os.WriteFile(filepath.Join(d.path, "topology.yaml"), data, 0o644); err != nil {
		return err
	}
	machine := p.Question.Machine().WithOwn(p.Question.Costs())
	if err := d.write("profile.yaml", func(w io.Writer) error { return cost.Encode(w, machine) }); err != nil {
		return err
	}
	manifest := map[string]any{"schema": "railyard.manifest/v1", "tool": planner.Tool, "command": args[1:], "topology": doc.Topology,
		"topology_hash": doc.Hash, "profile": doc.Profile, "seed": doc.Seed}
	if err := d.write("manifest.json", func(w io.Writer) error { return table.WriteJSON(w, manifest) }); err != nil {
		return err
	}
	var err error
	if d.rows, err = os.Create(filepath.Join(d.path, "rows.jsonl")); err != nil {
		return err
	}
	d.ranks, err = os.Create(filepath.Join(d.path, "ranks.jsonl"))
	return err
}

// row appends a measured row, and what each rank took, and waits until both are on disk.
func (d *resultDir) row(m *measuredRow) error {
	for _, r := range m.ranks {
		if err := table.WriteJSONLine(d.ranks, r); err != nil {
			return err
		}
	}
	if err := table.WriteJSONLine(d.rows, m.RunRow); err != nil {
		return err
	}
	return errors.Join(d.ranks.Sync(), d.rows.Sync())
}

// finish writes the results as documents.
func (d *resultDir) finish(doc *report.RunDocument) error {
	if err := errors.Join(d.ranks.Close(), d.rows.Close()); err != nil {
		return err
	}
	if err := d.write("run.json", func(w io.Writer) error { return table.WriteJSON(w, doc) }); err != nil {
		return err
	}
	if err := d.write("run.csv", func(w io.Writer) error { return table.Emit(w, table.CSV, doc) }); err != nil {
		return err
	}
	return d.plot(doc)
}

// plot draws time and bus bandwidth, predicted beside measured, where the times mean
// something.
func (d *resultDir) plot(doc *report.RunDocument) error {
	if !doc.Timed || len(doc.Rows) == 0 || doc.Rows[0].BusBW == 0 {
		return nil
	}
	for name, figure := range doc.Figures() {
		c, err := figure.Chart()
		if err != nil {
			return err
		}
		for _, ext := range []string{".svg", ".png"} {
			if err := cli.WriteChart(filepath.Join(d.path, name+ext), c); err != nil {
				return err
			}
		}
	}
	return nil
}
