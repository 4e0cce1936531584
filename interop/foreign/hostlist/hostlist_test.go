package hostlist

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "railyard/internal/long" // accepts -long
)

// TestHostlists: what is written stands for the same names, in order.
func TestHostlists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(rapid.StringMatching(`(a|node|r1-n|x0)(|[0-9]{1,3})`), 1, 30).Draw(t, "names")
		got, err := Read(Write(names))
		if err != nil || !slices.Equal(got, names) {
			t.Errorf("%q is %q (%v) instead of %q", Write(names), got, err, names)
		}
	})
	for list, want := range map[string]string{"n[08-11],login": "n08 n09 n10 n11 login", "c[1,3]-ib": "c1-ib c3-ib", "a": "a"} {
		if got, err := Read(list); err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %v %v", list, got, err)
		}
	}
	for _, list := range []string{"n[1-", "n[b]", "n[3-1]", "n[1]x[2]", "n]", "n[0-99999999]", ",a"} {
		if got, err := Read(list); err == nil {
			t.Errorf("%s: %v", list, got)
		}
	}
}
