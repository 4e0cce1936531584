package main

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/interop/ncclras"
	"railyard/model/observed"
	"railyard/report"
	"railyard/study/hang"
)

// rasFlags say which running job is asked how far its ranks have come.
type rasFlags struct {
	Address  string        `flag:"how ras"`
	Interval time.Duration `flag:"how interval,default=10s"`
}

func (f *rasFlags) check(cmd *cobra.Command) error {
	if f.Address == "" {
		return cli.NoEffect(cmd, "without ras=HOST", "how interval")
	}
	if f.Interval <= 0 {
		return cli.Usagef("--how interval=%v: must be more than 0", f.Interval)
	}
	return nil
}

// ask asks a running job how far its ranks have come; where they differ, as they may for a moment, once more after a while.
func (e *evidence) ask(cmd *cobra.Command, f *rasFlags) error {
	ctx, stop := cli.UntilInterrupt(cmd)
	defer stop()
	first, err := e.roll(ctx, f.Address, "first")
	if err != nil || len(hang.OfRolls([]*observed.Roll{first})) == 0 {
		return err
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(f.Interval):
	}
	_, err = e.roll(ctx, f.Address, "second")
	return err
}

// roll adds an answer.
func (e *evidence) roll(ctx context.Context, address, which string) (*observed.Roll, error) {
	data, err := ncclras.Ask(ctx, address)
	if err != nil {
		return nil, err
	}
	file := fmt.Sprintf("%s answer of %s", which, address)
	rolls, err := ncclras.Parse(bytes.NewReader(data), file)
	if err != nil {
		return nil, fmt.Errorf("%s", oneLine(err))
	}
	e.words.rolls = append(e.words.rolls, rolls...)
	e.read = append(e.read, report.DoctorEvidence{File: file, Kind: rasKind})
	return rolls[0], nil
}
