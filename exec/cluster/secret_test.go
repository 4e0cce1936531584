package cluster

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadSecret(t *testing.T) {
	secret := bytes.Repeat([]byte{0xa5, '\n'}, secretSize/2)
	for _, c := range []struct {
		data string
		mode os.FileMode
		want string
	}{
		{string(secret), 0o600, ""},
		{hex.EncodeToString(secret) + "\n", 0o400, ""},
		{string(secret), 0o640, "has mode 0640, so that others may use it: chmod 600"},
		{string(secret), 0o604, "has mode 0604"},
		{"short", 0o600, "must be 32 bytes"},
		{string(secret) + "x", 0o600, "must be 32 bytes"},
		{strings.Repeat("z", 64), 0o600, "must be 32 bytes"},
	} {
		file := filepath.Join(t.TempDir(), "secret")
		if err := os.WriteFile(file, []byte(c.data), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, c.mode); err != nil {
			t.Fatal(err)
		}
		got, err := ReadSecret(file)
		switch {
		case c.want == "" && (err != nil || !bytes.Equal(got, secret)):
			t.Errorf("%q: %x, %v", c.data, got, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%q %o: %v; want %q", c.data, c.mode, err, c.want)
		}
	}
	if _, err := ReadSecret(filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "openssl rand") {
		t.Errorf("no file: %v", err)
	}
}

// TestReach: without a secret a run stays within the machine, as addresses are written.
func TestReach(t *testing.T) {
	secret := make([]byte, secretSize)
	for _, c := range []struct {
		root   string
		secret []byte
		ok     bool
	}{
		{"127.0.0.1:1", nil, true}, {"[::1]:1", nil, true}, {"localhost:1", nil, true},
		{"10.0.0.1:1", nil, false}, {"n1:1", nil, false}, {"0.0.0.0:1", nil, false}, {"[::]:1", nil, false},
		{"n1:1", secret, true}, {"n1:1", secret[1:], false}, {"127.0.0.1:1", []byte{}, false},
	} {
		if err := checkReach(c.root, c.secret); (err == nil) != c.ok {
			t.Errorf("%s with %d bytes: %v", c.root, len(c.secret), err)
		}
	}
}
