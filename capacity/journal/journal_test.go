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

var header = journal.Header{Schema: "test/v1", Of: []byte(`"a test"`), Points: 3}

func open(path string) (*journal.File, []string, error) {
	var lines []string
	j, err := journal.Open(path, "test", header, func(_ int, line []byte) error {
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

// TestOneWriter: two processes that go on with one journal would overwrite one another's rows.
func TestOneWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	j, _, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := open(path); err == nil || !strings.Contains(err.Error(), "is being written by another process") {
		t.Errorf("a second writer: %v", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if j, _, err = open(path); err != nil {
		t.Fatal(err)
	}
	j.Close()
}

// TestMerge: shards in any order are the whole, their header without the shard; other answers, other questions and what is no row
// are errors with file and line.
func TestMerge(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const first = `{"schema":"test/v1","of":"a test","points":3`
	even := write("even", first+`,"shard":"1/2"}`+"\n"+`{"point":0,"x":1}`+"\n"+`{"point":2}`+"\n"+`{"poi`)
	odd := write("odd", first+`,"shard":"2/2"}`+"\n"+`{"point":1}`+"\n")
	m, err := journal.Merge([]string{odd, even})
	if err != nil || m.Missing != 0 {
		t.Fatalf("%+v, %v", m, err)
	}
	var out strings.Builder
	const want = first + "}\n" + `{"point":0,"x":1}` + "\n" + `{"point":1}` + "\n" + `{"point":2}` + "\n"
	if err := m.Write(&out); err != nil || out.String() != want {
		t.Errorf("%v\n%s", err, out.String())
	}
	if m, err := journal.Merge([]string{even}); err != nil || m.Missing != 1 {
		t.Errorf("half: %+v, %v", m, err)
	}
	for text, want := range map[string]string{
		first + "}\n" + `{"point":0,"x":2}` + "\n":         ":2: point 0 has another answer in " + even + ":2",
		`{"schema":"test/v1","of":"b","points":3}` + "\n":  "holds another question than the file before it",
		first + "}\n" + `{"point":3}` + "\n":               ":2: not the row of one of 3 points",
		first + "}\n" + `{"x":3}` + "\n":                   ":2: not the row of one of 3 points",
		first + "}\n" + `hello` + "\n":                     ":2: not the row of one of 3 points",
		"hello\n":                                          ":1: not the first line of a journal",
		`{"schema":"test/v1","of":"a","points":-3}` + "\n": ":1: not the first line of a journal",
		"": "is empty",
	} {
		if _, err := journal.Merge([]string{even, write("other", text)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
