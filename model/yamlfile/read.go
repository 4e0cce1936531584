package yamlfile

import (
	"cmp"
	"encoding"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

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

// Within is the record whose field an object is, or is in, with what was read of it so far; nil where it is none of that type.
func Within[T any](o *Object) *T {
	record, _ := o.within.(*T)
	return record
}

// Read reads a mapping into a struct; keys that no field has are mistakes.
func (o *Object) Read(into any) { o.read(reflect.ValueOf(into).Elem()) }

func (o *Object) read(v reflect.Value) {
	before := o.Total()
	o.into = v.Addr().Interface()
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

// Ignored is a value of which nothing is read, whatever it is.
type Ignored struct{}

// field reads one key.
func (o *Object) field(f *field) {
	need, before := f.has("need"), o.Total()
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
	case *Ignored:
		o.Value(f.key)
	case *bool:
		otherwise := f.options["default"] == "true"
		*v = parsed(o, f.key, o.Value(f.key), otherwise, "true or false", func(text string) (bool, bool) {
			return text == "true", text == "true" || text == "false"
		})
	case *int:
		*v = o.whole(f, o.Value(f.key), int(o.number(f, "default", 0)))
		o.present(f)
	case *float64:
		*v = o.float(f)
		o.present(f)
	case *[]int:
		*v = o.wholes(f, o.Value(f.key))
	case *[][]int:
		o.List(f.key, func(_ int, n *yaml.Node) { *v = append(*v, o.wholes(f, n)) })
	default:
		if f.v.Kind() == reflect.String {
			o.text(f)
		} else {
			o.records(f)
		}
	}
	if f.has("some") && empty(f.v) && o.Total() == before {
		must := "be given and positive"
		if k := f.v.Kind(); k == reflect.Slice || k == reflect.Map {
			must = "list at least one"
		}
		o.AddAt(o.Where(f.key), "%s: %s must %s", o.What, f.key, must)
	}
	o.compare(f)
}

func empty(v reflect.Value) bool { return v.IsZero() || v.Kind() == reflect.Map && v.Len() == 0 }

// compare holds a field of an element of a list against those before it.
func (o *Object) compare(f *field) {
	unique, ascends := f.has("unique"), f.has("ascends")
	if o.before == nil || !unique && !ascends {
		return
	}
	last := reflect.Value{}
	for _, x := range reflect.ValueOf(o.before).Seq2() {
		if last = x.FieldByIndex(f.index); unique && last.Equal(f.v) {
			o.AddAt(o.Where(f.key), "%s: %s %v is given twice", o.What, f.key, f.v)
		}
	}
	switch {
	case ascends && last.IsValid() && f.v.Int() <= last.Int():
		o.AddAt(o.Where(f.key), "%s: %s %v must be larger than the one before, %v", o.What, f.key, f.v, last)
	case ascends && !last.IsValid() && f.options["ascends"] == "0" && !f.v.IsZero():
		o.AddAt(o.Where(f.key), "%s: %s %v: the first must be 0", o.What, f.key, f.v)
	}
}

func (o *Object) text(f *field) {
	text := cmp.Or(o.Text(f.key, f.has("need") || f.has("date")), f.options["default"])
	if _, err := time.Parse(time.DateOnly, text); f.has("date") && text != "" && err != nil {
		o.AddAt(o.Where(f.key), "%s: %s %q must be YYYY-MM-DD", o.What, f.key, text)
	}
	known := choices(f.v.Type())
	if one := f.options["one"]; one != "" {
		known = strings.Split(one, "|")
	}
	if known != nil && text != "" && !slices.Contains(known, text) {
		o.AddAt(o.Where(f.key), "%s: %s must be one of %v, not %q", o.What, f.key, known, text)
	}
	if f.v.SetString(text); f.has("names") {
		o.What += " " + text
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

// records reads a field that holds structs, or values by name.
func (o *Object) records(f *field) {
	of := f.v.Type()
	if f.has("inline") {
		o.entries(f)
		return
	}
	n := o.Value(f.key)
	switch {
	case n == nil && f.has("optional"):
	case n == nil && f.has("need"):
		o.present(f)
	case of.Kind() == reflect.Struct:
		if n == nil {
			n = &yaml.Node{Kind: yaml.MappingNode, Line: o.node.Line, Column: o.node.Column}
		}
		o.record(f, n, "", " "+f.key).read(f.v)
	case n == nil:
	case of.Kind() == reflect.Pointer:
		f.v.Set(reflect.New(of.Elem()))
		o.record(f, n, "", " "+f.key).read(f.v.Elem())
	case of.Kind() == reflect.Map, f.has("key"):
		in := NewObject(o.Diagnostics, n, o.path+f.key)
		in.into = o.into
		in.entries(f)
		in.Done()
	default:
		o.List(f.key, func(i int, n *yaml.Node) {
			x := reflect.New(of.Elem()).Elem()
			item := o.record(f, n, fmt.Sprintf("[%d]", i), "")
			item.before = f.v.Interface()
			item.read(x)
			f.v.Set(reflect.Append(f.v, x))
		})
	}
}

// record begins to read a struct, called by its noun and name or by its path.
func (o *Object) record(f *field, n *yaml.Node, path, name string) *Object {
	path = o.path + f.key + path
	what := path
	if noun := f.options["each"]; noun != "" {
		what = noun + name
	}
	item := NewObject(o.Diagnostics, n, what)
	item.path, item.bounds, item.within = path+".", f.options, o.into
	return item
}

// entries reads what a mapping holds by name: what stands there or, where only some names are known, those of them.
func (o *Object) entries(f *field) {
	of, names := f.v.Type(), o.names
	if of.Kind() == reflect.Map {
		f.v.Set(reflect.MakeMap(of))
		if known := choices(of.Key()); known != nil {
			names = known
			o.Allow(known...)
		}
	}
	for _, name := range names {
		if o.keys[name] == nil && !f.has("default") {
			continue
		}
		x := reflect.New(of.Elem()).Elem()
		into := x
		if x.Kind() == reflect.Pointer {
			x.Set(reflect.New(of.Elem().Elem()))
			into = x.Elem()
		}
		setKey(into, name)
		o.field(&field{key: name, options: f.options, v: into})
		if of.Kind() == reflect.Map {
			f.v.SetMapIndex(reflect.ValueOf(name).Convert(of.Key()), x)
		} else {
			f.v.Set(reflect.Append(f.v, x))
		}
	}
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
		o.AddAt(o.Where(key), "%s: %s is %s: more than %v is surely a mistake", o.What, key, text, hi)
	}
	return min(max(v, lo), hi)
}

// parsed is what a value says, which must be something; otherwise where it is absent or is something else.
func parsed[T any](o *Object, key string, n *yaml.Node, otherwise T, must string, parse func(string) (T, bool)) T {
	if n == nil {
		return otherwise
	}
	v, ok := parse(n.Value)
	if n.Kind != yaml.ScalarNode || !ok {
		o.AddAt(At(n), "%s: %s must be %s, not %q", o.What, key, must, n.Value)
		return otherwise
	}
	return v
}

// whole reads a whole number between a field's bounds.
func (o *Object) whole(f *field, n *yaml.Node, otherwise int) int {
	lo, hi := int(o.number(f, "lo", 0)), int(o.number(f, "hi", math.MaxInt32))
	return parsed(o, f.key, n, otherwise, fmt.Sprintf("a whole number from %d to %d", lo, hi), func(text string) (int, bool) {
		v, err := strconv.Atoi(text)
		return v, err == nil && v >= lo && v <= hi
	})
}

// wholes reads a list of whole numbers, or one number as a list of one.
func (o *Object) wholes(f *field, n *yaml.Node) (out []int) {
	switch {
	case n == nil:
	case n.Kind == yaml.SequenceNode:
		for _, c := range n.Content {
			out = append(out, o.whole(f, c, int(o.number(f, "lo", 0))))
		}
	default:
		out = []int{o.whole(f, n, int(o.number(f, "lo", 0)))}
	}
	return out
}

// float reads a number between a field's bounds, where it has a lower one, else a positive one.
func (o *Object) float(f *field) float64 {
	lo, hi, must := math.SmallestNonzeroFloat64, math.MaxFloat64, "a positive number"
	if f.has("lo") || o.bounds["lo"] != "" {
		lo, hi = o.number(f, "lo", 0), o.number(f, "hi", hi)
		must = fmt.Sprintf("a number from %g to %g", lo, hi)
	}
	return parsed(o, f.key, o.Value(f.key), o.number(f, "default", 0), must, func(text string) (float64, bool) {
		v, err := strconv.ParseFloat(text, 64)
		return v, err == nil && v >= lo && v <= hi
	})
}
