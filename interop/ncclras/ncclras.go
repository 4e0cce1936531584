// Package ncclras reads what NCCL's RAS subsystem answers (since 2.24): the text of ncclras or of port 28028, and its JSON (ncclras -f
// json, or "set format json" before "verbose status"; since 2.28). Source: src/ras/client_support.cc of NCCL 2.28 to 2.30.
package ncclras

import (
	"bytes"
	"cmp"
	"fmt"
	"io"

	"railyard/interop/foreign"
	"railyard/model/observed"
)

const (
	maxAnswer = 256 // MiB: a communicator's rank takes about 700 bytes as JSON
	maxRanks  = 1 << 22
	maxLine   = 1 << 20
)

// Is reports whether a file looks like an answer: by its first bytes.
func Is(head []byte) bool {
	head = bytes.TrimSpace(head)
	if bytes.HasPrefix(head, []byte("{")) {
		return bytes.Contains(head, []byte(`"nccl_version"`)) && bytes.Contains(head, []byte(`"communicators_count"`))
	}
	return bytes.HasPrefix(head, []byte("NCCL version ")) && bytes.Contains(head, []byte("Job summary"))
}

// Parse reads an answer in either format.
func Parse(r io.Reader, file string) (*observed.Roll, error) {
	data, err := foreign.Read(r, maxAnswer)
	var roll *observed.Roll
	if err == nil {
		parse := parseText
		if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
			parse = parseJSON
		}
		roll, err = parse(data, file)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return roll, nil
}

// byOp orders counts: by kind, the most operations first.
func byOp(a, b observed.Count) int {
	return cmp.Or(cmp.Compare(a.Op, b.Op), -cmp.Compare(a.Upto, b.Upto), cmp.Compare(a.Ranks, b.Ranks))
}
