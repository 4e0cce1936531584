package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
	topo        topoFlags
	coll        collFlags
	sizes       cli.SizeFlags
	profile     profileFlag
	format      cli.FormatFlag
	algo, proto string
	library     libraryFlags
	graph       bool
	floor       string
}

// libraryFlags say how NCCL runs.
type libraryFlags struct {
	noNVLS, collNet bool
	fabric          string
}

func (f *libraryFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.noNVLS, "no-nvls", false, "without in-switch reduction (NCCL_NVLS_ENABLE=0)")
	flags.BoolVar(&f.collNet, "collnet", false, "with reduction in the network's switches, SHARP (NCCL_COLLNET_ENABLE=1)")
	flags.StringVar(&f.fabric, "fabric", "", "kind of the network between nodes: "+strings.Join(cost.Fabrics, ", ")+
		" (default: as the class of the NICs' links is named)")
}

func (f *libraryFlags) options() nccl.Options {
	o := nccl.Options{Fabric: f.fabric}
	if f.noNVLS {
		o.NVLS = nccl.Off
	}
	if f.collNet {
		o.CollNet = nccl.On
	}
	return o
}

func newExpect() *cobra.Command {
	var f expectFlags
	cmd := &cobra.Command{
		Use:  "expect",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := f.expect(cmd)
			if err != nil {
				return err
			}
			return f.format.Emit(cmd, d)
		},
	}
	f.topo.add(cmd)
	f.topo.addLoad(cmd)
	f.coll.add(cmd)
	f.sizes.Add(cmd, "1K", "4G")
	f.profile.add(cmd)
	f.format.Add(cmd)
	cmd.Flags().StringVar(&f.algo, "algo", "", "NCCL's algorithm: Ring, Tree, NVLS, NVLSTree, CollNetDirect, CollNetChain, CE: by copy "+
		"engines (default: as NCCL chooses)")
	cmd.Flags().StringVar(&f.proto, "proto", "", "NCCL's protocol: LL, LL128, Simple (default: as NCCL chooses)")
	how := cli.AddOptions(cmd, "how", "how NCCL runs, such as no-nvls,graph:")
	f.library.add(how.FlagSet)
	cmd.Flags().StringVar(&f.floor, "launch-floor", "none",
		"least time that a launch costs where one process drives several GPUs, a parameter of the run: none, or e.g. 25us")
	how.BoolVar(&f.graph, "graph", false, "captured in a CUDA graph (nccl-tests -G)")
	return cmd
}

func (f *expectFlags) expect(cmd *cobra.Command) (*report.ExpectDocument, error) {
	t, err := f.topo.load()
	if err != nil {
		return nil, err
	}
	if f.library.fabric != "" && t.NumNodes() == 1 {
		return nil, cli.Usagef("--how fabric has no effect on one node: give --nodes as well")
	}
	sizes, err := f.sizes.Sizes(cmd)
	if err != nil {
		return nil, err
	}
	a, err := asked(cmd, &f.coll, &f.profile, t, sizes)
	if err != nil {
		return nil, err
	}
	a.Library = study.Library{Options: f.library.options(), Algorithm: f.algo, Protocol: f.proto, Graph: f.graph}
	if a.Library.Floor, err = launchFloor(f.floor); err != nil {
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
	if err == nil && f.name != "" {
		m, err = cost.GetMachine(f.name)
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
		WireBW: x.Wire.GBps(), LineBW: x.Line.GBps(), NCCLUS: report.Known(x.Model), Limit: x.Limit, Warnings: append([]string{},
			x.Warnings...)}
}
