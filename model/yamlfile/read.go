package yamlfile

import (
	"cmp"
	"encoding"
	"fmt"
	"math"
	"reflect"
	"strconv"

	"gopkg.in/yaml.v3"

	"railyard/model/units"
)

// Read reads a file of the format into a struct; all mistakes are reported at once.
func (f Format) Read(file string, data []byte, into any) error {
	d := &Diagnostics{File: file}
	if root := f.Parse(d, data); root != nil {
		f.Decode(d, root, into)
	}
	return d.Err()
}

// Decode is Read of a file that is parsed already.
func (f Format) Decode(d *Diagnostics, root *yaml.Node, into any) {
	o := NewFile(d, root, f.Noun)
	f.CheckSchema(o)
	o.Read(into)
}

// CheckSchema reports files of another format.
func (f Format) CheckSchema(o *Object) {
	if s := o.Text("schema", true); s != "" && s != f.Schema {
		o.AddAt(o.Where("schema"), "schema %q is not known to this version: it reads %s", s, f.Schema)
	}
}

// Before are the elements of a list before the one that an object is.
func Before[T any](o *Object) []T {
	before, _ := o.before.([]T)
	return before
}

// Read reads a mapping into a struct; keys that no field has are mistakes.
func (o *Object) Read(into any) { o.read(reflect.ValueOf(into).Elem()) }

func (o *Object) read(v reflect.Value) {
	before := o.Total()
	place(v, Place{Pos: At(o.node)})
	for _, f := range fieldsOf(v) {
		o.field(&f)
	}
	check(o, v)
	place(v, Place{At(o.node), o.Total() > before})
	o.Done()
}

func check(o *Object, v reflect.Value) {
	if c, ok := v.Addr().Interface().(Checker); ok {
		c.Check(o)
	}
}

// field reads one key.
func (o *Object) field(f *field) {
	need := f.has("need")
	switch v := f.v.Addr().Interface().(type) {
	case *units.Bytes:
		*v = quantity(o, f.key, "size", units.ParseBytes, need, 1, limit(f, units.ParseBytes))
	case *units.Rate:
		*v = quantity(o, f.key, "rate", units.ParseRate, need, 1, limit(f, units.ParseRate))
	case *units.Time:
		*v = quantity(o, f.key, "duration", units.ParseTime, need, 0, limit(f, units.ParseTime))
	case encoding.TextUnmarshaler:
		if text := o.Text(f.key, need); text != "" {
			if err := v.UnmarshalText([]byte(text)); err != nil {
				o.AddAt(o.Where(f.key), "%s: %v", o.What, err)
			}
		}
	case *string:
		o.text(f, v)
	case *bool:
		*v = o.Boolean(f.key, f.options["default"] == "true")
	case *int:
		*v = o.Integer(f.key, int(o.number(f, "default", 0)), int(o.number(f, "lo", 0)), int(o.number(f, "hi", math.MaxInt32)))
		o.present(f)
	case *float64:
		if *v = o.number(f, "default", 0); f.has("lo") || o.bounds["lo"] != "" {
			*v = o.NumberIn(f.key, o.number(f, "lo", 0), o.number(f, "hi", math.MaxFloat64))
		} else {
			*v = o.Number(f.key, *v)
		}
		o.present(f)
	case *[]int:
		*v = o.Integers(f.key, int(o.number(f, "lo", 0)), int(o.number(f, "hi", math.MaxInt32)))
	case *[][]int:
		o.List(f.key, func(_ int, n *yaml.Node) {
			*v = append(*v, o.Diagnostics.Integers(n, o.What+": "+f.key, int(o.number(f, "lo", 0)), int(o.number(f, "hi", math.MaxInt32))))
		})
	default:
		o.records(f)
	}
	if o.Has(f.key) && f.v.Kind() == reflect.Map {
		check(o, f.v)
	}
}

func (o *Object) text(f *field, v *string) {
	switch _, date := f.options["date"]; {
	case date:
		*v = o.Date(f.key)
	default:
		*v = o.Text(f.key, f.has("need"))
	}
	if *v == "" {
		*v = f.options["default"]
	}
	if f.has("names") {
		o.What += " " + *v
	}
}

// number is an option's, or a bound of all that the record holds; what a tag says is no input.
func (o *Object) number(f *field, option string, otherwise float64) float64 {
	text := cmp.Or(f.options[option], o.bounds[option])
	if text == "" {
		return otherwise
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(err)
	}
	return x
}

func limit[T ~int64](f *field, parse func(string) (T, error)) T {
	if !f.has("most") {
		return 1 << 60
	}
	most, err := parse(f.options["most"])
	if err != nil {
		panic(err)
	}
	return most
}

// present reports the absence of a field that is needed.
func (o *Object) present(f *field) {
	if f.has("need") && !o.Has(f.key) && o.node.Kind == yaml.MappingNode {
		o.AddAt(At(o.node), "%s: %q is missing", o.What, f.key)
	}
}

// records reads a field that holds structs.
func (o *Object) records(f *field) {
	of := f.v.Type()
	switch {
	case of.Kind() == reflect.Struct:
		n := o.Value(f.key)
		if n == nil {
			n = &yaml.Node{Kind: yaml.MappingNode, Line: o.node.Line, Column: o.node.Column}
		}
		item := NewObject(o.Diagnostics, n, o.path+f.key)
		item.bounds = f.options
		item.read(f.v)
	case of.Kind() == reflect.Pointer:
		if n := o.Value(f.key); n != nil {
			f.v.Set(reflect.New(of.Elem()))
			NewObject(o.Diagnostics, n, o.path+f.key).read(f.v.Elem())
		}
	case of.Kind() == reflect.Map:
		o.Mapping(f.key, func(name string, n *yaml.Node) {
			if f.v.IsNil() {
				f.v.Set(reflect.MakeMap(of))
			}
			x := reflect.New(of.Elem()).Elem()
			o.element(f, n, "."+name, " "+name).read(x)
			f.v.SetMapIndex(reflect.ValueOf(name), x)
		})
	case f.has("key"):
		o.Mapping(f.key, func(name string, n *yaml.Node) {
			x := reflect.New(of.Elem()).Elem()
			keyField(x).SetString(name)
			o.element(f, n, "."+name, " "+name).read(x)
			f.v.Set(reflect.Append(f.v, x))
		})
	default:
		o.List(f.key, func(i int, n *yaml.Node) {
			x := reflect.New(of.Elem()).Elem()
			item := o.element(f, n, fmt.Sprintf("[%d]", i), "")
			item.before = f.v.Interface()
			item.read(x)
			f.v.Set(reflect.Append(f.v, x))
		})
	}
}

// element begins to read an element, called by its noun and name or by its path.
func (o *Object) element(f *field, n *yaml.Node, path, name string) *Object {
	what := o.path + f.key + path
	if noun := f.options["each"]; noun != "" {
		what = noun + name
	}
	item := NewObject(o.Diagnostics, n, what)
	item.path = o.path + f.key + path + "."
	return item
}

// Rate reads a rate of bytes per second, which must be positive and at most the given
// one: more is surely a slip.
func (o *Object) Rate(key string, most units.Rate) units.Rate {
	return quantity(o, key, "rate", units.ParseRate, true, 1, most)
}

// Duration reads a duration of at most the given one.
func (o *Object) Duration(key string, most units.Time) units.Time {
	return quantity(o, key, "duration", units.ParseTime, true, 0, most)
}

// Bytes reads a positive size.
func (o *Object) Bytes(key string) units.Bytes {
	return quantity(o, key, "size", units.ParseBytes, true, 1, 1<<60)
}

// quantity reads a number with a unit, at least lo where it is needed, and at most hi; noun names it.
func quantity[T interface {
	~int64
	String() string
}](o *Object, key, noun string, parse func(string) (T, error), need bool, lo, hi T) T {
	if !need {
		lo = 0
	}
	text := o.Text(key, need)
	if text == "" {
		return lo
	}
	v, err := parse(text)
	switch {
	case err != nil:
		o.AddAt(o.Where(key), "%s: %s: %v", o.What, key, err)
	case v < lo && lo > 0:
		o.AddAt(o.Where(key), "%s: %s is %s: a %s must be positive", o.What, key, text, noun)
	case v < lo:
		o.AddAt(o.Where(key), "%s: %s: %s must not be negative", o.What, key, text)
	case v > hi:
		o.AddAt(o.Where(key), "%s: %s is %s: more than %v is surely a slip", o.What, key, text, hi)
	}
	return min(max(v, lo), hi)
}

// Share reads a number above 0 and at most 1.
func (o *Object) Share(key string, def float64) float64 {
	v := o.Number(key, def)
	if v > 1 {
		o.AddAt(o.Where(key), "%s: %s must be above 0 and at most 1, not %g", o.What, key, v)
		return 1
	}
	return v
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
