package topology_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"railyard/model/topology"
	"railyard/topologies"
)

const head = "schema: railyard.topology/v1\nname: x\nsource: test\ndate: 2026-11-21\n"

const oneClass = "classes: {c: {medium: nvlink, rate: 1GB/s, latency: 1us, source: s, date: 2026-11-21}}\n"

func nested(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// TestHostileFiles: whatever a file holds, it ends in a clear message, and what it may
// allocate on the way is bounded (the whole of it, not only what is live).
func TestHostileFiles(t *testing.T) {
	const most = 1000 << 20
	for name, c := range map[string]struct{ text, want string }{
		"large":       {strings.Repeat("#", topology.MaxFile+1), "larger than 8 MiB"},
		"flow":        {strings.Repeat("[", 20000), "nested deeper"},
		"blocks":      {nested(100), "nested deeper"},
		"dashes":      {strings.Repeat("- ", 200_000), "max depth"},
		"questions":   {strings.Repeat("? ", 200_000), "max depth"},
		"commas":      {head + "x: [" + strings.Repeat("a,", 3<<20) + "a]\n", "more than 524288 values"},
		"lines":       {head + "x:\n" + strings.Repeat("- \n", 2<<20), "more than 524288 values"},
		"keys":        {head + numbered(100_000, "k%d: 1\n"), "unknown key(.|\n)*and 99901 more"},
		"aliases":     {"a: &a [x, x]\nb: &b [*a, *a]\n", "anchors and aliases"},
		"merge":       {head + "base: &b {x: 1}\nc: {<<: *b}\n", "anchors and aliases"},
		"documents":   {head + "---\n" + head, "second document"},
		"empty":       {"", "empty"},
		"comments":    {"# nothing\n", "empty"},
		"binary":      {"\x00\x01\x02", "not valid YAML"},
		"latin1":      {head + "description: caf\xe9\n", "not valid YAML"},
		"range":       {head + "devices: [{id: \"gpu[0-999999999]\", kind: gpu}]\n", "range|more than"},
		"huge number": {head + "devices: [{id: \"gpu[0-99999999999999999999]\", kind: gpu}]\n", "is not a range"},
		"ranges":      {head + "devices: [{id: \"gpu[" + strings.Repeat("0-400000,", 1000) + "1]\", kind: gpu}]\n", "more than"},
		"many gpus":   {head + "devices: [{id: \"gpu[0-4194302]\", kind: gpu}]\n", "is not a range such as 0-7 .up to 1048575"},
		"count": {head + "templates: {b: {devices: [{id: g, kind: gpu}]}}\nnodes: [{template: b, count: 999999999}]\n",
			"whole number"},
		"product": {head + "templates: {b: {devices: [{id: \"g[0-99999]\", kind: gpu}]}}\nnodes: [{template: b, count: 1000000}]\n",
			"more than"},
		"entries": {head + "templates: {b: {devices: [{id: \"g[0-99999]\", kind: gpu}]}}\nnodes:\n" +
			numbered(50_000, "- {template: b, name: n%d.}\n"), "more than"},
		"mesh": {head + oneClass + "devices: [{id: \"g[0-99999]\", kind: gpu}]\nlinks: [{mesh: \"g[0-99999]\", class: c}]\n",
			"pairs are more than"},
		"all": {head + oneClass + "devices: [{id: \"g[0-99999]\", kind: gpu}]\nlinks: [{from: \"g[0-99999]\", to: \"g[0-99999]\", how: " +
			"all, class: c}]\n", "pairs are more than"},
		"repeated": {head + oneClass + "devices: [{id: \"g[0-999999]\", kind: gpu}]\nlinks:\n" +
			strings.Repeat("- {from: \"g[0-999999]\", to: g0, class: c}\n", 20_000), "too much to lay out"},
		"parallel": {head + oneClass + "devices: [{id: \"g[0-1]\", kind: gpu}]\nlinks:\n" +
			strings.Repeat("- {from: g0, to: g1, class: c, count: 1048576}\n", 4000), "joined by more than"},
		"matrix": {head + oneClass + "devices: [{id: \"g[0-1]\", kind: gpu}]\nlinks: [{matrix: \"g[0-1]\", rows: [[0, 1048576], " +
			"[1048576, 0]], count: 1048576, class: c}]\n", "joined by 1099511627776 links"},
		"far NICs": {head + oneClass + "devices: [{id: \"g[0-99999]\", kind: gpu}, {id: p, kind: pcie_switch}, {id: q, kind: " +
			"pcie_switch}, {id: n, kind: nic}]\nlinks: [{from: \"g[0-99999]\", to: p, class: c}, {from: p, to: q, class: c}, {from: q, " +
			"to: n, class: c}]\n", "too much to lay out"},
		"rates": {head + strings.Replace(oneClass, "1GB/s", "1000000GB/s", 1) +
			"devices: [{id: \"g[0-1]\", kind: gpu}]\nlinks: [{mesh: \"g[0-1]\", class: c, count: 1048576}]\n", "more than can be computed"},
		"planes": {head + oneClass + "templates: {b: {devices: [{id: g, kind: gpu}]}}\nnodes: [{template: b, count: " +
			"100000}]\nfabrics: [{name: f, endpoints: gpu, class: c, levels: [{kind: leaf, planes: 1048576, group: 1}]}]\n",
			"more than 4194304 devices"},
		"spread": {head + oneClass + "templates: {b: {devices: [{id: g, kind: gpu}]}}\nnodes: [{template: b, count: " +
			"100000}]\nfabrics: [{name: f, endpoints: gpu, class: c, levels: [{kind: leaf, group: 1}, {kind: spine, count: 1048576}]}]\n",
			"more than 33554432 links"},
		"use recursion": {head + "templates: {b: {use: again}}\n", "files use one another"},
	} {
		again := func(string) (string, []byte, error) { return "again", []byte(c.text), nil }
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := topology.Parse(name, []byte(c.text), again, topology.Options{})
		runtime.ReadMemStats(&after)
		if err == nil || !regexp.MustCompile(c.want).MatchString(err.Error()) {
			t.Errorf("%s: %.300v, want %q", name, err, c.want)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > most {
			t.Errorf("%s: allocated %d MB", name, got>>20)
		}
	}
}

// A file of 100 MB is not even read to its end.
func TestLargeFileOnDisk(t *testing.T) {
	name := filepath.Join(t.TempDir(), "large.yaml")
	if err := os.WriteFile(name, []byte(head), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name, 100<<20); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := topology.Load(topologies.Source, name, topology.Options{})
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "larger than 8 MiB") {
		t.Errorf("%v", err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 64<<20 {
		t.Errorf("allocated %d MB", got>>20)
	}
}
