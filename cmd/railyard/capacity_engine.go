package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"railyard/capacity/batch"
	"railyard/cmd/internal/cli"
	"railyard/internal/outfile"
)

// engineFlags say who runs the shards of a sweep or search.
type engineFlags struct {
	Name    string   `flag:"engine,one=slurm|kubernetes|local"`
	Shards  int      `flag:"shards,n,lo=1"`
	Dir     string   `flag:"dir"`
	Options []string `flag:"how"`
	Show    bool     `flag:"print"`
}

// given is an error where a flag of an engine is given without one.
func (f *engineFlags) given(cmd *cobra.Command) error {
	return cli.NoEffect(cmd, "without --engine", cli.FlagNames(f)...)
}

// sweep has the shards of a question run, and merges them.
func (f *engineFlags) sweep(cmd *cobra.Command, args, sets, flags []string, out string) error {
	if err := cli.NoEffect(cmd, "with --engine, which divides and merges", "shard", "merge", "partial"); err != nil {
		return err
	}
	if len(args) == 0 || f.Shards == 0 || f.Dir == "" {
		return cli.Usagef("--engine needs -n SHARDS, --dir DIR and a question behind --")
	}
	if err := cli.MayWrite(cmd, out); out != "" && err != nil {
		return err
	}
	w, search, err := f.work(args, sets, flags, out)
	if err != nil {
		return err
	}
	e, err := f.engine()
	if err != nil {
		return err
	}
	if f.Show {
		all := make([]int, f.Shards)
		for i := range all {
			all[i] = i + 1
		}
		_, text, err := e.Script(w, all)
		if err == nil {
			_, err = io.WriteString(cmd.OutOrStdout(), text)
		}
		return err
	}
	if err := f.run(cmd, w, e); err != nil {
		return err
	}
	return finish(cmd, w, out, search)
}

// work is a question with the command that answers a shard of it: this one, or a search that has shards of its own.
func (f *engineFlags) work(args, sets, flags []string, out string) (w *batch.Work, search bool, err error) {
	q, err := newQuestion(args, sets, flags)
	if err != nil {
		return nil, false, err
	}
	w = &batch.Work{Question: args, Inputs: inputsHash(args), Version: version, Shards: f.Shards}
	if w.Dir, err = filepath.Abs(f.Dir); err != nil {
		return nil, false, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, false, err
	}
	if f.Name == "kubernetes" {
		program = "railyard" // the image's
	}
	shard := fmt.Sprintf("%s/%d", batch.Shard, f.Shards)
	if len(q.axes) > 0 {
		w.Question = []string{"capacity", "sweep"}
		for _, list := range []struct {
			flag  string
			texts []string
		}{{"--set", sets}, {"--vary", flags}} {
			for _, text := range list.texts {
				w.Question = append(w.Question, list.flag, text)
			}
		}
		w.Command = slices.Concat([]string{program}, w.Question, []string{"--shard", shard, "--output", batch.Journal, "--"}, args)
		w.Question = slices.Concat(w.Question, []string{"--"}, args)
		return w, false, nil
	}
	switch {
	case q.target.Flags().Lookup("shard") == nil || q.target.Name() == "sweep":
		return nil, false, cli.Usagef("%q is one question: say with --set or --vary what is swept, or ask for a search (capacity step "+
			"--top, "+
			"capacity size --node)", strings.Join(args, " "))
	case out != "":
		return nil, false, cli.Usagef("-o has no effect on a search, whose answer is printed: take its journal from %s/merged.jsonl", f.Dir)
	case slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--journal") || strings.HasPrefix(a, "--shard") }):
		return nil, false, cli.Usagef("leave --journal and --shard to the engine: it gives each shard its own")
	}
	w.Command = slices.Concat([]string{program}, args, []string{"--shard", shard, "--journal", batch.Journal})
	return w, true, nil
}

// engine is the one that is named.
func (f *engineFlags) engine() (batch.Engine, error) {
	switch {
	case f.Name == "slurm":
		for _, o := range f.Options {
			if !strings.HasPrefix(o, "-") {
				return nil, cli.Usagef("--how %s: with slurm write an option of sbatch, such as --partition=short", o)
			}
		}
		return &batch.Slurm{Options: f.Options}, nil
	case f.Name == "local" && len(f.Options) > 0:
		return nil, cli.Usagef("--how has no effect on --engine local: leave it out")
	case f.Name == "local":
		return &batch.Local{}, nil
	}
	k := &batch.Kubernetes{}
	options := map[string]*string{"image": &k.Image, "claim": &k.Claim, "mount": &k.Mount, "namespace": &k.Namespace, "cpu": &k.CPU,
		"memory": &k.Memory}
	for _, o := range f.Options {
		key, value, _ := strings.Cut(o, "=")
		if options[key] == nil || value == "" || *options[key] != "" {
			return nil, cli.Usagef("--how %s: with kubernetes write image=…, claim=…, mount=…, namespace=…, cpu=… or "+
				"memory=…, each once", o)
		}
		*options[key] = value
	}
	if k.Image == "" || k.Claim == "" || k.Mount == "" {
		return nil, cli.Usagef("--engine kubernetes needs --how image=…, claim=… and mount=…")
	}
	return k, nil
}

// run submits what is to be done and waits for it.
func (f *engineFlags) run(cmd *cobra.Command, w *batch.Work, e batch.Engine) error {
	cli.KeepIn(cmd, w.Dir)
	if err := w.Claim(); err != nil {
		return err
	}
	bar := cli.NewProgress(cmd.ErrOrStderr(), "rows")
	defer bar.Finish()
	ctx, stop := cli.UntilInterrupt(cmd)
	defer stop()
	return batch.Run(ctx, w, e, batch.Watcher{Rows: bar.Set, Submitted: func(said string) {
		fmt.Fprintln(cmd.ErrOrStderr(), said)
	}})
}

// finish merges the shards' rows, and answers a search from them.
func finish(cmd *cobra.Command, w *batch.Work, out string, search bool) error {
	m, err := w.Merge()
	if err != nil {
		return err
	}
	if m.Missing > 0 {
		return fmt.Errorf("%d points have no row in the journals of %s: take them away, and ask again", m.Missing, w.Dir)
	}
	merged := filepath.Join(w.Dir, "merged.jsonl")
	if err := outfile.Write(merged, m.Write); err != nil {
		return err
	}
	if !search {
		if out == "" {
			out = merged
		}
		return writeMerged(cmd, out, m)
	}
	return execute(cmd.Context(), append(slices.Clone(w.Question), "--journal", merged), cmd.OutOrStdout(), cmd.ErrOrStderr())
}
