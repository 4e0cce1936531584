package ipynb

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"railyard/internal/long"
)

// TestCellsCompile type-checks the cells of every notebook, without Jupyter: the kernel
// is not everywhere, and whoever changes a package should hear of it from `go test`.
func TestCellsCompile(t *testing.T) {
	long.Only(t)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	// All that railyard requires is listed again: else go would ask for modules that nothing
	// is compiled from, and that a machine need not have.
	write("go.mod", strings.Replace(string(mod), "module railyard", "module cells", 1)+
		fmt.Sprintf("\nrequire (\n\trailyard v0.0.0\n\tgithub.com/janpfeifer/gonb v0.11.3\n)\n\nreplace railyard => %q\n\nreplace "+
			"github.com/janpfeifer/gonb => ./gonb\n", root))
	write("gonb/go.mod", "module github.com/janpfeifer/gonb\n\ngo 1.26.0\n")
	write("gonb/gonbui/gonbui.go", "package gonbui\n\nfunc DisplaySvg(svg string) {}\n\nfunc Sync() {}\n")
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	write("go.sum", string(sums))
	for i, file := range tree(t) {
		n, err := Read(file)
		if err != nil {
			t.Fatal(err)
		}
		text, err := program(n)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		write(fmt.Sprintf("n%d/main.go", i+1), text)
	}
	vet := exec.Command("go", "vet", "-mod=mod", "./...")
	vet.Dir = dir
	vet.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=off")
	if out, err := vet.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// program is a notebook as the kernel sees it: declarations stay, what follows %% in a
// cell is a function of its own here, lines that begin with ! or % are the kernel's.
func program(n *Notebook) (string, error) {
	imports, declared := map[string]bool{}, &strings.Builder{}
	for i, c := range n.Cells {
		if c.Kind != "code" {
			continue
		}
		above, run, _ := strings.Cut("\n"+string(c.Source), "\n%%\n")
		var lines []string
		for line := range strings.Lines(above) {
			if !strings.HasPrefix(line, "!") && !strings.HasPrefix(line, "%") {
				lines = append(lines, line)
			}
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, fmt.Sprintf("cell %d", i+1), "package main\n"+strings.Join(lines, "")+"\nfunc cell"+
			fmt.Sprint(i+1)+"() {\n"+run+"\n}\n", parser.ParseComments)
		if err != nil {
			return "", err
		}
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
				for _, s := range g.Specs {
					imports[s.(*ast.ImportSpec).Path.Value] = true
				}
				continue
			}
			if err := printer.Fprint(declared, set, d); err != nil {
				return "", err
			}
			declared.WriteString("\n\n")
		}
		fmt.Fprintf(declared, "func init() { cell%d() }\n\n", i+1)
	}
	return "package main\n\nimport (\n\t" + strings.Join(slices.Sorted(maps.Keys(imports)), "\n\t") + "\n)\n\n" + declared.String() +
		"func main() {}\n", nil
}
