package railyard_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// mayImport says which of our packages each package may import. A key or a value ending in /... stands for everything
// below it; the longest key wins.
var mayImport = map[string][]string{
	"topologies":          {"internal/spelling"},
	"validation":          {},
	"internal/...":        {"internal/...", "model/..."},
	"model/units":         {},
	"model/yamlfile":      {"model/units"},
	"model/symmetry":      {},
	"model/topology":      {"internal/heap", "internal/spelling", "model/symmetry", "model/units", "model/yamlfile"},
	"model/collective":    {"model/units", "model/topology"},
	"model/schedule":      {"model/symmetry", "model/units", "model/topology", "model/collective"},
	"model/program":       {"model/units", "model/collective", "model/schedule"},
	"model/block":         {"model/collective", "model/schedule"},
	"model/cost":          {"model/units", "model/measurement", "model/topology", "model/yamlfile"},
	"model/gpu":           {"model/units", "model/topology", "model/yamlfile"},
	"model/workload":      {"model/units", "model/collective", "model/gpu", "model/yamlfile"},
	"model/price":         {"model/yamlfile"},
	"model/failure":       {"model/yamlfile"},
	"model/survey":        {"model/units", "model/topology"},
	"model/health":        {"model/survey", "model/yamlfile"},
	"model/load":          {"model/health", "model/survey", "model/topology"},
	"model/trace":         {"model/units"},
	"model/grouptest":     {},
	"model/measurement":   {"model/units", "model/collective"},
	"model/observed":      {"model/units", "model/collective"},
	"planner/...":         {"planner/...", "internal/heap", "internal/maxflow", "model/..."},
	"sim/...":             {"sim/...", "internal/heap", "internal/lazy", "model/..."},
	"exec/...":            {"exec/...", "internal/door", "internal/outfile", "model/..."},
	"exec/cluster":        {"internal/door"},
	"interop/...":         {"interop/foreign/...", "internal/lazy", "model/..."},
	"interop/interoptest": {"exec/...", "internal/...", "model/...", "planner/...", "topologies"},
	"report/...":          {"report/...", "model/..."},
	"study/...":           {"study/...", "model/...", "planner/...", "sim/...", "exec/...", "report/...", "topologies", "validation"},
	"capacity/...":        {"capacity/...", "internal/heap", "internal/outfile", "study/...", "model/...", "planner/...", "sim/..."},
	"capacity/steptest":   {"capacity/...", "model/...", "sim/...", "topologies"},
	"cmd/...":             {"..."},
	"notebooks/...":       {"..."},
	".":                   {},
}

// onlyIn keeps third-party libraries in the packages that need them.
var onlyIn = map[string][]string{
	"gopkg.in/yaml.v3":          {"model/yamlfile", "model/topology"},
	"gonum.org/v1/plot":         {"report/..."},
	"github.com/NVIDIA/go-nvml": {"exec/discover"},
	"golang.org/x/sys":          {"exec/cuda/descriptors", "exec/host", "exec/net"},
	"github.com/spf13/cobra":    {"cmd/..."},
	"github.com/prometheus":     {"interop/prometheus", "report/metrics"},
	"github.com/expr-lang/expr": {"study/doctor"},
}

func TestImportsFollowThePlan(t *testing.T) {
	forEachImport(t, func(file, pkg, imported string) {
		if rest, ours := strings.CutPrefix(imported, "railyard/"); ours {
			if rest != pkg && !covered(allowedFor(pkg), rest) {
				t.Errorf("%s: %s may not import %s (ARCHITECTURE.md has the table)", file, pkg, rest)
			}
			return
		}
		for lib, places := range onlyIn {
			if (imported == lib || strings.HasPrefix(imported, lib+"/")) && !covered(places, pkg) {
				t.Errorf("%s: %s stays in %v", file, lib, places)
			}
		}
	})
}

// TestPlanCoversEveryPackage keeps the table honest: a new package needs a line.
func TestPlanCoversEveryPackage(t *testing.T) {
	forEachImport(t, func(file, pkg, _ string) {
		if allowedFor(pkg) == nil {
			t.Errorf("%s: package %s has no line in the import table", file, pkg)
		}
	})
}

// TestArchitectureNamesEveryPackage: the tables of ARCHITECTURE.md have a row for each package.
func TestArchitectureNamesEveryPackage(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	missing := map[string]bool{}
	forEachImport(t, func(_, pkg, _ string) {
		missing[pkg] = pkg != "." && !strings.Contains(string(text), "`"+pkg+"`")
	})
	for pkg, is := range missing {
		if is {
			t.Errorf("ARCHITECTURE.md has no row for %s", pkg)
		}
	}
}

func allowedFor(pkg string) []string {
	if rules, ok := mayImport[pkg]; ok {
		return rules
	}
	for dir := pkg; dir != "." && dir != "/"; dir = path.Dir(dir) {
		if rules, ok := mayImport[dir+"/..."]; ok {
			return rules
		}
	}
	return nil
}

func covered(patterns []string, pkg string) bool {
	for _, p := range patterns {
		base, tree := strings.CutSuffix(p, "...")
		base = strings.TrimSuffix(base, "/")
		if pkg == base || tree && (base == "" || strings.HasPrefix(pkg, base+"/")) {
			return true
		}
	}
	return false
}

// TestEveryPackageAcceptsLong: `go test ./... -long` fails in a package whose tests do not know the flag.
func TestEveryPackageAcceptsLong(t *testing.T) {
	accepts := map[string]bool{}
	forEachImportOf(t, true, func(_, pkg, imported string) {
		accepts[pkg] = accepts[pkg] || imported == "railyard/internal/long"
	})
	for pkg, ok := range accepts {
		if !ok {
			t.Errorf(`%s: no test imports _ "railyard/internal/long"`, pkg)
		}
	}
}

// forEachImport visits every import of every non-test Go file in the module.
func forEachImport(t *testing.T, visit func(file, pkg, imported string)) {
	t.Helper()
	forEachImportOf(t, false, visit)
}

func forEachImportOf(t *testing.T, tests bool, visit func(file, pkg, imported string)) {
	t.Helper()
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if _, other := os.Stat(filepath.Join(name, "go.mod")); name != "." && other == nil {
				return filepath.SkipDir // a module of its own
			}
			return err
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") != tests {
			return nil
		}
		f, err := parser.ParseFile(fset, name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range f.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			visit(name, filepath.ToSlash(filepath.Dir(name)), imported)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Lines of the product's Go are at most 140 columns wide, a tab being four.
func TestLinesAreNarrow(t *testing.T) {
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		data, err := os.ReadFile(name)
		for i, line := range strings.Split(string(data), "\n") {
			if n := utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    ")); n > 140 {
				t.Errorf("%s:%d: %d columns", name, i+1, n)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
