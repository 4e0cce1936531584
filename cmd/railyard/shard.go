package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"railyard/capacity/journal"
	"railyard/cmd/internal/cli"
)

// shardFlag is this machine's part of a search.
type shardFlag string

// shard is the part, whose rows are all that it leaves.
func (f shardFlag) shard(path string) (journal.Shard, error) {
	if f != "" && path == "" {
		return journal.All, cli.Usagef("--shard %s has no effect without --journal: say which file its rows go to", f)
	}
	s, err := journal.ParseShard(string(f))
	if err != nil {
		err = cli.Usage(err)
	}
	return s, err
}

// said says what a part of a search has left: not the best of all.
func (f shardFlag) said(cmd *cobra.Command, path string) error {
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "shard %s: its rows are in %s\n", f, path)
	return err
}
