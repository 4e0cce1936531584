package main

import (
	"os"

	"github.com/spf13/cobra"

	"railyard/model/collective"
	"railyard/model/units"
	"railyard/planner"
	"railyard/report"
)

// planFlags are what plan and run share: what to move, over what, at which cost.
type planFlags struct {
	topo    topoFlags
	coll    collFlags
	sizes   sizeFlags
	profile profileFlag
	format  formatFlag
	algo    string
	proto   []string
}

func (f *planFlags) add(cmd *cobra.Command, begin, end string) {
	f.topo.add(cmd)
	f.coll.add(cmd)
	f.sizes.add(cmd, begin, end)
	f.profile.add(cmd)
	f.format.add(cmd)
	addAlgo(cmd, &f.algo)
	cmd.Flags().StringSliceVar(&f.proto, "proto", nil, "protocols to consider: simple, ll, ll128 (default: those the profile knows)")
}

// addAlgo adds --algo, which forces one algorithm.
func addAlgo(cmd *cobra.Command, algo *string) {
	cmd.Flags().StringVar(algo, "algo", "", "use this algorithm only (default: the best one)")
	must(cmd.RegisterFlagCompletionFunc("algo", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var names []string
		for _, a := range planner.Algorithms() {
			names = append(names, a.Name)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}))
}
