package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"railyard/capacity/journal"
	"railyard/capacity/sweep"
	"railyard/cmd/internal/cli"
	"railyard/model/units"
)

// sweepFlags say what is swept, and who does it.
type sweepFlags struct {
	Out     string   `flag:"output,o"`
	Shard   string   `flag:"shard"`
	Sets    []string `flag:"set"`
	Vary    []string `flag:"vary"`
	Merge   bool     `flag:"merge"`
	Partial bool     `flag:"partial"`
	Force   bool     `flag:"force"`
	Engine  engineFlags
}

// Args are the words of a question, or files.
func (f *sweepFlags) Args(*cobra.Command, []string) error { return nil }

// Run sweeps, merges, or has an engine do both.
func (f *sweepFlags) Run(cmd *cobra.Command, args []string) error {
	switch {
	case f.Merge && (len(f.Sets)+len(f.Vary) > 0 || f.Shard != ""):
		return cli.Usagef("--set, --vary and --shard have no effect with --merge")
	case f.Engine.Name != "":
		return f.Engine.sweep(cmd, args, f.Sets, f.Vary, f.Out)
	case f.Engine.given(cmd) != nil:
		return f.Engine.given(cmd)
	case f.Partial && !f.Merge:
		return cli.Usagef("--partial has no effect without --merge")
	case len(args) == 1 && strings.HasSuffix(args[0], ".yaml") && !f.Merge && !cmd.Flags().Changed("output"):
		return askFile(cmd, args[0])
	case f.Out == "":
		return cli.Usagef("where to? give a file with -o")
	case f.Merge:
		return mergeJournals(cmd, f.Out, f.Partial, args)
	case len(args) == 0:
		return cli.Usagef("no question: write the command after --, such as -- capacity size dgx-h100")
	}
	q, err := newQuestion(args, f.Sets, f.Vary)
	if err != nil {
		return err
	}
	part, err := journal.ParseShard(f.Shard)
	if err != nil {
		return cli.Usage(err)
	}
	return q.sweep(cmd, f.Out, part)
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
	for _, a := range q.axes {
		if flag, ok := strings.CutPrefix(a.Field, varied); ok && q.target.Flags().Lookup(flag) == nil {
			return nil, cli.Usagef("--vary %s: %s has no such flag", flag, q.target.CommandPath())
		}
	}
	return q, nil
}

func (q *question) sweep(cmd *cobra.Command, out string, part journal.Shard) error {
	cli.KeepIn(cmd, out)
	var count tally
	j, err := sweep.Open(out, sweep.Question{Words: q.args, Inputs: inputsHash(q.args), Axes: q.axes, Version: version}, count.add)
	if err != nil {
		return err
	}
	bar := cli.NewProgress(cmd.ErrOrStderr(), "points")
	ctx, stop := cli.UntilInterrupt(cmd)
	defer stop()
	err = sweep.Run(ctx, j, q.axes, part, q.answer, bar.Set)
	bar.Finish()
	switch failed := count.verdict(out); {
	case err != nil || failed == nil:
	case part == journal.All:
		err = failed
	default: // the shard is done, and merging it with the others is what fails
		fmt.Fprintln(cmd.ErrOrStderr(), "note:", failed)
	}
	return errors.Join(cli.Interrupted(ctx, out, err), j.Close())
}

// tally counts a sweep's rows, and those without an answer.
type tally struct {
	rows, failed int
	first        string // why the first of them has none
}

func (c *tally) add(r sweep.Row) {
	c.rows++
	if r.Error == "" {
		return
	}
	if c.failed++; c.failed == 1 {
		c.first = r.Error
	}
}

// verdict is the error of points that have no answer; path is the file with the rows.
func (c *tally) verdict(path string) error {
	if c.failed == 0 {
		return nil
	}
	points := units.Counted(c.rows, "point")
	all := "none of " + points + " has an answer"
	if c.failed < c.rows {
		all = fmt.Sprintf("no answer for %d of %s", c.failed, points)
	}
	return fmt.Errorf("%s (%s says why of each); the first: %s", all, path, c.first)
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
	if err := execute(ctx, append(args, "--format", "json"), &stdout, io.Discard); err != nil {
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

// execute runs a command line of ours within another command.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return root.ExecuteContext(ctx)
}
