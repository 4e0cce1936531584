package yamlfile

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"railyard/model/units"
)

// Encode writes a struct as a file of the format; the same struct gives the same bytes. Fields at their
// defaults are left out.
func (f Format) Encode(w io.Writer, from any) error {
	v := reflect.New(reflect.TypeOf(from)).Elem()
	v.Set(reflect.ValueOf(from))
	root := mapping(v)
	root.Content = append([]*yaml.Node{scalar("schema"), scalar(f.Schema)}, root.Content...)
	enc := yaml.NewEncoder(w)
	enc.SetIndent(2)
	if err := enc.Encode(root); err != nil {
		return err
	}
	return enc.Close()
}

func mapping(v reflect.Value) *yaml.Node {
	out := &yaml.Node{Kind: yaml.MappingNode}
	for _, f := range fieldsOf(v) {
		if n := f.node(); n != nil {
			out.Content = append(out.Content, scalar(f.key), n)
		}
	}
	return out
}

// node is a field as written; nil where it is left out.
func (f *field) node() *yaml.Node {
	if f.v.Kind() == reflect.Struct {
		return mapping(f.v)
	}
	if f.v.IsZero() {
		return nil
	}
	switch v := f.v.Interface().(type) {
	case units.Bytes:
		return plainScalar(v.String())
	case units.Rate:
		return plainScalar(fmt.Sprintf("%gMB/s", float64(v)/1e6))
	case units.Time:
		return plainScalar(fmt.Sprintf("%gns", float64(v)/1e3))
	case bool:
		return plainScalar("true")
	case float64:
		return plainScalar(strconv.FormatFloat(v, 'g', -1, 64))
	case int:
		if text := strconv.Itoa(v); text != f.options["default"] {
			return plainScalar(text)
		}
		return nil
	}
	switch f.v.Kind() {
	case reflect.String:
		return scalar(f.v.String())
	case reflect.Pointer:
		return mapping(f.v.Elem())
	case reflect.Map:
		return f.byName()
	case reflect.Slice:
		return f.list()
	}
	panic(fmt.Sprintf("yamlfile: %s: no way to write a %v", f.key, f.v.Type()))
}

// byName are values in the order of their names.
func (f *field) byName() *yaml.Node {
	out := &yaml.Node{Kind: yaml.MappingNode}
	names := f.v.MapKeys()
	slices.SortFunc(names, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	for _, name := range names {
		x := reflect.New(f.v.Type().Elem()).Elem()
		x.Set(f.v.MapIndex(name))
		out.Content = append(out.Content, scalar(name.String()), (&field{v: x, options: f.options}).node())
	}
	return out
}

func (f *field) list() *yaml.Node {
	if f.v.Len() == 0 {
		return nil
	}
	out := &yaml.Node{Kind: yaml.SequenceNode}
	if f.has("line") {
		out.Style = yaml.FlowStyle
	}
	for i := range f.v.Len() {
		n := mapping(f.v.Index(i))
		if f.has("lines") {
			n.Style = yaml.FlowStyle
		}
		out.Content = append(out.Content, n)
	}
	return out
}
