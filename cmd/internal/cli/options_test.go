package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestOptions: options of a flag are read from one or several of it, lists keep their commas, and what
// is mistyped, twice there or without a value is an error that names it.
func TestOptions(t *testing.T) {
	for _, c := range []struct{ args, want, err string }{
		{"--how tp=8,order=a,b,staged", "8 [a b] true", ""},
		{"--how tp=8 --how order=a --how order=b", "8 [a b] false", ""},
		{"--how staged=false,tp=2", "2 [] false", ""},
		{"--tp 8 --order=a,b --staged", "8 [a b] true", ""},
		{"--tp 8 --how tp=4", "", "tp is given twice"},
		{"--tp 8 --tp=4", "", "given"},
		{"--tp x", "", "--tp x: must be a whole number"},
		{"--how tp=8,tp=4", "", "tp is given twice"},
		{"--how tp=8 --how tp=4", "", "tp is given twice"},
		{"--how pt=8", "", `it has no "pt": write tp=…,order=…,staged`},
		{"--how tp", "", "tp=… needs a value"},
		{"--how tp=", "", "tp=… needs a value"},
		{"--how tp=x", "", "--how tp=x: must be a whole number"},
	} {
		var tp int
		var order []string
		var staged bool
		cmd := &cobra.Command{Use: "do", RunE: func(*cobra.Command, []string) error { return nil }}
		how := AddOptions(cmd, "how", "how:")
		how.IntVar(&tp, "tp", 0, "GPUs")
		how.StringSliceVar(&order, "order", nil, "axes")
		how.BoolVar(&staged, "staged", false, "through the host")
		var out, complaints strings.Builder
		code := Run(Root(&cobra.Command{Use: "prog"}, "# prog", nil, cmd), append([]string{"do"}, strings.Fields(c.args)...), &out,
			&complaints)
		got := fmt.Sprint(tp, order, staged)
		if (code == 0) != (c.err == "") || code == 0 && got != c.want || !strings.Contains(complaints.String(), c.err) {
			t.Errorf("%s: %d, %s, %q", c.args, code, got, complaints.String())
		}
	}
}

// TestAssign: a value goes to a flag, or to the option of one.
func TestAssign(t *testing.T) {
	cmd := &cobra.Command{}
	cmd.Flags().Int("nodes", 0, "")
	AddOptions(cmd, "prices", "").Int("months", 0, "")
	for _, c := range [][2]string{{"nodes", "--nodes=4"}, {"months", "--prices=months=4"}, {"unknown", "--unknown=4"}} {
		if got := Assign(cmd, c[0], "4"); got != c[1] {
			t.Errorf("%s: %s", c[0], got)
		}
	}
}
