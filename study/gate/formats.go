package gate

import (
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"text/template"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/units"
	"railyard/report"
)

// Format is a health check that gates are written for: which sizes it measures, and what it is told.
type Format struct {
	Name        string
	collectives []collective.Kind
	sizes       func(nodes int, fabric string) []units.Bytes
	together    bool // all sizes have to pass one threshold
}

// Formats are all of them. Sources, read 2026-11-23: NVIDIA/aicr validators/performance/nccl_all_reduce_bw_constraint.go (the last row
// of 1 KiB to 16 GiB, over TCP to 4 GiB, passes from 0.9 of the value); NVIDIA/NVSentinel docs/configuration/preflight.md;
// NVIDIA/cluster-readiness-engine docs/designs/021-performance-threshold-enforcement.md (the largest of all sizes' bandwidths);
// NVIDIA/nccl plugins/profiler/inspector/inspector_prom.cc (buckets of message sizes).
var Formats = []Format{
	{Name: "aicr", collectives: []collective.Kind{collective.AllReduce}, sizes: func(_ int, fabric string) []units.Bytes {
		if fabric == cost.Sockets {
			return []units.Bytes{4 * units.GiB}
		}
		return []units.Bytes{16 * units.GiB}
	}},
	{Name: "nvsentinel", collectives: []collective.Kind{collective.AllReduce}, together: true,
		sizes: func(nodes int, _ string) []units.Bytes {
			if nodes == 1 {
				return []units.Bytes{256 * units.MiB}
			}
			return []units.Bytes{4 * units.GiB, 8 * units.GiB}
		}},
	{Name: "cre", collectives: []collective.Kind{collective.AllReduce, collective.AllGather, collective.AllToAll},
		sizes: func(int, string) []units.Bytes { return []units.Bytes{8 * units.GiB} }},
	{Name: "prometheus", collectives: []collective.Kind{collective.AllReduce, collective.Broadcast, collective.Reduce},
		sizes: func(int, string) []units.Bytes { return []units.Bytes{64 * units.MiB, units.GiB, 4 * units.GiB} }},
	{Name: "table", collectives: collective.All(),
		sizes: func(int, string) []units.Bytes { return []units.Bytes{64 * units.MiB, units.GiB, 4 * units.GiB} }},
}

// FormatNamed is the format with a name; false where there is none.
func FormatNamed(name string) (Format, bool) {
	i := slices.IndexFunc(Formats, func(f Format) bool { return f.Name == name })
	if i < 0 {
		return Format{}, false
	}
	return Formats[i], true
}

// Takes is an error where a format has no check of a collective.
func (f Format) Takes(kind collective.Kind) error {
	if slices.Contains(f.collectives, kind) {
		return nil
	}
	var names []string
	for _, k := range f.collectives {
		names = append(names, k.String())
	}
	return fmt.Errorf("%s checks no %v: take %s, or --gate table", f.Name, kind, strings.Join(names, " or "))
}

// Sizes are those that the check measures on so many nodes.
func (f Format) Sizes(nodes int, fabric string) []units.Bytes { return f.sizes(nodes, fabric) }

// FalseAlarms is the share of each size's runs that may fail so that no larger share of checks does.
func (f Format) FalseAlarms(share float64, sizes int) float64 {
	if f.together {
		return share / float64(sizes) // Bonferroni 1936
	}
	return share
}

//go:embed formats
var files embed.FS

var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		// least is the row with the least floor, which one threshold for all sizes has to be; largest that of the largest size.
		"least":    func(rows []report.GateRow) report.GateRow { return slices.MinFunc(rows, byFloor) },
		"largest":  func(rows []report.GateRow) report.GateRow { return rows[len(rows)-1] },
		"most":     func(rows []report.GateRow) report.GateRow { return slices.MaxFunc(rows, byFloor) },
		"bucket":   bucket,
		"size":     func(bytes int64) string { return units.Bytes(bytes).String() },
		"short":    sizeText,
		"mib":      func(bytes int64) int64 { return bytes / int64(units.MiB) },
		"name":     func(words string) string { return strings.ReplaceAll(words, "_", "-") },
		"camel":    camel,
		"share":    func(of, x float64) float64 { return x / of },
		"quote":    func(text string) string { return fmt.Sprintf("%q", text) },
		"comment":  func(text string) string { return strings.ReplaceAll(text, "\n", " ") },
		"together": func(d *report.GateDocument) float64 { return d.FalseAlarms * float64(len(d.Rows)) },
	}).ParseFS(files, "formats/*.tmpl"))
})

// Write writes a gate as a check is told it.
func (f Format) Write(w io.Writer, d *report.GateDocument) error {
	return templates().ExecuteTemplate(w, f.Name+".yaml.tmpl", d)
}

func byFloor(a, b report.GateRow) int {
	switch {
	case a.Floor < b.Floor:
		return -1
	case a.Floor > b.Floor:
		return 1
	}
	return 0
}

// bucket is the range of sizes that NCCL's inspector counts a message in: whole units of 1,024, as "4-5GB".
func bucket(bytes int64) string {
	unit, names := bytes, []string{"B", "KB", "MB", "GB", "TB"}
	i := 0
	for ; unit >= 1024 && i < len(names)-1; i++ {
		unit /= 1024
	}
	return fmt.Sprintf("%d-%d%s", unit, unit+1, names[i])
}

// sizeText is a size as 4G.
func sizeText(bytes int64) string {
	for i, unit := range []int64{int64(units.GiB), int64(units.MiB), int64(units.KiB)} {
		if bytes%unit == 0 {
			return fmt.Sprintf("%d%c", bytes/unit, "GMK"[i])
		}
	}
	return fmt.Sprint(bytes)
}

// camel is a collective as NCCL writes it: AllReduce.
func camel(name string) string {
	var out strings.Builder
	for _, word := range strings.Split(name, "_") {
		out.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return out.String()
}
