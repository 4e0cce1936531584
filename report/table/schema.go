package table

import (
	"io"
	"reflect"
	"slices"
	"strings"
)

// members is a JSON object in order.
type members []Member

// MarshalJSON implements json.Marshaler.
func (m members) MarshalJSON() ([]byte, error) { return Extra(m).Before(struct{}{}) }

// WriteSchema writes the JSON Schema of a document, a pointer to a struct.
func WriteSchema(w io.Writer, doc any) error {
	t := behind(reflect.ValueOf(doc)).Type()
	out := members{{"$schema", "https://json-schema.org/draft/2020-12/schema"}}
	for _, f := range fieldsOf(t) {
		if f.constant != "" {
			out = append(out, Member{"title", strings.Join(filled(f.constant, f.doc), ": ")})
		}
	}
	return WriteJSON(w, append(out, object(t)...))
}

// object is the schema of a struct.
func object(t reflect.Type) members {
	required, properties := []string{}, members{}
	open := false
	for _, f := range fieldsOf(t) {
		if f.isExtra() {
			open = true // members that a measurement's file brings
		}
		if f.isExtra() || f.hidden() {
			continue
		}
		if !f.optional {
			required = append(required, f.key)
		}
		properties = append(properties, Member{f.key, f.schema()})
	}
	return members{{"type", "object"}, {"required", required}, {"properties", properties}, {"additionalProperties", open}}
}

// schema of a field.
func (f *field) schema() members {
	if f.constant != "" {
		return members{{"const", f.constant}}
	}
	out := valueSchema(f.typ, f.unit.signed)
	if f.nullable && !f.optional {
		if f.isGroup() {
			out = members{{"anyOf", []any{members{{"type", "null"}}, out}}}
		} else {
			out[0].Value = []any{out[0].Value, "null"}
		}
	}
	if doc := filled(f.doc, f.unit.about); len(doc) > 0 {
		out = append(out, Member{"description", strings.Join(doc, "; ")})
	}
	return out
}

// filled are the texts that say something.
func filled(texts ...string) []string {
	return slices.DeleteFunc(texts, func(s string) bool { return s == "" })
}

func valueSchema(t reflect.Type, signed bool) members {
	switch t.Kind() {
	case reflect.String:
		return members{{"type", "string"}}
	case reflect.Bool:
		return members{{"type", "boolean"}}
	case reflect.Slice:
		return members{{"type", "array"}, {"items", valueSchema(t.Elem(), signed)}}
	case reflect.Struct:
		return object(t)
	case reflect.Float64:
		return number("number", signed)
	case reflect.Interface:
		return members{}
	}
	return number("integer", signed)
}

func number(name string, signed bool) members {
	if signed {
		return members{{"type", name}}
	}
	return members{{"type", name}, {"minimum", 0}}
}
