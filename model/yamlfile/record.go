package yamlfile

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"

	"gopkg.in/yaml.v3"

	"railyard/model/units"
)

// Read reads a file of the format, its schema and the keys of a record; all mistakes are reported at once.
func (f Format) Read(file string, data []byte, r Record) error {
	d := &Diagnostics{File: file}
	if root := f.Parse(d, data); root != nil {
		o := NewFile(d, root, f.Noun)
		f.CheckSchema(o)
		r.Read(o)
	}
	return d.Err()
}

// CheckSchema reports files of another format.
func (f Format) CheckSchema(o *Object) {
	if s := o.Text("schema", true); s != "" && s != f.Schema {
		o.AddAt(o.Where("schema"), "schema %q is not known to this version: it reads %s", s, f.Schema)
	}
}

// Record declares a mapping's keys once, for reading and for writing, in the order of the
// file.
type Record []Field

// Field is a key: how its value is read, and how it is written.
type Field struct {
	Key  string
	read func(o *Object, key string)
	node func() *yaml.Node // nil: the key is left out
}

// Read reads a mapping; keys that no field has are mistakes.
func (r Record) Read(o *Object) {
	for _, f := range r {
		f.read(o, f.Key)
	}
	o.Done()
}

// Node is the record as written; fields at their zero values are left out.
func (r Record) Node() *yaml.Node {
	out := &yaml.Node{Kind: yaml.MappingNode}
	for _, f := range r {
		if n := f.node(); n != nil {
			out.Content = append(out.Content, scalar(f.Key), n)
		}
	}
	return out
}

// Encode writes a record as a file; the same record gives the same bytes.
func (r Record) Encode(w io.Writer) error {
	enc := yaml.NewEncoder(w)
	enc.SetIndent(2)
	if err := enc.Encode(r.Node()); err != nil {
		return err
	}
	return enc.Close()
}

func scalar(text string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(text)
	return n
}

func plainScalar(text string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: text} }

// Needed makes a field's absence a mistake.
func (f Field) Needed() Field {
	return f.Checked(func(o *Object) {
		if !o.Has(f.Key) {
			o.AddAt(At(o.node), "%s: %q is missing", o.What, f.Key)
		}
	})
}

// Checked runs a check when the field has been read.
func (f Field) Checked(check func(o *Object)) Field {
	read := f.read
	f.read = func(o *Object, key string) {
		read(o, key)
		check(o)
	}
	return f
}

// Text is a field of any text.
func Text(key string, v *string) Field {
	return Field{key, func(o *Object, key string) { *v = o.Text(key, false) }, func() *yaml.Node {
		if *v == "" {
			return nil
		}
		return scalar(*v)
	}}
}

// Named is a field of text that must not be empty.
func Named(key string, v *string) Field {
	f := Text(key, v)
	f.read = func(o *Object, key string) { *v = o.Text(key, true) }
	return f
}

// Date is a field that says YYYY-MM-DD.
func Date(key string, v *string) Field {
	f := Text(key, v)
	f.read = func(o *Object, key string) { *v = o.Date(key) }
	return f
}

// Bool is a field of true or false.
func Bool(key string, v *bool) Field {
	return Field{key, func(o *Object, key string) { *v = o.Boolean(key, false) }, func() *yaml.Node {
		if !*v {
			return nil
		}
		return plainScalar("true")
	}}
}

// Int is a field of a whole number from lo to hi, def where it is left out.
func Int(key string, v *int, def, lo, hi int) Field {
	return Field{key, func(o *Object, key string) { *v = o.Integer(key, def, lo, hi) }, func() *yaml.Node {
		if *v == def {
			return nil
		}
		return plainScalar(strconv.Itoa(*v))
	}}
}

// Float is a field of a number from lo to hi, 0 where it is left out.
func Float(key string, v *float64, lo, hi float64) Field {
	return Field{key, func(o *Object, key string) { *v = o.NumberIn(key, lo, hi) }, func() *yaml.Node {
		if *v == 0 {
			return nil
		}
		return plainScalar(strconv.FormatFloat(*v, 'g', -1, 64))
	}}
}

// Bytes is a field of a size, 0 where it is left out.
func Bytes(key string, v *units.Bytes) Field {
	return measure(key, v, units.ParseBytes, units.Bytes.String)
}

// Duration is a field of a time, 0 where it is left out.
func Duration(key string, v *units.Time) Field {
	return measure(key, v, units.ParseTime, func(t units.Time) string { return fmt.Sprintf("%gns", float64(t)/1e3) })
}

// Rate is a field of bytes per second, 0 where it is left out.
func Rate(key string, v *units.Rate) Field {
	return measure(key, v, units.ParseRate, func(r units.Rate) string { return fmt.Sprintf("%gMB/s", float64(r)/1e6) })
}

// measure is a field of a number with a unit; exact prints it so that it comes back.
func measure[T ~int64](key string, v *T, parse func(string) (T, error), exact func(T) string) Field {
	return Field{key, func(o *Object, key string) {
		text := o.Text(key, false)
		if text == "" {
			return
		}
		x, err := parse(text)
		if err != nil {
			o.AddAt(o.Where(key), "%s: %s: %v", o.What, key, err)
		} else if x < 0 {
			o.AddAt(o.Where(key), "%s: %s: %s must not be negative", o.What, key, text)
		}
		*v = max(x, 0)
	}, func() *yaml.Node {
		if *v == 0 {
			return nil
		}
		return plainScalar(exact(*v))
	}}
}

// Style is how a list is written.
type Style int

// The styles.
const (
	Block Style = iota
	Lines       // an element a line
	Line        // all on one
)

// List is a field of a list of records. check, which may be nil, adds the mistakes of an element that
// has been read.
func List[T any](key string, v *[]T, style Style, record func(*T) Record, check func(o *Object, before []T, x *T)) Field {
	return Field{key, func(o *Object, key string) {
		*v = nil
		o.List(key, func(i int, n *yaml.Node) {
			var x T
			item := NewObject(o.Diagnostics, n, fmt.Sprintf("%s%s[%d]", o.path, key, i))
			record(&x).Read(item)
			if check != nil {
				check(item, *v, &x)
			}
			*v = append(*v, x)
		})
	}, func() *yaml.Node {
		if len(*v) == 0 {
			return nil
		}
		out := &yaml.Node{Kind: yaml.SequenceNode}
		if style == Line {
			out.Style = yaml.FlowStyle
		}
		for i := range *v {
			n := record(&(*v)[i]).Node()
			if style == Lines {
				n.Style = yaml.FlowStyle
			}
			out.Content = append(out.Content, n)
		}
		return out
	}}
}

// Part is a field of a record of its own; v is nil where it is left out.
func Part[T any](key string, v **T, record func(*T) Record, check func(o *Object, x *T)) Field {
	return Field{key, func(o *Object, key string) {
		n := o.Value(key)
		if n == nil {
			*v = nil
			return
		}
		*v = new(T)
		part := NewObject(o.Diagnostics, n, o.path+key)
		record(*v).Read(part)
		if check != nil {
			check(part, *v)
		}
	}, func() *yaml.Node {
		if *v == nil {
			return nil
		}
		return record(*v).Node()
	}}
}

// Sub is a field of a record that must be there.
func Sub(key string, r Record) Field {
	return Field{key, func(o *Object, key string) {
		n := o.Value(key)
		if n == nil {
			n = &yaml.Node{Kind: yaml.MappingNode, Line: o.node.Line, Column: o.node.Column}
		}
		r.Read(NewObject(o.Diagnostics, n, o.path+key))
	}, r.Node}
}

// Map is a field of records by name, written in the order of their names.
func Map[M ~map[string]T, T any](key string, v *M, record func(*T) Record) Field {
	return Field{key, func(o *Object, key string) {
		*v = nil
		o.Mapping(key, func(name string, n *yaml.Node) {
			var x T
			record(&x).Read(NewObject(o.Diagnostics, n, o.path+key+"."+name))
			if *v == nil {
				*v = M{}
			}
			(*v)[name] = x
		})
	}, func() *yaml.Node {
		if len(*v) == 0 {
			return nil
		}
		out := &yaml.Node{Kind: yaml.MappingNode}
		for _, name := range slices.Sorted(maps.Keys(*v)) {
			x := (*v)[name]
			out.Content = append(out.Content, scalar(name), record(&x).Node())
		}
		return out
	}}
}

// NumberIn reads a number from lo to hi, 0 where it is absent.
func (o *Object) NumberIn(key string, lo, hi float64) float64 {
	n := o.Value(key)
	if n == nil {
		return 0
	}
	v, err := strconv.ParseFloat(n.Value, 64)
	if n.Kind != yaml.ScalarNode || err != nil || math.IsNaN(v) || v < lo || v > hi {
		o.Add(n.Line, n.Column, "%s: %s %s must be a number from %g to %g", o.What, key, n.Value, lo, hi)
		return 0
	}
	return v
}
