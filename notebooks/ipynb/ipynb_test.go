package ipynb

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The notebooks of the tree.
func tree(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../*.ipynb")
	if err != nil || len(files) != 6 {
		t.Fatalf("%v, %v: want six notebooks", files, err)
	}
	return files
}

func TestNotebooksAreFitToCommit(t *testing.T) {
	for _, file := range tree(t) {
		n, err := Read(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range n.Mistakes() {
			t.Errorf("%s: %s", file, m)
		}
		if n.Minor < 5 {
			t.Errorf("%s: nbformat 4.%d: cells have names from 4.5 on", file, n.Minor)
		}
		ids, code, shown := map[string]bool{}, 0, 0
		for i, c := range n.Cells {
			if c.ID == "" || ids[c.ID] {
				t.Errorf("%s: cell %d: the id %q is empty or there twice", file, i+1, c.ID)
			}
			ids[c.ID] = true
			if c.Kind == "code" {
				code++
			}
			shown += len(pictures.FindAllString(string(c.Source), -1))
		}
		if n.Cells[0].Kind != "markdown" || !strings.HasPrefix(string(n.Cells[0].Source), "# "+filepath.Base(file)[:1]+" · ") {
			t.Errorf("%s: does not begin with its number and title", file)
		}
		if code < 5 || code > 8 || shown < 2 {
			t.Errorf("%s: %d cells of code with %d pictures: want 5 to 8 with at least 2", file, code, shown)
		}
	}
}

// TestNotebooksAreWrittenAsJupyterWritesThem keeps differences small when one is edited.
func TestNotebooksAreWrittenAsJupyterWritesThem(t *testing.T) {
	for _, file := range tree(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal(data, &v); err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		e := json.NewEncoder(&b) // sorts keys, as Jupyter does
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
		if b.String() != string(data) {
			t.Errorf("%s: keys are not sorted or not indented by one space: save it in Jupyter", file)
		}
	}
}

// notebook has one cell of code with outputs.
func notebook(source, count, outputs string) string {
	text, _ := json.Marshal(source)
	return `{"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": {"name": "gonb"}}, "cells": [
		{"cell_type": "markdown", "id": "a", "metadata": {}, "source": ["# 1\n", "two lines"]},
		{"cell_type": "code", "id": "b", "metadata": {}, "execution_count": ` + count + `, "source": ` + string(text) + `, "outputs": [` + outputs + `]}]}`
}

const (
	printed = `{"output_type": "stream", "name": "stdout", "text": ["all is well\n"]}`
	display = `{"output_type": "display_data", "metadata": {}, "data": {"text/html": ["<svg/>"]}}`
	// What gonb 0.11.3 leaves of panic("oops"), of os.Exit(3) and of a program that does not compile.
	panicked = `{"output_type": "stream", "name": "stderr", "text": ["panic: oops\n", "\n", "goroutine 1 [running]:\n", "main.main()\n", "exit status 2\n"]}`
	exited   = `{"output_type": "stream", "name": "stderr", "text": ["exit status 3\n"]}`
	broken   = `{"output_type": "error", "ename": "ERROR", "evalue": "failed to run \"go build\"", "traceback": ["…"]}`
)

func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name, source, count, outputs string
		want                         string // "" where all is well
	}{
		{"well", "%%\nf()", "2", printed, ""},
		{"no output", "var x int", "2", "", ""},
		{"picture", "%%\npicture(x())", "2", printed + "," + display, ""},
		{"panic", "%%\nf()", "2", printed + "," + panicked, "cell 2: panic: oops"},
		{"exit", "%%\nf()", "2", exited, "cell 2: exit status 3"},
		{"exit status among prints", "%%\nf()", "2", strings.Replace(exited, "stderr", "stdout", 1), "cell 2: exit status 3"},
		{"does not compile", "%%\nf()", "2", broken, `cell 2: ERROR: failed to run "go build"`},
		{"not run", "%%\nf()", "null", "", "cell 2: it did not run"},
		{"lost picture", "%%\n\tpicture(x())\npicture(y())", "2", display, "cell 2: it shows 1 of 2 pictures"},
		{"definition of picture", "func picture(x int) {}", "2", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, err := Parse([]byte(notebook(c.source, c.count, c.outputs)))
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(n.Failures(), "\n"); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
				t.Errorf("%q; want %q", got, c.want)
			}
		})
	}
	if _, err := Read("no-such.ipynb"); err == nil {
		t.Error("without a notebook all is well")
	}
}

func TestMistakes(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"fit", notebook("f(\"../docs\")", "null", ""), ""},
		{"outputs", notebook("f()", "null", printed), "cell 2: it keeps outputs"},
		{"run", notebook("f()", "3", ""), "cell 2: it keeps outputs"},
		{"empty", notebook(" \n", "null", ""), "cell 2: it is empty"},
		{"path", notebook(`f("/home/me/x.csv")`, "null", ""), `cell 2: it names a path of one machine, "\"/home/"`},
		{"replace", notebook(`!*go mod edit -replace=railyard=/root/railyard`, "null", ""), "cell 2: it names a path"},
		{"drive", notebook(`f("C:\\x")`, "null", ""), "cell 2: it names a path"},
		{"kernel", strings.Replace(notebook("f()", "null", ""), "gonb", "python3", 1), `its kernel is "python3"`},
		{"type", strings.Replace(notebook("f()", "null", ""), "markdown", "raw", 1), `cell 1: its type is "raw"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, err := Parse([]byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(n.Mistakes(), "\n")
			if !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestNotANotebook(t *testing.T) {
	for _, text := range []string{"", "{}", "[]", `{"nbformat": 3, "cells": [{}]}`, `{"nbformat": 4, "cells": []}`,
		`{"nbformat": 4, "cells": [{"source": 1}]}`} {
		if n, err := Parse([]byte(text)); err == nil {
			t.Errorf("%s: %v", text, n)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(notebook("%%\npicture(x())", "2", panicked+","+broken)))
	f.Add([]byte(`{"nbformat": 4, "cells": [{"cell_type": "code", "source": ["a", "b"]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if n, err := Parse(data); err == nil {
			n.Mistakes()
			n.Failures()
		}
	})
}
