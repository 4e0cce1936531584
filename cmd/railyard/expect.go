package main

import (
	"cmp"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/report"
	"railyard/sim/nccl"
	"railyard/study"
)

// expectFlags say what is asked.
type expectFlags struct {
	Topo    topoFlags
	Coll    collFlags `without:"counts counts-of"`
	Sizes   cli.SizeFlags
	Profile profileFlag
	Format  cli.FormatFlag
	Algo    string `flag:"algo"`
	Proto   string `flag:"proto"`
	Library libraryFlags
	Graph   bool   `flag:"how graph"`
	Floor   string `flag:"launch-floor,default=none"`
	Gate    gateFlags
}

// libraryFlags say how NCCL runs.
type libraryFlags struct {
	NoNVLS  bool   `flag:"how no-nvls"`
	CollNet bool   `flag:"how collnet"`
	Fabric  string `flag:"how fabric"`
	P2P     string `flag:"how p2p,one=LOC|NVL|PIX|PXB|PHB|SYS"`
}

func (f *libraryFlags) options() nccl.Options {
	o := nccl.Options{Fabric: f.Fabric, P2PLevel: f.P2P}
	if f.NoNVLS {
		o.NVLS = nccl.Off
	}
	if f.CollNet {
		o.CollNet = nccl.On
	}
	return o
}

// Run says what nccl-tests should show.
func (f *expectFlags) Run(cmd *cobra.Command, _ []string) error {
	if f.Gate.Format != "" {
		return f.gate(cmd)
	}
	if err := cli.NoEffect(cmd, "without --gate", "false-alarms", "healthy"); err != nil {
		return err
	}
	d, err := f.expect(cmd)
	if err != nil {
		return err
	}
	return f.Format.Emit(cmd, d)
}

// asked is what the library is asked for.
func (f *expectFlags) asked(cmd *cobra.Command, t *topology.Topology) (a study.Asked, err error) {
	if err := nccl.Known(f.Algo, f.Proto); err != nil {
		return a, cli.Usagef("%v", err)
	}
	if f.Library.Fabric != "" && t.NumNodes() == 1 {
		return a, cli.Usagef("--how fabric has no effect on one node: give --nodes as well")
	}
	sizes, err := f.Sizes.Sizes(cmd)
	if err != nil {
		return a, err
	}
	if a, err = asked(cmd, &f.Coll, &f.Profile, t, sizes); err != nil {
		return a, err
	}
	if f.Profile.Name != "" {
		if named, err := cost.GetMachine(f.Profile.Name); err != nil || named.NCCL() == nil {
			return a, cmp.Or(err, cli.Usagef("--profile %s has no effect on what nccl-tests show: it has no costs of NCCL's kernels "+
				"(railyard baseline measures them, railyard fit makes a profile of that)", f.Profile.Name))
		}
	}
	a.Library = study.Library{Options: f.Library.options(), Algorithm: f.Algo, Protocol: f.Proto, Graph: f.Graph}
	a.Library.Floor, err = launchFloor(f.Floor)
	return a, err
}

func (f *expectFlags) expect(cmd *cobra.Command) (*report.ExpectDocument, error) {
	t, err := f.Topo.load()
	if err != nil {
		return nil, err
	}
	a, err := f.asked(cmd, t)
	if err != nil {
		return nil, err
	}
	q, err := study.New(a)
	if err != nil {
		return nil, err
	}
	rows, err := q.Expect()
	if err != nil {
		return nil, err
	}
	d := &report.ExpectDocument{Schema: "railyard.expect/v1", Topology: t.Name(), Profile: a.Machine.Name,
		Collective: q.Spec().Kind.String(), Ranks: t.NumRanks()}
	for i := range rows {
		d.Rows = append(d.Rows, expectRow(q.Spec(), a.Sizes[i], &rows[i]))
	}
	return d, nil
}

// launchFloor reads --launch-floor.
func launchFloor(text string) (units.Time, error) {
	if text == "none" {
		return 0, nil
	}
	t, err := units.ParseTime(text)
	if err != nil || t <= 0 {
		return 0, cli.Usagef("--launch-floor %s: must be none or a time such as 25us", text)
	}
	return t, nil
}

// ran is what made measured rows: the library, or our plans where a named machine says nothing of it.
func (f *profileFlag) ran(t *topology.Topology) (*cost.Profile, error) {
	m, err := f.machine(t)
	if err == nil && f.Name != "" {
		m, err = cost.GetMachine(f.Name)
	}
	if err != nil {
		return nil, err
	}
	if p := m.NCCL(); p != nil {
		return p, nil
	}
	return m.Own(t), nil
}

func expectRow(spec collective.Spec, size units.Bytes, x *study.Baseline) report.ExpectRow {
	alg, bus := study.Bandwidths(spec, size, x.Time)
	_, slowest := study.Bandwidths(spec, size, x.High)
	_, fastest := study.Bandwidths(spec, size, x.Low)
	return report.ExpectRow{SizeBytes: int64(size), Algorithm: x.Algorithm, Protocol: x.Protocol, TimeUS: x.Time.Microseconds(),
		LowUS: x.Low.Microseconds(), HighUS: x.High.Microseconds(), AlgBW: alg, BusBW: bus, LowBusBW: slowest, HighBusBW: fastest,
		WireBW: x.Wire.GBps(), LineBW: x.Line.GBps(), NCCLUS: report.OrNil(x.Model), Limit: x.Limit, Warnings: append([]string{},
			x.Warnings...)}
}
