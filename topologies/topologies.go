// Package topologies is the catalogue of shipped topology files.
package topologies

import (
	"embed"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"railyard/internal/spelling"
)

//go:embed *.yaml
var files embed.FS

// maxFile is the most that is read of a file on disk; the loader refuses more than
// 8 MiB, so one byte beyond is enough to tell.
const maxFile = 8<<20 + 1

// Names are the shipped topologies, sorted.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // the files are part of the program
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), ".yaml")
	}
	return names
}

// Source finds a topology: a path where the name has a slash or ends in .yaml or .yml,
// else a shipped name.
func Source(name string) (file string, data []byte, err error) {
	if strings.ContainsAny(name, "/\\") || strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") {
		data, err = readLimited(name)
		return name, data, err
	}
	data, err = files.ReadFile(name + ".yaml")
	if err != nil {
		return "", nil, fmt.Errorf("unknown topology %q: did you mean %s? (`railyard list topologies` shows all; a file needs its .yaml)",
			name, strings.Join(nearest(name), ", "))
	}
	return name + ".yaml", data, nil
}

func readLimited(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile))
}

// nearest are the three names with the smallest edit distance, those of files that speak of the word first: a GPU's name.
func nearest(name string) []string {
	word := regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(name) + `\b`)
	distance := func(shipped string) int {
		if data, err := files.ReadFile(shipped + ".yaml"); err == nil && word.Match(data) {
			return 0
		}
		return spelling.Distance(name, shipped)
	}
	names := Names()
	slices.SortStableFunc(names, func(a, b string) int { return distance(a) - distance(b) })
	return names[:3]
}
