package ncclgraph

import (
	"bufio"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"sync"
	"text/template"
)

//go:embed graphs.xml.tmpl
var form string

var layout = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("graphs").Funcs(template.FuncMap{"hex": func(n int64) string { return fmt.Sprintf("0x%x", n) }}).
		Parse(form))
})

// Write writes a valid file as NCCL dumps it: devices in hexadecimal, ranks in decimal.
func (g *Graphs) Write(w io.Writer) error {
	b := bufio.NewWriter(w)
	return errors.Join(layout().Execute(b, g), b.Flush())
}
