package table

import (
	"encoding/csv"
	"io"
	"reflect"
	"slices"
	"strings"
)

// csvTable collects lines over columns that are known by name.
type csvTable struct {
	names []string
	lines []map[string]string
}

// set gives a line a value; the first one decides the column's place.
func (t *csvTable) set(line map[string]string, name, value string) {
	if !slices.Contains(t.names, name) {
		t.names = append(t.names, name)
	}
	if value != "" {
		line[name] = value
	}
}

// writeCSV writes the rows of the list that csv marks. Of several that are marked, with a
// kind each, all; of those without a kind the last one that is not empty. The document's own
// notes stand in the first line.
func writeCSV(w io.Writer, doc any) error {
	d := behind(reflect.ValueOf(doc))
	t := &csvTable{}
	if l, ok := doc.(Lining); ok {
		t.rows(reflect.ValueOf(l.Lines()), nil, "")
	} else {
		t.document(d)
	}
	t.notes(d)
	out := csv.NewWriter(w)
	out.Write(t.names)
	for _, l := range t.lines {
		cells := make([]string, len(t.names))
		for i, n := range t.names {
			cells[i] = l[n]
		}
		out.Write(cells)
	}
	out.Flush()
	return out.Error()
}

// document writes the marked lists.
func (t *csvTable) document(d reflect.Value) {
	var facts []cell
	for _, c := range columnsOf(d.Type(), reflect.Value{}) {
		switch {
		case c.csv == "" || c.path != "":
		case c.constant != "":
			facts = append(facts, cell{"kind", c.csv})
		default:
			facts = append(facts, cell{c.csv, c.exact(c.value(d))})
		}
	}
	var main *field
	var rows reflect.Value
	var more []reflect.Value
	kinds := false
	for _, f := range fieldsOf(d.Type()) {
		list := markedList(at(d, f.index), &f)
		switch {
		case !list.IsValid():
		case f.csv == "+":
			more = append(more, list)
		case f.csv != "":
			if !kinds {
				t.line(facts)
			}
			kinds = true
			t.rows(list, nil, f.csv)
		case main == nil || list.Len() > 0:
			main, rows = &f, list
		}
	}
	if main != nil {
		t.rows(rows, facts, "")
	}
	for _, list := range more {
		if list.Len() > 0 {
			t.rows(list, facts, "")
		}
	}
}

// markedList is the list that a field is or, where it is a group, has; invalid without one.
func markedList(v reflect.Value, f *field) reflect.Value {
	if v.IsValid() && f.isGroup() {
		for _, g := range fieldsOf(f.typ) {
			if g.isList() && g.lines {
				return at(v, g.index)
			}
		}
	}
	if f.isList() && f.lines {
		return v
	}
	return reflect.Value{}
}

// line appends a line.
func (t *csvTable) line(cells []cell) {
	line := map[string]string{}
	for _, c := range cells {
		t.set(line, c.name, c.text)
	}
	t.lines = append(t.lines, line)
}

type cell struct{ name, text string }

// rows writes a list's rows, or those of the marked lists inside them behind their row's.
func (t *csvTable) rows(list reflect.Value, before []cell, kind string) {
	elem := list.Type().Elem()
	inside := slices.IndexFunc(fieldsOf(elem), func(f field) bool { return f.isList() && f.lines })
	var like reflect.Value
	if list.Len() > 0 {
		like = list.Index(0)
	}
	columns := slices.DeleteFunc(columnsOf(elem, like), func(c column) bool { return c.hidden() })
	if list.Len() == 0 { // the header alone
		for _, c := range before {
			t.set(nil, c.name, "")
		}
		for i := range columns {
			t.set(nil, columns[i].csvName(), "")
		}
	}
	for i := range list.Len() {
		row := list.Index(i)
		cells := before[:len(before):len(before)]
		if kind != "" {
			cells = append(cells, cell{"kind", kind})
		}
		for k := range columns {
			cells = append(cells, cell{columns[k].csvName(), columns[k].exact(columns[k].value(row))})
		}
		if inside >= 0 {
			f := fieldsOf(elem)[inside]
			if inner := at(row, f.index); inner.Len() > 0 {
				t.rows(inner, cells, kind)
				continue
			}
		}
		t.line(cells)
	}
}

// notes puts the document's own notes into the first line.
func (t *csvTable) notes(d reflect.Value) {
	for _, f := range fieldsOf(d.Type()) {
		if f.note == "" || f.hidden() {
			continue
		}
		c := &column{field: f}
		text := c.exact(c.value(d))
		if len(t.lines) == 0 && text != "" {
			t.lines = append(t.lines, map[string]string{})
		}
		line := map[string]string{}
		if len(t.lines) > 0 {
			line = t.lines[0]
		}
		t.set(line, f.key, strings.Join(filled(line[f.key], text), "; "))
	}
}
