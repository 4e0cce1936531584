package sweep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"railyard/capacity/journal"
	_ "railyard/internal/long" // accepts -long
)

func axes(t *testing.T, texts ...string) []Axis {
	t.Helper()
	var out []Axis
	for _, s := range texts {
		a, err := ParseAxis(s)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, a)
	}
	return out
}

func question(a []Axis) Question { return Question{Words: []string{"test"}, Axes: a} }

// answer fails on one point, so that failures are rows too.
func answer(_ context.Context, set []string) (any, error) {
	if set[0] == "a=3" && set[1] == "b=x" {
		return nil, errors.New("no such machine")
	}
	return map[string]string{"is": strings.Join(set, " ")}, nil
}

func sweepTo(t *testing.T, path string, a []Axis, shard string, f Answer) error {
	t.Helper()
	s, err := journal.ParseShard(shard)
	if err != nil {
		t.Fatal(err)
	}
	j, err := Open(path, question(a), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	return Run(context.Background(), j, a, s, f, nil)
}

func TestKilledSweepGoesOn(t *testing.T) {
	a := axes(t, "a=1..9", "b=x,y,z")
	whole := filepath.Join(t.TempDir(), "whole.jsonl")
	if err := sweepTo(t, whole, a, "", answer); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(want), "\n"); n != 28 {
		t.Fatalf("%d lines, want a header and 27 rows", n)
	}
	// Cut anywhere, also inside of a line: going on gives the same bytes and asks nothing twice.
	for cut := 0; cut <= len(want); cut += 37 {
		path := filepath.Join(t.TempDir(), "cut.jsonl")
		if err := os.WriteFile(path, want[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		var asked atomic.Int32
		err := sweepTo(t, path, a, "", func(ctx context.Context, set []string) (any, error) {
			asked.Add(1)
			return answer(ctx, set)
		})
		if err != nil {
			t.Fatal(err)
		}
		got, _ := os.ReadFile(path)
		if string(got) != string(want) {
			t.Fatalf("cut at %d: other bytes after going on", cut)
		}
		if rows := max(0, strings.Count(string(want[:cut]), "\n")-1); int(asked.Load()) != 27-rows {
			t.Fatalf("cut at %d: %d rows were there and %d of 27 points asked", cut, rows, asked.Load())
		}
	}
}

func TestShardsMergeToTheWhole(t *testing.T) {
	a := axes(t, "a=1..5", "b=x,y")
	dir := t.TempDir()
	var files []string
	for i := 1; i <= 3; i++ {
		files = append(files, filepath.Join(dir, fmt.Sprint(i)))
		if err := sweepTo(t, files[i-1], a, fmt.Sprintf("%d/3", i), answer); err != nil {
			t.Fatal(err)
		}
	}
	m, err := journal.Merge(files)
	if err != nil || m.Missing != 0 {
		t.Fatalf("%+v, %v", m, err)
	}
	_, rows, err := Rows(m)
	if err != nil || len(rows) != 10 {
		t.Fatalf("%+v, %v", rows, err)
	}
	for i, r := range rows {
		if r.Point != i || fmt.Sprint(r.Set) != fmt.Sprint(Point(a, i)) {
			t.Errorf("row %d is %+v", i, r)
		}
	}
	if rows[4].Error != "no such machine" {
		t.Errorf("the point that failed: %+v", rows[4])
	}
	if part, err := journal.Merge(files[:2]); err != nil || part.Missing != 3 {
		t.Errorf("two of three shards lack %+v, %v", part, err)
	}
}

func TestAnotherSweepIsNotContinued(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	if err := sweepTo(t, path, axes(t, "a=1", "b=x"), "", answer); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(path)
	if _, err := Open(path, question(axes(t, "a=1", "b=y")), nil); err == nil || !strings.Contains(err.Error(), "another sweep") {
		t.Errorf("error %v", err)
	}
	if after, _ := os.ReadFile(path); string(before) != string(after) {
		t.Error("the refused journal was changed")
	}
}

func TestCancelKeepsWhatIsDone(t *testing.T) {
	a := axes(t, "a=1..50", "b=y")
	path := filepath.Join(t.TempDir(), "j")
	j, err := Open(path, question(a), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	err = Run(ctx, j, a, journal.All, answer, func(done, _ int) {
		if done == 10 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	j.Close()
	m, err := journal.Merge([]string{path})
	if err != nil || len(m.Rows) < 10 || len(m.Rows) == 50 {
		t.Errorf("%d rows, %v", len(m.Rows), err)
	}
}

func TestBadAxes(t *testing.T) {
	for _, s := range []string{"", "a", "a=", "=1", "a=4..1", "a=1..x", "a=1..2000000", "a=1,1", "a=1..3,2"} {
		if a, err := ParseAxis(s); err == nil {
			t.Errorf("%q gave %+v", s, a)
		}
	}
	if _, err := Count(axes(t, "a=1..1000", "b=1..1000")); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("a million points: %v", err)
	}
	if _, err := Count([]Axis{{Field: "a", Values: []string{"1"}}, {Field: "a", Values: []string{"2"}}}); err == nil {
		t.Error("a field with two axes was accepted")
	}
	for _, s := range []string{"0/2", "3/2", "1", "x/y", "1/0"} {
		if _, err := journal.ParseShard(s); err == nil {
			t.Errorf("shard %q was accepted", s)
		}
	}
}

func FuzzMerge(f *testing.F) {
	f.Add([]byte(`{"schema":"railyard.sweep/v2","of":{"question":["x"],"inputs":"","axes":[{"field":"a","values":["1"]}],"version":""},` +
		`"points":1}` + "\n" +
		`{"point":0,"set":["a=1"],"answer":{}}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "j")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		m, err := journal.Merge([]string{path})
		if err != nil {
			return
		}
		if m.Missing < 0 {
			t.Errorf("%d rows are missing", m.Missing)
		}
		if _, rows, err := Rows(m); err == nil && len(rows) != len(m.Rows) {
			t.Errorf("%d rows of %d lines", len(rows), len(m.Rows))
		}
	})
}
