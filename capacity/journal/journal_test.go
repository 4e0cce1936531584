package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/capacity/journal"
	_ "railyard/internal/long" // accepts -long
)

type row struct {
	N    int    `json:"n"`
	Text string `json:"text"`
}

func open(path string) (*journal.File, []string, error) {
	var lines []string
	j, err := journal.Open(path, "test", row{Text: "header"}, func(_ int, line []byte) error {
		lines = append(lines, string(line))
		return nil
	})
	return j, lines, err
}

func TestCutAnywhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	j, _, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(journal.Add(j, row{1, "a"}, row{2, "b"}), journal.Add[row](j), j.Close()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(text) + 1 {
		if err := os.WriteFile(path, text[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		j, lines, err := open(path)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		for n := len(lines) + 1; n <= 2; n++ {
			if err := journal.Add(j, row{n, string(rune('a' + n - 1))}); err != nil {
				t.Fatal(err)
			}
		}
		j.Close()
		if got, err := os.ReadFile(path); err != nil || string(got) != string(text) {
			t.Errorf("cut at %d: %q, %v", cut, got, err)
		}
	}
}

func TestNotOurs(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		"precious":                  "is not the journal of a test",
		"precious\n":                "holds another test",
		"{\"n\":0,\"text\":\"\"}\n": "holds another test",
	} {
		path := filepath.Join(dir, "f")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, _, err := open(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
		if got, _ := os.ReadFile(path); string(got) != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	for _, path := range []string{dir, "/dev/full"} {
		if _, _, err := open(path); err == nil {
			t.Errorf("%s was taken for a journal", path)
		}
	}
}
