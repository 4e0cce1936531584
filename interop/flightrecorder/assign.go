package flightrecorder

import (
	"fmt"
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
// value has no field for are passed over, as encoding/json does. Dictionaries that several refer to are looked at once.
type assigner struct{ known map[*dict]reflect.Value }

func (a *assigner) assign(to reflect.Value, from any) *misfit {
	if from == nil {
		return nil
	}
	switch to.Kind() {
	case reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		return a.assign(to.Elem(), from)
	case reflect.Struct:
		return a.fields(to, from)
	case reflect.Map:
		return a.entries(to, from)
	case reflect.Slice:
		l, ok := from.(*list)
		if !ok {
			return &misfit{what: describe(from)}
		}
		to.Set(reflect.MakeSlice(to.Type(), len(l.items), len(l.items)))
		for i, item := range l.items {
			if m := a.assign(to.Index(i), item); m != nil {
				return m.under(fmt.Sprintf("[%d]", i))
			}
		}
		return nil
	}
	switch v := from.(type) {
	case string:
		if to.Kind() == reflect.String {
			to.SetString(v)
			return nil
		}
	case bool:
		if to.Kind() == reflect.Bool {
			to.SetBool(v)
			return nil
		}
	case int64:
		if to.CanInt() {
			to.SetInt(v)
			return nil
		}
		if to.CanFloat() {
			to.SetFloat(float64(v))
			return nil
		}
	case float64:
		if to.CanFloat() {
			to.SetFloat(v)
			return nil
		}
	}
	return &misfit{what: describe(from)}
}

func (a *assigner) fields(to reflect.Value, from any) *misfit {
	d, ok := from.(*dict)
	if !ok {
		return &misfit{what: describe(from)}
	}
	if v, ok := a.known[d]; ok && v.Type() == to.Type() {
		to.Set(v)
		return nil
	}
	fields := keysOf(to.Type())
	for i := 0; i < len(d.items); i += 2 {
		key := d.items[i].(string)
		at, ok := fields[key]
		if !ok {
			continue
		}
		if m := a.assign(to.Field(at), d.items[i+1]); m != nil {
			return m.under("." + key)
		}
	}
	a.known[d] = to
	return nil
}

func (a *assigner) entries(to reflect.Value, from any) *misfit {
	d, ok := from.(*dict)
	if !ok {
		return &misfit{what: describe(from)}
	}
	to.Set(reflect.MakeMapWithSize(to.Type(), len(d.items)/2))
	for i := 0; i < len(d.items); i += 2 {
		v := reflect.New(to.Type().Elem()).Elem()
		if m := a.assign(v, d.items[i+1]); m != nil {
			return m.under("." + d.items[i].(string))
		}
		to.SetMapIndex(reflect.ValueOf(d.items[i]), v)
	}
	return nil
}

// describe is what Python calls the kind of a value.
func describe(v any) string {
	switch v.(type) {
	case *dict:
		return "dictionary"
	case *list:
		return "list"
	case string:
		return "text"
	case bool:
		return "truth value"
	case mark:
		return "mark"
	}
	return "number"
}
