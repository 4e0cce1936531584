package mscclxml

import (
	"bufio"
	_ "embed"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"sync"
	"text/template"
)

//go:embed algo.xml.tmpl
var form string

var layout = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("algo").Funcs(template.FuncMap{"escape": escape, "digit": digit}).Parse(form))
})

// Write writes the file as XML, attributes in msccl-tools' order.
func (f *File) Write(w io.Writer) error {
	b := bufio.NewWriter(w)
	return errors.Join(layout().Execute(b, f), b.Flush())
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // strings.Builder never fails
	return b.String()
}

func digit(b bool) int {
	if b {
		return 1
	}
	return 0
}
