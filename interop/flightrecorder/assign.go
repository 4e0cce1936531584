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

// keys are the names of a struct's fields in JSON, by type.
var keys sync.Map

func keysOf(t reflect.Type) []string {
	if known, ok := keys.Load(t); ok {
		return known.([]string)
	}
	out := make([]string, t.NumField())
	for i := range out {
		out[i], _, _ = strings.Cut(t.Field(i).Tag.Get("json"), ",")
	}
	keys.Store(t, out)
	return out
}

// assign gives pickled plain data to a value by the tags of its JSON, so that both forms of a dump are declared once. Keys that the
// value has no field for are passed over, as encoding/json does.
func assign(to reflect.Value, from any) *misfit {
	if from == nil {
		return nil
	}
	switch to.Kind() {
	case reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		return assign(to.Elem(), from)
	case reflect.Struct:
		dict, ok := from.(map[string]any)
		if !ok {
			return &misfit{what: describe(from)}
		}
		for i, key := range keysOf(to.Type()) {
			if m := assign(to.Field(i), dict[key]); m != nil {
				return m.under("." + key)
			}
		}
		return nil
	case reflect.Map:
		return assignMap(to, from)
	case reflect.Slice:
		l, ok := from.(*list)
		if !ok {
			return &misfit{what: describe(from)}
		}
		to.Set(reflect.MakeSlice(to.Type(), len(l.items), len(l.items)))
		for i, item := range l.items {
			if m := assign(to.Index(i), item); m != nil {
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

func assignMap(to reflect.Value, from any) *misfit {
	dict, ok := from.(map[string]any)
	if !ok {
		return &misfit{what: describe(from)}
	}
	to.Set(reflect.MakeMapWithSize(to.Type(), len(dict)))
	for key, item := range dict {
		v := reflect.New(to.Type().Elem()).Elem()
		if m := assign(v, item); m != nil {
			return m.under("." + key)
		}
		to.SetMapIndex(reflect.ValueOf(key), v)
	}
	return nil
}

// describe is what Python calls the kind of a value.
func describe(v any) string {
	switch v.(type) {
	case map[string]any:
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
