package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"railyard/cmd/internal/cli"
	"railyard/report/table"

	"github.com/spf13/cobra"
)

// fillPage puts blocks into a page of docs, or makes the page.
func fillPage(cmd *cobra.Command, path string, blocks []table.Block) error {
	page, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	out, err := table.Fill(page, blocks)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return cli.WriteBytes(cmd, path, out)
}
