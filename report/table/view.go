package table

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
)

// View is what people see of a document, before it becomes text, Markdown or HTML.
type View struct {
	Answer []string // sentences above
	Tables []Shown
	Below  []string // warnings, notes, footers
}

// Shown is a table of texts; columns of numbers stand to the right.
type Shown struct {
	Title string
	Heads []string
	Right []bool
	Rows  [][]string
	Left  int  // rows that are left out
	facts bool // of a name and a value in a row
}

// viewer collects a view.
type viewer struct {
	View
	wide  bool
	shows func(key string) (shown, decided bool)
	notes map[string]map[string]int // by kind of note and text: how often
	kinds []string
}

// NewView is the view of a document, whole or of its default columns.
func NewView(doc any, wide bool) *View {
	v := &viewer{wide: wide, notes: map[string]map[string]int{}, shows: func(string) (bool, bool) { return false, false }}
	if s, ok := doc.(Showing); ok {
		v.shows = func(key string) (bool, bool) { return s.Shows(key), true }
	}
	v.Answer = said(doc, "")
	if a, ok := doc.(Answering); ok {
		v.Answer = a.Answer()
	}
	d := behind(reflect.ValueOf(doc))
	v.facts("", d)
	v.lists(d, nil)
	for _, kind := range v.kinds {
		for _, text := range slices.Sorted(maps.Keys(v.notes[kind])) {
			line := kind + ": " + text
			if n := v.notes[kind][text]; n > 1 {
				line = fmt.Sprintf("%s (%d×): %s", kind, n, text)
			}
			v.Below = append(v.Below, line)
		}
	}
	v.Below = append(v.Below, said(doc, " below")...)
	if n, ok := doc.(Noting); ok {
		v.Below = append(v.Below, n.Footer()...)
	}
	return &v.View
}

// note counts the texts of a field of notes.
func (v *viewer) note(f *field, texts reflect.Value) {
	for i := range texts.Len() {
		if v.notes[f.note] == nil {
			v.notes[f.note] = map[string]int{}
			v.kinds = append(v.kinds, f.note)
		}
		v.notes[f.note][texts.Index(i).String()]++
	}
}

// facts shows the plain values of a struct as a table of two columns, and each group in it.
func (v *viewer) facts(title string, d reflect.Value) {
	s := Shown{Title: title, Heads: []string{"", ""}, Right: []bool{false, false}, facts: true}
	at0 := len(v.Tables)
	for _, f := range fieldsOf(d.Type()) {
		x := at(d, f.index)
		switch {
		case !x.IsValid() || f.isList() || f.isExtra():
		case f.note != "":
			v.note(&f, x)
		case f.isGroup():
			if shown, decided := v.shows(f.key); v.wide || shown || !decided {
				v.facts(f.title, x)
			}
		case f.constant == "" && (f.shown || v.wide):
			c := &column{field: f}
			text := c.text(c.value(d))
			if text == "" {
				continue
			}
			if n := len(s.Rows); n > 0 && (f.join != "" || f.isMark()) {
				s.Rows[n-1][1] = tie(s.Rows[n-1][1], cmp.Or(f.join, " "), text)
				continue
			}
			s.Rows = append(s.Rows, []string{c.heading(), text})
		}
	}
	if len(s.Rows) > 0 {
		v.Tables = slices.Insert(v.Tables, at0, s)
	}
}

// lists shows each list of a struct, and the lists in its rows, behind the columns id.
func (v *viewer) lists(d reflect.Value, outer []leading) {
	for _, f := range fieldsOf(d.Type()) {
		x := at(d, f.index)
		switch {
		case !x.IsValid():
		case f.isGroup():
			v.lists(x, outer)
		case f.isList():
			v.list(&f, []reflect.Value{x}, [][]leading{outer})
		}
	}
}

// leading is a cell that rows inside a row repeat.
type leading struct {
	head, text string
	right      bool
}

// list shows the rows of one or more lists of a kind as one table.
func (v *viewer) list(f *field, lists []reflect.Value, before [][]leading) {
	var all, rows []reflect.Value
	var allIDs, ids [][]leading
	each, every := f.quota(len(lists), v.wide)
	for i, l := range lists {
		n := min(l.Len(), each)
		if i%every > 0 {
			n = 0
		}
		for k := range l.Len() {
			if h, ok := l.Index(k).Interface().(interface{ Hidden() bool }); ok && !v.wide && h.Hidden() {
				continue
			}
			all, allIDs = append(all, l.Index(k)), append(allIDs, before[i])
			if k < n {
				rows, ids = append(rows, l.Index(k)), append(ids, before[i])
			}
		}
	}
	if len(all) == 0 {
		return
	}
	if columns := v.visible(f, all); len(columns) > 0 {
		s := grid(columns, rows, ids)
		s.Title, s.Left = f.title, len(all)-len(rows)
		v.Tables = append(v.Tables, s)
	}
	v.inner(all, allIDs)
}

// quota is how many rows of each list are shown, and of every how many-th list: at least two, the first of which is what stands above.
func (f *field) quota(lists int, wide bool) (each, every int) {
	if f.most == 0 || wide {
		return math.MaxInt, 1
	}
	each = max(f.most/lists, min(f.most, 2))
	return each, (lists*each + f.most - 1) / f.most
}

// visible are the columns of a list that are shown and that some row fills.
func (v *viewer) visible(f *field, rows []reflect.Value) []column {
	all := columnsOf(rows[0].Type(), rows[0])
	shown, decided := v.shows(f.key)
	if !decided {
		shown = slices.ContainsFunc(all, func(c column) bool { return c.shown })
	}
	var out []column
	tied := false // to a column that is shown
	for _, c := range all {
		if c.join != "" && !tied {
			continue
		}
		if tied = false; c.note != "" || !v.wide && (!c.shown || !shown) {
			continue
		}
		tied = c.join != "" || slices.ContainsFunc(rows, func(r reflect.Value) bool {
			x := c.value(r)
			return x.IsValid() && c.text(x) != "" || c.zero != "" && !c.optional
		})
		if tied {
			out = append(out, c)
		}
	}
	return out
}

// grid writes the cells.
func grid(columns []column, rows []reflect.Value, ids [][]leading) Shown {
	var s Shown
	for _, l := range ids[0] {
		s.Heads, s.Right = append(s.Heads, l.head), append(s.Right, l.right)
	}
	first := true
	for i := range columns {
		if c := &columns[i]; c.join == "" || first {
			s.Heads, s.Right = append(s.Heads, c.heading()), append(s.Right, c.isNumeric())
		}
		first = false
	}
	for k, r := range rows {
		var line []string
		for _, l := range ids[k] {
			line = append(line, l.text)
		}
		for i := range columns {
			c := &columns[i]
			text := c.text(c.value(r))
			if c.join != "" && i > 0 {
				line[len(line)-1] = tie(line[len(line)-1], c.join, text)
				continue
			}
			if text == "" && !c.isMark() {
				text = none
			}
			line = append(line, text)
		}
		s.Rows = append(s.Rows, line)
	}
	return s
}

// inner shows lists inside rows, and counts rows' notes.
func (v *viewer) inner(rows []reflect.Value, ids [][]leading) {
	for _, f := range fieldsOf(rows[0].Type()) {
		var lists []reflect.Value
		var before [][]leading
		for i, r := range rows {
			x := at(r, f.index)
			switch {
			case !x.IsValid():
			case f.note != "":
				v.note(&f, x)
			case f.isList() && x.Len() > 0:
				lists, before = append(lists, x), append(before, append(ids[i][:len(ids[i]):len(ids[i])], identity(r)...))
			}
		}
		if len(lists) > 0 {
			v.list(&f, lists, before)
		}
	}
}

// identity are the cells by which the rows inside a row name it.
func identity(row reflect.Value) []leading {
	var out []leading
	for _, c := range columnsOf(row.Type(), reflect.Value{}) {
		if c.id {
			out = append(out, leading{c.heading(), c.text(c.value(row)), c.isNumeric()})
		}
	}
	return out
}

// Of is the default table of a list, a slice of structs.
func Of(list any) *Shown {
	v := &viewer{shows: func(string) (bool, bool) { return false, false }, notes: map[string]map[string]int{}}
	x := reflect.ValueOf(list)
	v.list(&field{typ: x.Type()}, []reflect.Value{x}, [][]leading{nil})
	if len(v.Tables) == 0 {
		return &Shown{}
	}
	return &v.Tables[0]
}
