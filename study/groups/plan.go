package groups

import (
	"embed"
	"fmt"
	"io"
	"strings"
	"sync"
	"text/template"

	"railyard/model/units"
	"railyard/report"
)

// Engines are what next tests are written for.
var Engines = []string{"slurm", "kubernetes"}

//go:embed plans
var plans embed.FS

var planTemplates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"list": func(hosts []string) string { return strings.Join(hosts, ",") }, // unless Write is told another
		"hcas": hcas,
		"size": func(bytes int64) string { return fmt.Sprint(bytes) },
		"perf": func(collective string) string {
			return strings.ReplaceAll(collective, "all_to_all", "alltoall") + "_perf"
		},
		"quote": func(text string) string { return fmt.Sprintf("%q", text) },
	}).ParseFS(plans, "plans/*.tmpl"))
})

// hcas are adapters as NCCL_IB_HCA has them.
func hcas(adapters string) (string, error) {
	list, err := units.ParseRanges(adapters, 1<<10)
	var names []string
	for _, a := range list {
		names = append(names, fmt.Sprintf("mlx5_%d", a))
	}
	return "=" + strings.Join(names, ","), err
}

// Write writes the tests that are to be run next as jobs; list is a list of hosts as the engine has them on a line.
func Write(w io.Writer, engine string, d *report.GroupsDocument, list func(hosts []string) string) error {
	t, err := planTemplates().Clone()
	if err != nil {
		return err
	}
	return t.Funcs(template.FuncMap{"list": list}).ExecuteTemplate(w, engine+".tmpl", d)
}
