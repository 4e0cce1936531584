package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/exec/nccl"
	"railyard/interop/nccltuner"
	"railyard/model/collective"
	"railyard/model/topology"
	"railyard/model/units"
	simnccl "railyard/sim/nccl"
	"railyard/study/proof"
)

// forced are the ways that NCCL can be made to go without multicast.
var forced = []string{"ring/ll", "ring/ll128", "ring/simple", "tree/ll", "tree/ll128", "tree/simple"}

// library times NCCL's algorithms and protocols in turns with its own choice, round by round, and writes the tuner file of those that
// win in the launch mode that the user has. What was measured stands beside it (OUT-rows.csv).
func (f *tuneFlags) library(cmd *cobra.Command) error {
	if ext := filepath.Ext(f.Out); ext != ".c" && ext != ".csv" {
		return cli.Usagef("which file? -o FILE.c for railyard's tuner plugin, -o FILE.csv for the table of NCCL's example plugin")
	}
	if err := cli.NoEffect(cmd, "with --how nccl: leave it out", "profile", "per-case", "budget"); err != nil {
		return err
	}
	kinds, err := f.tunable(cmd)
	if err != nil {
		return err
	}
	t, err := f.Topo.load()
	if err != nil {
		return err
	}
	has, err := available(t)
	if err != nil {
		return err
	}
	rows := strings.TrimSuffix(f.Out, filepath.Ext(f.Out)) + "-rows.csv"
	if err := cli.MayWrite(cmd, rows); err != nil {
		return err
	}
	b := baselineFlags{Topo: f.Topo, Sizes: f.Sizes, Kinds: kinds, Settings: append([]string{"default"}, forced...), Dtype: "float32",
		Op: "sum", Launch: f.Launch, Iterations: 20, Warmup: 5, Out: rows, rounds: f.Rounds, has: has}
	if err := b.run(cmd); err != nil || b.group.several() && !b.group.leads() {
		return err
	}
	x := exportFlags{Topo: f.Topo, Sizes: f.Sizes, Coll: strings.Join(kinds, ","), To: toTuner, Out: f.Out, Launch: f.Launch,
		Measured: rows}
	if filepath.Ext(f.Out) == ".c" {
		x.To = toPlugin
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "railyard: note: measured without NVLS, which railyard does not use: run with NCCL_NVLS_ENABLE=0\n")
	return x.Run(cmd, nil)
}

// tunable are the collectives asked for that NCCL's tuners take; of the usual ones those that they do not take are left out.
func (f *tuneFlags) tunable(cmd *cobra.Command) (out []string, err error) {
	kinds, err := cli.ParseAll(f.Collectives, collective.Parse)
	if err != nil {
		return nil, err
	}
	for _, k := range kinds {
		switch {
		case slices.Contains(nccltuner.Kinds, k):
			out = append(out, k.String())
		case cmd.Flags().Changed("collective"):
			return nil, cli.Usagef("-c %v: NCCL's tuners do not take it", k)
		}
	}
	return out, nil
}

// available says which ways NCCL's model has for a collective: others it refuses.
func available(t *topology.Topology) (func(collective.Kind, nccl.Setting) bool, error) {
	m, err := simnccl.New(t, simnccl.Options{})
	if err != nil {
		return nil, fmt.Errorf("NCCL does not run there: %w", err)
	}
	judge := proof.Judge{Model: m}
	return func(k collective.Kind, s nccl.Setting) bool {
		if s.Algorithm == "" {
			return true
		}
		ways, _, err := judge.Candidates(proof.Case{Kind: k, Size: units.MiB})
		return err == nil && slices.Contains(ways, proof.Setting{Algorithm: s.Algorithm, Protocol: s.Protocol})
	}, nil
}
