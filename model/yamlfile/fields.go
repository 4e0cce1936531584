package yamlfile

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"
)

// A format's keys are the fields of a struct that have a tag, in the struct's order:
//
//	Rate units.Rate `file:"rate,need,most=400GB/s"`
//
// names the key and then, where they apply,
//
//	need          its absence is a mistake
//	some          zero, no text or an empty list is a mistake
//	one=A|B       other texts are mistakes
//	unique        of elements of a list: that two have the same is a mistake
//	ascends       of elements of a list: that one is not above the one before is a mistake; ascends=0: and the first is 0
//	optional      of a struct: it may be left out whatever it needs
//	default=X     what it is where it is left out; the zero value otherwise
//	lo=X,hi=X     the least and the largest number; of a struct: of its numbers
//	most=X        the largest quantity with a unit
//	date          a text that says YYYY-MM-DD
//	names         the text by which messages call the record, behind its noun
//	each=NOUN     how messages call the elements of a list or mapping; their path in the file otherwise
//	key           a list that stands in the file as a mapping, or the field of its elements that the key goes to
//	lines, line   a list that is written with an element a line, or all on one
//	inline=PREFIX a struct whose keys stand beside the others, with a prefix, or a mapping whose names do
//
// Embedded structs are inline without a tag. Fields of type Place are told where the record stands.
// Types are text, bool, int, float64, lists of int and lists of those, units.Bytes, Rate and Time, what
// reads text itself (encoding.TextUnmarshaler), structs, pointers to them, lists of them, and mappings of
// them all. Other texts than Choices of a text's type, or of a mapping's names, are mistakes; with a default
// all names have a value.
type field struct {
	key     string
	options map[string]string
	index   []int         // within the struct
	v       reflect.Value // of a struct at hand
}

// Place is where a record stands, and whether mistakes were found in it.
type Place struct {
	Pos
	Faulty bool
}

// Choice is a text that is one of a few.
type Choice interface{ Choices() []string }

// Words are choices as text.
func Words[T ~string](list ...T) []string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = string(x)
	}
	return out
}

// choices are those of a type of text, nil where it may be any.
func choices(of reflect.Type) []string {
	if c, ok := reflect.Zero(of).Interface().(Choice); ok {
		return c.Choices()
	}
	return nil
}

// Checker is a record, or what a field holds, that finds mistakes of its own once it is read.
type Checker interface{ Check(o *Object) }

// known are the fields of the types that were met.
var known sync.Map

// fieldsOf are the fields of a struct that have keys.
func fieldsOf(v reflect.Value) []field {
	found, ok := known.Load(v.Type())
	if !ok {
		found, _ = known.LoadOrStore(v.Type(), findFields(v.Type(), "", nil))
	}
	out := slices.Clone(found.([]field))
	for i := range out {
		out[i].v = v.FieldByIndex(out[i].index)
	}
	return out
}

func findFields(in reflect.Type, prefix string, index []int) []field {
	var out []field
	for i := range in.NumField() {
		t := in.Field(i)
		tag, tagged := t.Tag.Lookup("file")
		key, rest, _ := strings.Cut(tag, ",")
		f := field{key: prefix + key, options: map[string]string{}, index: append(slices.Clone(index), i)}
		for option := range strings.SplitSeq(rest, ",") {
			name, value, _ := strings.Cut(option, "=")
			f.options[name] = value
		}
		more, inline := f.options["inline"]
		switch {
		case inline && t.Type.Kind() == reflect.Map:
			out = append(out, f)
		case inline, t.Anonymous && !tagged:
			out = append(out, findFields(t.Type, more, f.index)...)
		case key != "" && key != "-":
			out = append(out, f)
		}
	}
	return out
}

func (f *field) has(option string) bool {
	_, ok := f.options[option]
	return ok
}

// setKey tells a struct the key that it has in a mapping, if it has a field for it.
func setKey(v reflect.Value, key string) {
	if v.Kind() != reflect.Struct {
		return
	}
	for _, f := range reflect.VisibleFields(v.Type()) {
		if f.Tag.Get("file") == ",key" {
			v.FieldByIndex(f.Index).SetString(key)
		}
	}
}

// place tells a struct where it stands.
func place(v reflect.Value, p Place) {
	for i := range v.NumField() {
		if v.Type().Field(i).Type == reflect.TypeFor[Place]() {
			v.Field(i).Set(reflect.ValueOf(p))
		}
	}
}

func scalar(text string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(text)
	return n
}

func plainScalar(text string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: text} }
