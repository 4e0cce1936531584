package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"railyard/cmd/internal/cli"
	"railyard/report/table"
)

// fillPage puts blocks into a page of docs, or makes the page.
func fillPage(path string, blocks []table.Block) error {
	page, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	out, err := table.Fill(page, blocks)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return cli.WriteFile(path, func(w io.Writer) error { _, err := w.Write(out); return err })
}
