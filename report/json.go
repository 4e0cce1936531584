package report

import (
	"bytes"
	"encoding/json"
	"io"
)

// member is a key of an object with its value.
type member struct {
	key   string
	value any
}

// object is a JSON object that keeps its members' order.
type object []member

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			out.WriteByte(',')
		}
		for _, v := range []any{m.key, m.value} {
			text, err := marshal(v)
			if err != nil {
				return nil, err
			}
			out.Write(text)
			out.WriteByte(':')
		}
		out.Truncate(out.Len() - 1)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// marshal leaves <, > and & as they are: these documents are no web pages.
func marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(out.Bytes()), err
}

// WriteJSON writes a document with stable key order.
func WriteJSON(w io.Writer, doc any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	enc.SetEscapeHTML(false)
	return enc.Encode(doc)
}

// WriteJSONLine writes a document on one line.
func WriteJSONLine(w io.Writer, doc any) error {
	text, err := marshal(doc)
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

func nonNil(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
