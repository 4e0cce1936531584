package cluster

import (
	"fmt"
	"strings"
	"testing"
)

// TestLongListsAgree: lists of any length are compared whole, and of those that differ only what is about the first difference is said.
func TestLongListsAgree(t *testing.T) {
	sizes := ""
	for i := range 2000 {
		sizes += fmt.Sprintf("%d,", 102400+2000*i)
	}
	root := greeting{Hello: Hello{Sizes: sizes}, Host: "n0"}
	other := greeting{Hello: Hello{Sizes: sizes}, Rank: 1, Host: "n1"}
	came, err := decodeGreeting(other.frame())
	if err != nil || came.difference(root) != "" {
		t.Errorf("%.200s, %v", came.difference(root), err)
	}
	other.Sizes = strings.Replace(sizes, ",4098400,", ",4098401,", 1)
	came, err = decodeGreeting(other.frame())
	want := "4098401"
	if text := came.difference(root); err != nil || !strings.Contains(text, "sizes …,") || !strings.Contains(text, want) || len(text) > 1200 {
		t.Errorf("%s, %v", text, err)
	}
	came.Sizes = "\x1b[2J" + sizes
	if text := came.difference(root); strings.ContainsRune(text, '\x1b') {
		t.Errorf("%q", text)
	}
}
