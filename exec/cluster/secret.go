package cluster

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"os"
)

// secretSize is a secret's bytes: as many as keys have that are derived from it.
const secretSize = 32

// Secret is that of the file that the environment's RAILYARD_SECRET_FILE names, nil where it names none.
func Secret(getenv func(string) string) ([]byte, error) {
	if file := getenv("RAILYARD_SECRET_FILE"); file != "" {
		return ReadSecret(file)
	}
	return nil, nil
}

// ReadSecret reads what all ranks of a run share: 32 bytes, or 64 hexadecimal digits in a line. A file
// that others than its owner may read is refused, unless it lies on a file system mounted
// read-only, as Kubernetes mounts secrets, where modes say nothing about who could have come in.
func ReadSecret(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("secret: %w (make one: openssl rand -hex 32 > FILE; chmod 600 FILE)", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("secret: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && !onReadOnly(f) {
		return nil, fmt.Errorf("secret %s has mode %04o, so that others may use it: chmod 600 %s", file, mode, file)
	}
	data, err := io.ReadAll(io.LimitReader(f, 4*secretSize))
	if err != nil {
		return nil, fmt.Errorf("secret: %w", err)
	}
	if len(data) == secretSize {
		return data, nil
	}
	if out, err := hex.DecodeString(string(bytes.TrimSpace(data))); err == nil && len(out) == secretSize {
		return out, nil
	}
	return nil, fmt.Errorf("secret %s must be %d bytes, or twice as many hexadecimal digits: openssl rand -hex %d > %s", file, secretSize,
		secretSize, file)
}
