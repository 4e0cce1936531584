package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// JSONError says in which line a mistake is that a decoder has found.
func JSONError(data []byte, dec *json.Decoder, err error) error {
	at := dec.InputOffset()
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &kind):
		at = kind.Offset
	}
	return fmt.Errorf("line %d: %w", LineOf(data, at), err)
}

// LineOf is the line of an offset.
func LineOf(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(max(int(offset), 0), len(data))], []byte("\n"))
}
