package nccltuner

import (
	_ "embed"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"text/template"

	"railyard/interop/foreign"
)

//go:embed plugin.c.tmpl
var pluginForm string

var pluginLayout = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("plugin").Funcs(template.FuncMap{"line": func(text string) string {
		return strings.TrimRight(foreign.OneLine(text), `\ `) // a backslash would go on in the next line
	}}).Parse(pluginForm))
})

// functions are the collectives in the order of their numbers (plugins/tuner/example/nccl/tuner.h, 2.24 to 2.30).
var functions = []string{"broadcast", "reduce", "allgather", "reducescatter", "allreduce"}

// pluginRow is a row as the source has it.
type pluginRow struct {
	Row
	Name                            string
	Collective, Algorithm, Protocol int
	Why                             []string
}

// WritePlugin writes a tuner plugin in C that has the rows compiled in. NCCL's example reads its table with strtok, whose place in a
// text all threads of a process share, while NCCL calls the plugins of a process's communicators from several threads at once
// (src/init.cc:1641, src/group.cc:484, outside of the lock of src/plugin/tuner.cc:39): ranks of one process may then hold different
// tables, choose differently and wait for one another for ever. This one reads nothing. Rows that leave a call to NCCL are left out,
// and so are their channels: NCCL takes fewer for small sizes.
func WritePlugin(w io.Writer, file string, comments []string, rows []Row) error {
	var out []pluginRow
	for i, r := range rows {
		if r.Own {
			continue
		}
		if err := r.names(); err != nil {
			return err
		}
		out = append(out, pluginRow{Row: r, Name: names[r.Kind] + " " + r.Algorithm + "/" + r.Protocol,
			Collective: slices.Index(functions, names[r.Kind]), Algorithm: slices.Index(foreign.NCCLAlgorithms, r.Algorithm),
			Protocol: slices.Index(foreign.NCCLProtocols, r.Protocol), Why: rows[i].why()})
	}
	if len(out) == 0 {
		return errors.New("nothing is faster than NCCL's own choice: no plugin is needed")
	}
	return pluginLayout().Execute(w, map[string]any{"Comments": comments, "Rows": out, "File": file})
}
