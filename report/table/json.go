package table

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"
)

// Member is a key with its value.
type Member struct {
	Key   string
	Value any
}

// Extra are members whose keys a file decides: a row with a field of this type has them
// before its own. Such a row's MarshalJSON is Extra.Before.
type Extra []Member

var extraType = reflect.TypeFor[Extra]()

// Before is the JSON of a struct with the members before its own.
func (e Extra) Before(row any) ([]byte, error) {
	out := []byte{'{'}
	for _, m := range e {
		for i, x := range []any{m.Key, m.Value} {
			text, err := marshal(x)
			if err != nil {
				return nil, err
			}
			out = append(append(out, text...), ":,"[i])
		}
	}
	text, err := marshal(row)
	if len(text) == len("{}") {
		out = bytes.TrimSuffix(out, []byte{','})
	}
	return append(out, bytes.TrimPrefix(text, []byte{'{'})...), err
}

// marshal leaves <, > and & as they are: documents are no web pages.
func marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(out.Bytes()), err
}

// WriteJSON writes a document, or any value, with stable order of keys.
func WriteJSON(w io.Writer, doc any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	enc.SetEscapeHTML(false)
	return enc.Encode(doc)
}

// WriteJSONLine writes a value on one line.
func WriteJSONLine(w io.Writer, doc any) error {
	text, err := marshal(doc)
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}
