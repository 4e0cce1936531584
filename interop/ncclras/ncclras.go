// Package ncclras reads what NCCL's RAS subsystem answers (since 2.24): the text of ncclras or of port 28028, and its JSON (ncclras -f
// json, or "set format json" before "verbose status"; since 2.28). Source: src/ras/client_support.cc of NCCL 2.28 to 2.30.
package ncclras

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"

	"railyard/model/observed"
)

const (
	maxAnswer = 256 // MiB: a communicator's rank takes about 700 bytes as JSON
	maxRanks  = 1 << 22
	maxLine   = 1 << 20
)

// IsJSON reports whether a file looks like an answer as JSON: by its first bytes.
func IsJSON(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) && bytes.Contains(head, []byte(`"nccl_version"`)) &&
		bytes.Contains(head, []byte(`"communicators_count"`))
}

// IsText reports whether a text has answers, among whatever else a program has printed.
func IsText(data []byte) bool {
	return answerLine().Match(data) && bytes.Contains(data, []byte("\nJob summary"))
}

// ErrNone is the error of a text without an answer.
var ErrNone = errors.New("it has no line \"NCCL version … compiled with CUDA\": it is no answer of NCCL's RAS")

// Parse reads an answer as JSON, or all answers that a text has, one after the other; the error names file and line.
func Parse(r io.Reader, file string) ([]*observed.Roll, error) {
	in, parse := bufio.NewReader(r), parseText
	if head, _ := in.Peek(in.Size()); bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) {
		parse = parseJSON
	}
	rolls, err := parse(in, file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return rolls, nil
}

// byOp orders counts: by kind, the most operations first.
func byOp(a, b observed.Count) int {
	return cmp.Or(cmp.Compare(a.Op, b.Op), -cmp.Compare(a.Upto, b.Upto), cmp.Compare(a.Ranks, b.Ranks))
}
