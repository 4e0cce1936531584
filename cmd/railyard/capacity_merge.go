package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
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
	if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", out, units.Counted(len(m.Rows), "row")); err != nil {
		return err
	}
	return unanswered(out, m)
}

// unanswered is the error of a sweep's points that have no answer; journals of searches have none such.
func unanswered(out string, m *journal.Merged) error {
	if m.Header.Schema != sweep.Schema {
		return nil
	}
	_, rows, err := sweep.Rows(m)
	if err != nil {
		return err
	}
	var count tally
	for _, r := range rows {
		count.add(r)
	}
	return count.verdict(out)
}

// writeSweepCSV has a column for each axis and for each number, text or truth of the answers; where answers have rows, a line for each.
func writeSweepCSV(w io.Writer, axes []sweep.Axis, rows []sweep.Row) error {
	var fields, columns []string
	for _, a := range axes {
		fields = append(fields, a.Field)
	}
	lines := make([][]map[string]any, len(rows))
	for i, r := range rows {
		var err error
		if lines[i], err = answerLines(r.Answer); err != nil {
			return fmt.Errorf("point %d: its answer is no object: %w", r.Point, err)
		}
		for _, line := range lines[i] {
			columns = slices.AppendSeq(columns, maps.Keys(line))
		}
	}
	slices.Sort(columns)
	columns = slices.Compact(columns)
	out := csv.NewWriter(w)
	_ = out.Write(append(append(slices.Clone(fields), columns...), "error")) // the writer keeps its first error
	for i, r := range rows {
		var set []string
		for _, s := range r.Set {
			_, value, _ := strings.Cut(s, "=")
			set = append(set, value)
		}
		for _, line := range lines[i] {
			row := slices.Clone(set)
			for _, c := range columns {
				row = append(row, cell(line[c]))
			}
			_ = out.Write(append(row, r.Error))
		}
	}
	out.Flush()
	return out.Error()
}

// answerLines are what an answer says, by column: once, or once for each of its rows, whose own columns go before those above them.
// A point without an answer has one line, which is empty.
func answerLines(answer json.RawMessage) ([]map[string]any, error) {
	if answer == nil {
		return []map[string]any{{}}, nil
	}
	var above map[string]any
	if err := json.Unmarshal(answer, &above); err != nil {
		return nil, err
	}
	rows, _ := above["rows"].([]any)
	maps.DeleteFunc(above, func(_ string, v any) bool { return !scalar(v) })
	if len(rows) == 0 {
		return []map[string]any{above}, nil
	}
	var out []map[string]any
	for _, r := range rows {
		line := maps.Clone(above)
		if row, ok := r.(map[string]any); ok {
			maps.Copy(line, row)
		}
		maps.DeleteFunc(line, func(_ string, v any) bool { return !scalar(v) })
		out = append(out, line)
	}
	return out, nil
}

func scalar(v any) bool {
	switch v.(type) {
	case float64, string, bool:
		return true
	}
	return false
}

func cell(v any) string {
	if v == nil {
		return ""
	}
	if n, ok := v.(float64); ok {
		text, _ := json.Marshal(n)
		return string(text)
	}
	return fmt.Sprint(v)
}
