package search_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"railyard/capacity/journal"
	"railyard/capacity/search"
	"railyard/capacity/step"
	"railyard/capacity/steptest"
	_ "railyard/internal/long" // accepts -long
	"railyard/model/units"
)

// TestFindsWhatPlayingEverythingFinds: pruning loses none of the best.
func TestFindsWhatPlayingEverythingFinds(t *testing.T) {
	for _, c := range []struct {
		workload string
		nodes    int
		space    search.Space
	}{
		{"llama-3-8b", 2, search.Space{Zero: -1, GlobalBatch: 16, Narrow: true}},
		{"mixtral-8x7b", 2, search.Space{Zero: -1, GlobalBatch: 32, MicroBatch: 1, Narrow: true}},
		{"resnet-50", 1, search.Space{Zero: -1, GlobalBatch: 256}},
	} {
		p, w := steptest.Predictor(t, "dgx-h100", c.nodes), steptest.Workload(t, c.workload)
		r, err := search.Run(context.Background(), p, w, c.space, search.Options{Top: 5})
		if err != nil {
			t.Fatal(err)
		}
		var all []units.Time
		for _, l := range c.space.Layouts(w, p.Machine().Topology.NumRanks()) {
			if x, err := step.Run(p, w, l, step.Options{}); err == nil && x.Memory.Fits() {
				all = append(all, x.Time)
			}
		}
		slices.Sort(all)
		for i, x := range r.Best {
			if x.Time != all[i] {
				t.Errorf("%s: number %d takes %v, playing everything finds %v", c.workload, i, x.Time, all[i])
			}
		}
		if r.Timed+r.Pruned+r.Memory != r.Layouts || r.Timed+r.Pruned != len(all) {
			t.Errorf("%s: %d timed, %d pruned, %d too large of %d; %d fit", c.workload, r.Timed, r.Pruned, r.Memory, r.Layouts, len(all))
		}
	}
}

// TestJournalSurvivesKills cuts a journal at every kind of place; going on gives the same
// bytes as never having been killed, whatever the number of workers.
func TestJournalSurvivesKills(t *testing.T) {
	p, w := steptest.Predictor(t, "dgx-h100", 2), steptest.Workload(t, "llama-3-8b")
	space := search.Space{Zero: -1, GlobalBatch: 32, MicroBatch: 1, Narrow: true}
	layouts := len(space.Layouts(w, p.Machine().Topology.NumRanks()))
	dir := t.TempDir()
	path := filepath.Join(dir, "search.jsonl")
	run := func(workers int) *search.Result {
		t.Helper()
		j, err := search.OpenJournal(path, "key", layouts, journal.All)
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		r, err := search.Run(context.Background(), p, w, space, search.Options{Top: 5, Workers: workers, Journal: j})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := run(1)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(whole), "\n"); lines != first.Layouts+1 {
		t.Fatalf("%d lines for %d layouts and a header", lines, first.Layouts)
	}
	for i, cut := range []int{0, 1, 20, len(whole) / 3, len(whole) / 2, len(whole) - 1, len(whole)} {
		if err := os.WriteFile(path, whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		r := run(1 + i%3)
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(whole) {
			t.Errorf("cut at %d of %d: another journal", cut, len(whole))
		}
		if r.Best[0].Layout.String() != first.Best[0].Layout.String() || r.Best[4].Time != first.Best[4].Time {
			t.Errorf("cut at %d: another result", cut)
		}
		if cut == len(whole) && r.Resumed != r.Layouts {
			t.Errorf("%d of %d rows were taken from a whole journal", r.Resumed, r.Layouts)
		}
	}
}

// TestShardsFindTheBest: the best of all are among the best of the shards, whose merged journal answers at once; shards without
// a layout that fits, and without any, are no error.
func TestShardsFindTheBest(t *testing.T) {
	p, w := steptest.Predictor(t, "dgx-h100", 2), steptest.Workload(t, "llama-3-8b")
	space := search.Space{Zero: -1, GlobalBatch: 32, MicroBatch: 1, Narrow: true}
	layouts := len(space.Layouts(w, p.Machine().Topology.NumRanks()))
	run := func(path string, shard journal.Shard) *search.Result {
		t.Helper()
		j, err := search.OpenJournal(path, "key", layouts, shard)
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		r, err := search.Run(context.Background(), p, w, space, search.Options{Top: 5, Journal: j, Shard: shard})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	dir := t.TempDir()
	want := run(filepath.Join(dir, "whole"), journal.All)
	for _, of := range []int{3, layouts + 2} {
		var paths []string
		for i := range of {
			paths = append(paths, filepath.Join(dir, fmt.Sprint(of, " ", i)))
			run(paths[i], journal.Shard{Index: i + 1, Of: of})
		}
		m, err := journal.Merge(paths)
		if err != nil || m.Missing != 0 {
			t.Fatalf("%v, %v", m, err)
		}
		merged := filepath.Join(dir, fmt.Sprint(of))
		f, err := os.Create(merged)
		if err == nil {
			err = errors.Join(m.Write(f), f.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		got := run(merged, journal.All)
		if got.Resumed != layouts || len(got.Best) != len(want.Best) {
			t.Fatalf("%d of %d rows, %d best", got.Resumed, layouts, len(got.Best))
		}
		for i := range want.Best {
			if got.Best[i].Time != want.Best[i].Time {
				t.Errorf("%d shards: number %d takes %v, undivided %v", of, i, got.Best[i].Time, want.Best[i].Time)
			}
		}
	}
	if _, err := search.OpenJournal(filepath.Join(dir, "3 1"), "key", layouts, journal.All); err == nil {
		t.Error("a search of all went on with a shard's journal, which leaves out what is not the best there")
	}
}

func TestJournalErrors(t *testing.T) {
	const header = `{"schema":"railyard.search-journal/v2","of":"`
	for text, want := range map[string]string{
		"hello\n":                            "holds another search",
		"hello":                              "is not the journal of a search",
		header + `other","points":9}` + "\n": "holds another search",
		header + `key","points":9}` + "\n" + `{"a":1}` + "\n":                                            ":2: not a row of a search",
		header + `key","points":9}` + "\n" + strings.Repeat(`{"layout":"dp8","status":"timed"}`+"\n", 2): ":3: dp8 appears twice",
	} {
		path := filepath.Join(t.TempDir(), "j")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := search.OpenJournal(path, "key", 9, journal.All); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestNothingToFind(t *testing.T) {
	p := steptest.Predictor(t, "dgx-h100", 1)
	for _, c := range []struct {
		workload string
		space    search.Space
		want     string
	}{
		{"llama-3-8b", search.Space{Zero: -1, Tensor: 3}, "tp 3 does not divide the 32 attention heads"},
		{"llama-3-8b", search.Space{Zero: -1, Data: 16}, "need 16 GPUs, but there are 8"},
		{"llama-3-405b", search.Space{Zero: -1, Narrow: true}, "layouts fits into memory; the smallest"},
	} {
		_, err := search.Run(context.Background(), p, steptest.Workload(t, c.workload), c.space, search.Options{})
		var unfit *search.Unfit
		if !errors.As(err, &unfit) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.workload, err, c.want)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p, w := steptest.Predictor(t, "dgx-h100", 1), steptest.Workload(t, "llama-3-8b")
	if _, err := search.Run(ctx, p, w, search.Space{Zero: -1, Narrow: true}, search.Options{}); err != context.Canceled {
		t.Errorf("%v, want to be cancelled", err)
	}
}

// TestTenThousandLayouts: the space of 4,096 GPUs is as large as promised, and no layout
// is in it twice.
func TestTenThousandLayouts(t *testing.T) {
	layouts := (&search.Space{Zero: -1}).Layouts(steptest.Workload(t, "llama-3-405b"), 4096)
	if len(layouts) < 10_000 {
		t.Errorf("%d layouts", len(layouts))
	}
	seen := map[string]bool{}
	for i := range layouts {
		if s := layouts[i].String(); seen[s] {
			t.Fatalf("%s twice", s)
		} else {
			seen[s] = true
		}
	}
}

func BenchmarkSearch4096(b *testing.B) {
	w := steptest.Workload(b, "llama-3-405b")
	for b.Loop() {
		r, err := search.Run(context.Background(), steptest.Predictor(b, "superpod-h100", 512), w, search.Space{Zero: -1}, search.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(r.Layouts), "layouts")
	}
}
