package main

import (
	"fmt"
	"strings"

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
	topo        topoFlags
	coll        collFlags
	sizes       cli.SizeFlags
	profile     profileFlag
	format      cli.FormatFlag
	algo, proto string
	noNVLS      bool
	collNet     bool
	graph       bool
	floor       string
	fabric      string
}

func newExpect() *cobra.Command {
	var f expectFlags
	cmd := &cobra.Command{
		Use:   "expect TOPOLOGY -c COLLECTIVE",
		Short: "Say what nccl-tests should show on this hardware, and what limits it",
		Example: `  railyard expect -t dgx-h100 -c all_reduce
  railyard expect -t dgx-h100 --nodes 4 -c all_gather -b 1M -e 4G
  railyard expect -t hgx-h200-4 -c all_reduce --algo Ring --proto LL128`,
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
	cmd.Flags().StringVar(&f.algo, "algo", "", "NCCL's algorithm: Ring, Tree, NVLS, NVLSTree, CollNetDirect, CollNetChain, CE: by copy engines (default: as NCCL chooses)")
	cmd.Flags().StringVar(&f.proto, "proto", "", "NCCL's protocol: LL, LL128, Simple (default: as NCCL chooses)")
	cmd.Flags().BoolVar(&f.noNVLS, "no-nvls", false, "without in-switch reduction (NCCL_NVLS_ENABLE=0)")
	cmd.Flags().BoolVar(&f.collNet, "collnet", false, "with reduction in the network's switches, SHARP (NCCL_COLLNET_ENABLE=1)")
	cmd.Flags().StringVar(&f.floor, "launch-floor", "none", "least time that a launch costs where one process drives several GPUs, a parameter of the run: none, or e.g. 25us")
	cmd.Flags().StringVar(&f.fabric, "fabric", "", "kind of the network between nodes: "+strings.Join(nccl.Fabrics, ", ")+" (default: as the class of the NICs' links is named)")
	cmd.Flags().BoolVar(&f.graph, "graph", false, "captured in a CUDA graph (nccl-tests -G)")
	return cmd
}

func (f *expectFlags) expect(cmd *cobra.Command) (*report.ExpectDocument, error) {
	if err := f.format.Check(); err != nil {
		return nil, err
	}
	sizes, err := f.sizes.Sizes(cmd)
	if err != nil {
		return nil, err
	}
	t, err := f.topo.load()
	if err != nil {
		return nil, err
	}
	if err := f.fits(t); err != nil {
		return nil, err
	}
	spec, err := f.coll.spec(cmd, t.NumRanks())
	if err != nil {
		return nil, err
	}
	p, err := f.profile.library(t)
	if err != nil {
		return nil, err
	}
	floor, err := launchFloor(f.floor)
	if err != nil {
		return nil, err
	}
	o := nccl.Options{Fabric: f.fabric}
	if f.noNVLS {
		o.NVLS = nccl.Off
	}
	if f.collNet {
		o.CollNet = nccl.On
	}
	r, err := study.NCCL(t, p, o)
	if err != nil {
		return nil, err
	}
	d := &report.ExpectDocument{Schema: "railyard.expect/v1", Topology: t.Name(), Profile: p.Name, Collective: spec.Kind.String(), Ranks: t.NumRanks()}
	for _, size := range sizes {
		x, err := r.Predict(nccl.Ask{Kind: spec.Kind, Algorithm: f.algo, Protocol: f.proto, Size: size, Graph: f.graph})
		if err != nil {
			return nil, err
		}
		d.Rows = append(d.Rows, expectRow(spec, size, x.Behind(floor)))
	}
	return d, nil
}

// fits refuses machines of which there is nothing to expect.
func (f *expectFlags) fits(t *topology.Topology) error {
	switch {
	case !hasGPUs(t):
		return fmt.Errorf("%s has no GPUs, so that nccl-tests do not run there", t.Name())
	case f.fabric != "" && t.NumNodes() == 1:
		return cli.Usagef("--fabric has no effect on one node: give --nodes as well")
	}
	return nil
}

// hasGPUs tells machines of GPUs from hosts, whose ranks are threads.
func hasGPUs(t *topology.Topology) bool { return t.Devices()[t.Ranks()[0]].Kind != topology.Thread }

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

// library is the profile whose kernels the library's predictions take.
func (f *profileFlag) library(t *topology.Topology) (*cost.Profile, error) {
	if f.name != "" {
		return cost.Get(f.name)
	}
	return cost.Get(nccl.ProfileFor(t))
}

func expectRow(spec collective.Spec, size units.Bytes, x *nccl.Prediction) report.ExpectRow {
	alg, bus := study.Bandwidths(spec, size, x.Time)
	low, high := x.Band()
	_, slowest := study.Bandwidths(spec, size, high)
	_, fastest := study.Bandwidths(spec, size, low)
	row := report.ExpectRow{SizeBytes: int64(size), Algorithm: x.Algorithm, Protocol: x.Protocol, TimeUS: x.Time.Microseconds(),
		LowUS: low.Microseconds(), HighUS: high.Microseconds(), AlgBW: alg, BusBW: bus, LowBusBW: slowest, HighBusBW: fastest,
		WireBW: x.Work.Wire / x.Time.Seconds() / 1e9, LineBW: x.Work.Line / 1e9, Limit: limitOf(x), Warnings: append([]string{}, x.Warnings...)}
	if x.Own > 0 {
		own := x.Own.Microseconds()
		row.NCCLUS = &own
	}
	return row
}

// limitOf says what most of the time goes to: the launch, the parameter of the kernel
// that moves no bytes, or the links that its bytes cross.
func limitOf(x *nccl.Prediction) string {
	switch {
	case x.Floored:
		return "launch: the run's launch floor hides the kernel"
	case 2*x.Latency > x.Time:
		return fmt.Sprintf("latency: %.0f%% of the time moves no bytes; most of it: %s", 100*x.Latency.Seconds()/x.Time.Seconds(), x.Slowest)
	}
	return x.Work.Limit
}
