package foreign

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// JSONError says in which line a mistake is that a decoder has found, in words of the file.
func JSONError(data []byte, dec *json.Decoder, err error) error {
	at := dec.InputOffset()
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at, err = syntax.Offset, fmt.Errorf("not valid JSON: %w", err)
	case errors.As(err, &kind):
		at, err = kind.Offset, fmt.Errorf("%s: %s does not belong there", cmp.Or(kind.Field, "the file"), kind.Value)
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("the file ends in the middle of a value")
	case errors.Is(err, io.EOF):
		err = errors.New("the file is empty")
	}
	return fmt.Errorf("line %d: %w", LineOf(data, at), err)
}

// LineOf is the line of an offset.
func LineOf(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(max(int(offset), 0), len(data))], []byte("\n"))
}
