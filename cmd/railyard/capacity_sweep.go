package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"railyard/capacity/journal"
	"railyard/capacity/sweep"
	"railyard/cmd/internal/cli"
	"railyard/model/topology"
)

func newCapacitySweep() *cobra.Command {
	var out, shard string
	var sets, flags []string
	var merge, partial bool
	var engine engineFlags
	cmd := &cobra.Command{
		Use: "sweep",
		RunE: func(cmd *cobra.Command, args []string) error {
			changed := cmd.Flags().Changed
			switch {
			case merge && (len(sets)+len(flags) > 0 || shard != ""):
				return cli.Usagef("--set, --vary and --shard have no effect with --merge")
			case engine.name != "":
				return engine.sweep(cmd, args, sets, flags, out)
			case engine.given(cmd) != nil:
				return engine.given(cmd)
			case partial && !merge:
				return cli.Usagef("--partial has no effect without --merge")
			case len(args) == 1 && strings.HasSuffix(args[0], ".yaml") && !merge && !changed("output"):
				return askFile(cmd, args[0])
			case out == "":
				return cli.Usagef("where to? give a file with -o")
			case merge:
				return mergeJournals(cmd, out, partial, args)
			case len(args) == 0:
				return cli.Usagef("no question: write the command after --, such as -- capacity size dgx-h100")
			}
			q, err := newQuestion(args, sets, flags)
			if err != nil {
				return err
			}
			part, err := journal.ParseShard(shard)
			if err != nil {
				return cli.Usage(err)
			}
			return q.sweep(cmd, out, part)
		},
	}
	fl := cmd.Flags()
	fl.StringVarP(&out, "output", "o", "", "journal to write, or to go on with (JSON lines); with --merge and --engine, .csv (numbers "+
		"and texts of "+
		"the answers) or .jsonl (all of them)")
	fl.StringVar(&shard, "shard", "", "this machine's part of the points, i/n; --merge joins the journals")
	fl.StringArrayVar(&sets, "set", nil, "field of the topology file (a path, or "+topology.Shorthands+") and its values: path=1,2,4 or "+
		"path=1..4")
	fl.StringArrayVar(&flags, "vary", nil, "flag of the question, or an option of one, and its values: nodes=4,8,16")
	fl.BoolVar(&merge, "merge", false, "join the journals of a sweep's shards into one table")
	fl.BoolVar(&partial, "partial", false, "merge although points are missing")
	fl.Bool("force", false, "with --merge and --engine, replace a file that exists")
	engine.add(cmd)
	return cmd
}

// varied marks the axes that are flags of the question, not fields of its topology.
const varied = "--"

// question is a command of ours and the values that it is asked with.
type question struct {
	args   []string
	axes   []sweep.Axis
	target *cobra.Command
}

func newQuestion(args, sets, flags []string) (*question, error) {
	q := &question{args: args}
	for _, list := range []struct {
		texts  []string
		prefix string
	}{{sets, ""}, {flags, varied}} {
		for _, text := range list.texts {
			a, err := sweep.ParseAxis(text)
			if err != nil {
				return nil, cli.Usage(err)
			}
			a.Field = list.prefix + a.Field
			q.axes = append(q.axes, a)
		}
	}
	if _, err := sweep.Count(q.axes); err != nil {
		return nil, cli.Usage(err)
	}
	var err error
	if q.target, _, err = newRoot().Find(args); err != nil || q.target.Flags().Lookup("format") == nil {
		return nil, cli.Usagef("%q is no question with an answer in JSON: write the command after --, such as -- capacity size dgx-h100",
			strings.Join(args, " "))
	}
	return q, nil
}

func (q *question) sweep(cmd *cobra.Command, out string, part journal.Shard) error {
	cli.KeepIn(cmd, out)
	j, err := sweep.Open(out, sweep.Question{Words: q.args, Inputs: inputsHash(q.args), Axes: q.axes, Version: version})
	if err != nil {
		return err
	}
	bar := cli.NewProgress(cmd.ErrOrStderr(), "points")
	ctx, stop := cli.UntilInterrupt(cmd)
	defer stop()
	err = sweep.Run(ctx, j, q.axes, part, q.answer, bar.Set)
	bar.Finish()
	return errors.Join(cli.Interrupted(ctx, out, err), j.Close())
}

// answer runs the command with a point's values and takes its JSON.
func (q *question) answer(ctx context.Context, set []string) (any, error) {
	args := append([]string{}, q.args...)
	for _, s := range set {
		if flag, ok := strings.CutPrefix(s, varied); ok {
			name, value, _ := strings.Cut(flag, "=")
			args = append(args, cli.Assign(q.target, name, value))
		} else {
			args = append(args, "--set", s)
		}
	}
	var stdout bytes.Buffer
	root := newRoot()
	root.SetArgs(append(args, "--format", "json"))
	root.SetOut(&stdout)
	root.SetErr(&bytes.Buffer{})
	if err := root.ExecuteContext(ctx); err != nil {
		return nil, err
	}
	var answer json.RawMessage
	if err := json.Unmarshal(stdout.Bytes(), &answer); err != nil {
		return nil, fmt.Errorf("%s did not answer in JSON: %w", strings.Join(q.args, " "), err)
	}
	return answer, nil
}

// inputsHash is of the files that the question names, so that a journal is not continued
// after one of them changed, and of what else its answers depend on.
func inputsHash(args []string, more ...string) string {
	h := sha256.New()
	fmt.Fprint(h, more)
	for _, a := range args {
		if _, value, ok := strings.Cut(a, "="); ok && strings.HasPrefix(a, "-") {
			a = value
		}
		if data, err := os.ReadFile(a); err == nil {
			fmt.Fprintf(h, "%s %d\n", a, len(data))
			h.Write(data)
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}
