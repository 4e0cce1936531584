package flightrecorder

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
)

// misfit is data of a kind that does not belong where it stands.
type misfit struct{ path, what string }

func (m *misfit) Error() string {
	return fmt.Sprintf("dump%s: a %s does not belong there", m.path, m.what)
}

// under is the misfit seen from one level up.
func (m *misfit) under(step string) *misfit {
	if m != nil {
		m.path = step + m.path
	}
	return m
}

// keys are the fields of structs by their names in JSON, by type.
var keys sync.Map

func keysOf(t reflect.Type) map[string]int {
	if known, ok := keys.Load(t); ok {
		return known.(map[string]int)
	}
	out := map[string]int{}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		out[name] = i
	}
	keys.Store(t, out)
	return out
}

// assigner gives pickled plain data to values by the tags of their JSON, so that both forms of a dump are declared once. Keys that a
// value has no field for are passed over, as encoding/json does. Dictionaries that several refer to are looked at once. Slices keep their
// memory. A value of pickled data is kept as it is, to be looked at later.
type assigner struct {
	*machine
	known   map[int64]reflect.Value        // of dictionaries
	texts   map[string]string              // each once
	layouts map[reflect.Type]*[]fieldOfKey // of the last dictionary
}

// fieldOfKey is where a key's text stands in the data and the field of that name; -1: none.
type fieldOfKey struct {
	text  int64
	field int
}

// once is a text, of which thousands of operations have the same.
func (a *assigner) once(v value) string {
	data := a.text(v)
	if known, ok := a.texts[string(data)]; ok {
		return known
	}
	s := string(data)
	a.texts[s] = s
	return s
}

// laters is the type of data that are looked at later.
var laters = reflect.TypeFor[value]()

func (a *assigner) assign(to reflect.Value, from value) *misfit {
	if from.kind == none {
		to.SetZero()
		return nil
	}
	switch to.Kind() {
	case reflect.Struct:
		if to.Type() == laters {
			to.Set(reflect.ValueOf(from))
			return nil
		}
		return a.shared(to, from)
	case reflect.Map:
		return a.entries(to, from)
	case reflect.Slice:
		return a.elements(to, from)
	}
	switch {
	case from.kind == text && to.Kind() == reflect.String:
		to.SetString(a.once(from))
	case from.kind == truth && to.Kind() == reflect.Bool:
		to.SetBool(from.n != 0)
	case from.kind == whole && to.CanInt():
		to.SetInt(from.n)
	case from.kind == whole && to.CanFloat():
		to.SetFloat(float64(from.n))
	case from.kind == real && to.CanFloat():
		to.SetFloat(math.Float64frombits(uint64(from.n)))
	default:
		return &misfit{what: describe(from)}
	}
	return nil
}

func (a *assigner) elements(to reflect.Value, from value) *misfit {
	if from.kind != list {
		return &misfit{what: describe(from)}
	}
	items := a.of(from)
	if len(items) > to.Cap() {
		to.Set(reflect.MakeSlice(to.Type(), len(items), len(items)))
	}
	to.SetLen(len(items))
	for i, item := range items {
		if m := a.assign(to.Index(i), item); m != nil {
			return m.under(fmt.Sprintf("[%d]", i))
		}
	}
	return nil
}

// shared assigns a dictionary that others may refer to as well.
func (a *assigner) shared(to reflect.Value, from value) *misfit {
	if v, ok := a.known[from.n]; ok && from.kind == dict && v.Type() == to.Type() {
		to.Set(v)
		return nil
	}
	v := reflect.New(to.Type()).Elem()
	if m := a.fields(v, from); m != nil {
		return m
	}
	a.known[from.n] = v
	to.Set(v)
	return nil
}

func (a *assigner) fields(to reflect.Value, from value) *misfit {
	if from.kind != dict {
		return &misfit{what: describe(from)}
	}
	items, layout := a.of(from), a.layout(to.Type())
	for i := 0; i < len(items); i += 2 {
		if i/2 == len(*layout) {
			*layout = append(*layout, fieldOfKey{text: -1})
		}
		key := &(*layout)[i/2]
		if key.text != items[i].n {
			at, ok := keysOf(to.Type())[string(a.text(items[i]))]
			if !ok {
				at = -1
			}
			*key = fieldOfKey{items[i].n, at}
		}
		if key.field < 0 {
			continue
		}
		if m := a.assign(to.Field(key.field), items[i+1]); m != nil {
			return m.under("." + string(a.text(items[i])))
		}
	}
	return nil
}

func (a *assigner) layout(t reflect.Type) *[]fieldOfKey {
	if a.layouts[t] == nil {
		a.layouts[t] = &[]fieldOfKey{}
	}
	return a.layouts[t]
}

func (a *assigner) entries(to reflect.Value, from value) *misfit {
	if from.kind != dict {
		return &misfit{what: describe(from)}
	}
	items := a.of(from)
	to.Set(reflect.MakeMapWithSize(to.Type(), len(items)/2))
	for i := 0; i < len(items); i += 2 {
		key := a.once(items[i])
		v := reflect.New(to.Type().Elem()).Elem()
		if m := a.assign(v, items[i+1]); m != nil {
			return m.under("." + key)
		}
		to.SetMapIndex(reflect.ValueOf(key), v)
	}
	return nil
}

// describe is what Python calls the kind of a value.
func describe(v value) string {
	switch v.kind {
	case none:
		return "None"
	case dict:
		return "dictionary"
	case list:
		return "list"
	case text:
		return "text"
	case truth:
		return "truth value"
	case mark:
		return "mark"
	}
	return "number"
}
