package main

import (
	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/topology"
	"railyard/report/table"
	"railyard/study/gate"
)

// gateFlags say which health check is told a floor, and how strict it is.
type gateFlags struct {
	Format      string   `flag:"gate,one=aicr|nvsentinel|cre|prometheus|json|table"`
	FalseAlarms float64  `flag:"how false-alarms,default=0.01"`
	Healthy     []string `flag:"how healthy"`
}

// gate writes from which bandwidth on the machine is healthy.
func (f *expectFlags) gate(cmd *cobra.Command) error {
	if f.Gate.Format != "table" && f.Format.Name != table.Text {
		return cli.Usagef("--gate %s has a format of its own: leave --format out, or take --gate table", f.Gate.Format)
	}
	if f.Gate.Format == table.JSON {
		f.Gate.Format, f.Format.Name = "table", table.JSON
	}
	format, _ := gate.FormatNamed(f.Gate.Format)
	t, err := f.Topo.load()
	if err != nil {
		return err
	}
	a := gate.Asked{Beside: true}
	if a.Asked, err = f.asked(cmd, t); err != nil {
		return err
	}
	if err := format.Takes(a.Collective.Kind); err != nil {
		return cli.Usage(err)
	}
	if !f.Sizes.Given(cmd) {
		fabric, ok := cost.FabricNamed(f.Library.Fabric)
		if !ok {
			fabric = cost.FabricOf(t)
		}
		a.Sizes = format.Sizes(t.NumNodes(), fabric)
	}
	a.FalseAlarms = format.FalseAlarms(f.Gate.FalseAlarms, len(a.Sizes))
	if a.Healthy, err = f.healthy(t); err != nil {
		return err
	}
	if a.Whole, err = f.whole(t); err != nil {
		return err
	}
	d, err := gate.Of(a)
	switch {
	case err != nil:
		return err
	case format.Name == "table":
		return f.Format.Emit(cmd, d)
	}
	return format.Write(cmd.OutOrStdout(), d)
}

// healthy reads one's own runs.
func (f *expectFlags) healthy(t *topology.Topology) (rows []measurement.Row, err error) {
	read := measuredFlags{Files: f.Gate.Healthy, Collective: f.Coll.Name}
	sets, err := read.read(t.NumRanks())
	for _, set := range sets {
		rows = append(rows, set.Rows...)
	}
	return rows, err
}

// whole is the machine that the nodes are of, as its file has it.
func (f *expectFlags) whole(t *topology.Topology) (*topology.Topology, error) {
	site, err := f.Topo.site()
	if err != nil || f.Topo.Nodes == 0 {
		return t, err
	}
	whole, err := site.Part(0, site.GPUs)
	if err != nil || whole.NumNodes() <= t.NumNodes() {
		return t, err
	}
	return whole, nil
}
