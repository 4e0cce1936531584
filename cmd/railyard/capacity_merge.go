package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"railyard/capacity/journal"
	"railyard/capacity/sweep"
	"railyard/cmd/internal/cli"
	"railyard/internal/outfile"
	"railyard/model/units"
)

// mergeJournals joins the journals of a sweep's shards into one table.
func mergeJournals(cmd *cobra.Command, out string, partial bool, journals []string) error {
	if len(journals) == 0 {
		return cli.Usagef("--merge: name the journals")
	}
	if err := cli.MayWrite(cmd, out); err != nil {
		return err
	}
	m, err := journal.Merge(journals)
	if err != nil {
		return err
	}
	if m.Missing > 0 && !partial {
		return fmt.Errorf("%d points have no row yet: run their shards, or merge what is there with --partial", m.Missing)
	}
	return writeMerged(cmd, out, m)
}

// writeMerged writes the rows of all shards.
func writeMerged(cmd *cobra.Command, out string, m *journal.Merged) error {
	write := m.Write
	switch filepath.Ext(out) {
	case ".csv":
		q, rows, err := sweep.Rows(m)
		if err != nil {
			return fmt.Errorf("%w; write %s instead", err, strings.TrimSuffix(out, ".csv")+".jsonl")
		}
		write = func(w io.Writer) error { return writeSweepCSV(w, q.Axes, rows) }
	case ".jsonl":
	default:
		return cli.Usagef("%s: the name must end in .csv or .jsonl", out)
	}
	if err := outfile.Write(out, write); err != nil {
		return err
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", out, units.Counted(len(m.Rows), "row"))
	return err
}

// writeSweepCSV has a column for each axis and for each number, text or truth of the answers.
func writeSweepCSV(w io.Writer, axes []sweep.Axis, rows []sweep.Row) error {
	var fields, columns []string
	for _, a := range axes {
		fields = append(fields, a.Field)
	}
	answers := make([]map[string]any, len(rows))
	for i, r := range rows {
		if r.Answer != nil {
			if err := json.Unmarshal(r.Answer, &answers[i]); err != nil {
				return fmt.Errorf("point %d: its answer is no object: %w", r.Point, err)
			}
		}
		for key, v := range answers[i] {
			if scalar(v) && !slices.Contains(columns, key) {
				columns = append(columns, key)
			}
		}
	}
	slices.Sort(columns)
	out := csv.NewWriter(w)
	_ = out.Write(append(append(slices.Clone(fields), columns...), "error")) // the writer keeps its first error
	for i, r := range rows {
		var row []string
		for _, s := range r.Set {
			_, value, _ := strings.Cut(s, "=")
			row = append(row, value)
		}
		for _, c := range columns {
			row = append(row, cell(answers[i][c]))
		}
		_ = out.Write(append(row, r.Error))
	}
	out.Flush()
	return out.Error()
}

func scalar(v any) bool {
	switch v.(type) {
	case float64, string, bool:
		return true
	}
	return false
}

func cell(v any) string {
	if !scalar(v) {
		return ""
	}
	if n, ok := v.(float64); ok {
		text, _ := json.Marshal(n)
		return string(text)
	}
	return fmt.Sprint(v)
}
