package foreign

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"os"
)

// Open opens a file, and unpacks it where gzip has packed it, as profilers and those who keep logs do.
func Open(name string) (io.ReadCloser, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	in := bufio.NewReader(f)
	x := &opened{in, f}
	if head, err := in.Peek(2); err == nil && head[0] == 0x1f && head[1] == 0x8b {
		z, err := gzip.NewReader(in)
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		x.Reader = z
	}
	return x, nil
}

// opened is a file with what its bytes are read by.
type opened struct {
	io.Reader
	io.Closer
}
