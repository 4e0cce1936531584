package discover

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestOthers: what neither was idle nor taken by this process, which does next to nothing here, was taken by others.
func TestOthers(t *testing.T) {
	root := t.TempDir()
	stat := filepath.Join(root, "proc", "stat")
	write := func(text string) {
		if err := os.MkdirAll(filepath.Dir(stat), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(stat, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	rest := "cpu0 0 0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0 0 0\nintr 1\n"
	for name, c := range map[string]struct {
		before, after string
		want          float64
	}{
		"as busy as idle": {"cpu  100 0 50 1000 10 5 5 30 0 0\n", "cpu  160 10 60 1080 30 15 5 40 60 0\n", 0.5},
		"idle":            {"cpu  100 0 50 1000 10 5 5 30 0 0\n", "cpu  100 0 50 1200 10 5 5 30 0 0\n", 0},
		"nothing moved":   {"cpu  1 1 1 1\n", "cpu  1 1 1 1\n", 0},
		"no such file":    {"", "", 0},
	} {
		write(c.before + rest)
		p := WatchProcessors(root)
		p.began = p.began.Add(-time.Hour) // beside which the moment that the test takes is nothing
		write(c.after + rest)
		if got := p.Others(); math.Abs(got-c.want) > 1e-3 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
