package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLeft: what is said of a command that was interrupted is true of its journal.
func TestLeft(t *testing.T) {
	none, missing, empty, full := "", filepath.Join(t.TempDir(), "missing"), filepath.Join(t.TempDir(), "empty"),
		filepath.Join(t.TempDir(), "full")
	for path, text := range map[string]string{empty: "", full: "{}\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for want, journal := range map[string]*string{"starts over": nil, "--journal FILE": &none, "nothing is in " + missing: &missing,
		"nothing is in " + empty: &empty, "what is done is in " + full + ", and the same command continues there": &full} {
		if got := left(journal); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
