package batch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"railyard/model/units"
)

// Slurm runs shards as the tasks of an array.
type Slurm struct {
	Options []string // of sbatch, such as --partition=short
}

// Script implements Engine. It is the same whichever shards are submitted: the number of all is written into it, since Slurm's own
// count of an array is that of the part submitted last. Tasks hear of their end 30 s before.
func (s *Slurm) Script(w *Work, _ []int) (name, text string, err error) {
	here, err := os.Getwd()
	if err != nil {
		return "", "", err
	}
	options := append([]string{"--job-name=" + w.Name(), "--chdir=" + here,
		"--output=" + strings.ReplaceAll(w.Dir, "%", "%%") + "/shard-%a.log", "--open-mode=append", "--requeue", "--signal=B:TERM@30"},
		s.Options...)
	for i, o := range options {
		if strings.ContainsAny(o, "\"\n") {
			return "", "", fmt.Errorf("%q: sbatch reads no quotation marks and line ends in an option", o)
		}
		if strings.Contains(o, " ") {
			key, value, _ := strings.Cut(o, "=")
			o = key + `="` + value + `"`
		}
		options[i] = "#SBATCH " + o
	}
	return "job.sbatch", fmt.Sprintf(`#!/bin/sh
# Of %d shards of the question
#   %s
# this runs the one that Slurm names: sbatch --array=1-%d %s
%s
shard=$SLURM_ARRAY_TASK_ID
exec %s
`, w.Shards, w.comment(), w.Shards, quote(w.Dir+"/job.sbatch"), strings.Join(options, "\n"), w.line()), nil
}

// Active implements Engine.
func (s *Slurm) Active(ctx context.Context, w *Work) (map[int]bool, error) {
	out, err := command(ctx, "squeue", "--noheader", "--me", "--array", "--format=%K", "--name="+w.Name())
	if err != nil {
		return nil, err
	}
	active := map[int]bool{}
	for _, field := range strings.Fields(out) {
		shard, err := strconv.Atoi(field)
		if err != nil {
			return nil, fmt.Errorf("squeue says that %q is a task of %s: want a number", field, w.Name())
		}
		active[shard] = true
	}
	return active, nil
}

// Submit implements Engine.
func (s *Slurm) Submit(ctx context.Context, w *Work, script string, shards []int) (string, error) {
	id, err := command(ctx, "sbatch", "--parsable", "--array="+units.Ranges(shards, ","), script)
	if err != nil {
		return "", fmt.Errorf("%w (an array has at most MaxArraySize−1 tasks: scontrol show config)", err)
	}
	return fmt.Sprintf("shards %s of %d are Slurm's job %s (%s)", units.Ranges(shards, ","), w.Shards, strings.TrimSpace(id), script), nil
}

// Every implements Engine.
func (*Slurm) Every() time.Duration { return 5 * time.Second }

// Leave implements Engine.
func (*Slurm) Leave() string { return "the shards go on in Slurm's queue" }

// command runs a program of the engine's and takes what it prints.
func command(ctx context.Context, name string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, name, args...).Output()
	var exit *exec.ExitError
	switch {
	case err == nil || ctx.Err() != nil:
		return string(out), ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("there is no %s here: ask on a machine that submits jobs", name)
	case errors.As(err, &exit):
		return "", fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(string(exit.Stderr)))
	}
	return "", err
}
