package table

import (
	"cmp"
	"reflect"
	"strconv"
	"strings"
)

// field is a declared field; group and list fields hold fields of their own.
type field struct {
	key, csv, head, join, doc, note, title, zero, yes, constant string

	unit     *unit
	shown    bool // without --wide
	optional bool // its zero value is left out
	zeroed   bool // its zero value is said in words
	id       bool
	lines    bool // a list whose rows are CSV's lines
	most     int
	digits   int // after the point, for programs; −1: all
	index    []int
	typ      reflect.Type // without pointer
	nullable bool
}

// hidden fields are for people only.
func (f *field) hidden() bool { return f.key == "-" && !f.isExtra() }

// isGroup tells structs, and isList lists of them, from plain values.
func (f *field) isGroup() bool { return f.typ.Kind() == reflect.Struct }
func (f *field) isList() bool {
	return f.typ.Kind() == reflect.Slice && f.typ.Elem().Kind() == reflect.Struct && f.typ != extraType
}
func (f *field) isExtra() bool { return f.typ == extraType }

// isMark tells what stands behind the value before it, without a heading, where it is true.
func (f *field) isMark() bool { return f.yes != "" && f.shown && f.head == "" }

// fieldsOf are the fields of a struct in their order; embedded ones in place.
func fieldsOf(t reflect.Type) []field {
	var out []field
	for i := range t.NumField() {
		s := t.Field(i)
		if s.Anonymous {
			for _, f := range fieldsOf(s.Type) {
				f.index = append([]int{i}, f.index...)
				out = append(out, f)
			}
			continue
		}
		if f, ok := declared(s); ok {
			out = append(out, f)
		}
	}
	return out
}

// declared reads the tags of a field; false where it is no part of the document.
func declared(s reflect.StructField) (field, bool) {
	key, options, _ := strings.Cut(s.Tag.Get("json"), ",")
	f := field{key: key, index: s.Index, typ: s.Type, optional: strings.Contains(options, "omitempty"), join: s.Tag.Get("join"),
		doc: s.Tag.Get("doc"), note: s.Tag.Get("note"), title: s.Tag.Get("title"), zero: s.Tag.Get("zero"), yes: s.Tag.Get("yes"),
		constant: s.Tag.Get("const")}
	_, seen := s.Tag.Lookup("text")
	if !s.IsExported() || key == "" || key == "-" && s.Type != extraType && !seen {
		return f, false
	}
	if f.typ.Kind() == reflect.Pointer {
		f.typ, f.nullable = f.typ.Elem(), true
	}
	f.head, f.shown = s.Tag.Lookup("text")
	_, f.zeroed = s.Tag.Lookup("zero")
	_, f.lines = s.Tag.Lookup("csv")
	_, f.id = s.Tag.Lookup("id")
	f.csv = s.Tag.Get("csv")
	f.most, _ = strconv.Atoi(s.Tag.Get("most"))
	if f.digits = -1; s.Tag.Get("digits") != "" {
		f.digits, _ = strconv.Atoi(s.Tag.Get("digits"))
	}
	f.unit = unitOf(key, s.Tag.Get("as"), f.typ)
	if !f.shown {
		f.head = cmp.Or(s.Tag.Get("wide"), f.unit.plain(key))
	}
	return f, true
}

// column is a plain field of a row, with the fields that lead to it.
type column struct {
	field
	path string // keys of the groups that it is in
	name string // of an extra value
}

// columnsOf are the plain fields of a row's struct, those of groups in it included; like
// says which extra columns there are.
func columnsOf(t reflect.Type, like reflect.Value) []column {
	var out []column
	for _, f := range fieldsOf(t) {
		switch {
		case f.isExtra():
			if like.IsValid() {
				for _, m := range at(like, f.index).Interface().(Extra) {
					out = append(out, column{name: m.Key,
						field: field{key: m.Key, head: m.Key, index: f.index, typ: extraType, digits: -1}})
				}
			}
		case f.isGroup():
			for _, c := range columnsOf(f.typ, reflect.Value{}) {
				c.index, c.path = append(append([]int{}, f.index...), c.index...), f.key+"_"+c.path
				out = append(out, c)
			}
		case !f.isList():
			out = append(out, column{field: f})
		}
	}
	return out
}

// Keys are the keys of a row's struct.
func Keys(row any) []string {
	var out []string
	for _, c := range columnsOf(reflect.TypeOf(row), reflect.Value{}) {
		if !c.hidden() {
			out = append(out, c.key)
		}
	}
	return out
}

// csvName is the column's name in CSV.
func (c *column) csvName() string { return cmp.Or(c.csv, c.path+c.key) }

// at is a field's value behind pointers; invalid where one of them is nil.
func at(v reflect.Value, index []int) reflect.Value {
	for _, i := range index {
		if v = behind(v); !v.IsValid() {
			return v
		}
		v = v.Field(i)
	}
	return behind(v)
}

func behind(v reflect.Value) reflect.Value {
	if v.IsValid() && v.Kind() == reflect.Pointer {
		return v.Elem()
	}
	return v
}

// value of a column in a row; invalid where there is none.
func (c *column) value(row reflect.Value) reflect.Value {
	v := at(row, c.index)
	if c.name != "" && v.IsValid() {
		for _, m := range v.Interface().(Extra) {
			if m.Key == c.name {
				return reflect.ValueOf(m.Value)
			}
		}
		return reflect.Value{}
	}
	if v.IsValid() && (c.optional || c.zeroed) && !c.nullable && v.IsZero() {
		return reflect.Value{}
	}
	return v
}
