package flightrecorder

import (
	"fmt"
	"reflect"
	"strings"
)

// assign gives pickled plain data to a value by the tags of its JSON, so that both forms of a dump are declared once. Keys that the
// value has no field for are passed over, as encoding/json does.
func assign(to reflect.Value, from any, path string) error {
	if from == nil {
		return nil
	}
	wrong := func() error { return fmt.Errorf("%s: a %s does not belong there", path, describe(from)) }
	switch to.Kind() {
	case reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		return assign(to.Elem(), from, path)
	case reflect.Struct:
		dict, ok := from.(map[string]any)
		if !ok {
			return wrong()
		}
		for i := range to.NumField() {
			name, _, _ := strings.Cut(to.Type().Field(i).Tag.Get("json"), ",")
			if err := assign(to.Field(i), dict[name], path+"."+name); err != nil {
				return err
			}
		}
		return nil
	case reflect.Map:
		return assignMap(to, from, path)
	case reflect.Slice:
		l, ok := from.(*list)
		if !ok {
			return wrong()
		}
		to.Set(reflect.MakeSlice(to.Type(), len(l.items), len(l.items)))
		for i, item := range l.items {
			if err := assign(to.Index(i), item, fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
		return nil
	}
	v := reflect.ValueOf(from)
	if k := v.Kind(); k != to.Kind() && !(k == reflect.Int64 && (to.CanInt() || to.CanFloat())) {
		return wrong()
	}
	to.Set(v.Convert(to.Type()))
	return nil
}

func assignMap(to reflect.Value, from any, path string) error {
	dict, ok := from.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: a %s does not belong there", path, describe(from))
	}
	to.Set(reflect.MakeMapWithSize(to.Type(), len(dict)))
	for key, item := range dict {
		v := reflect.New(to.Type().Elem()).Elem()
		if err := assign(v, item, path+"."+key); err != nil {
			return err
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
