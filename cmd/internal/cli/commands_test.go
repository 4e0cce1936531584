package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	_ "railyard/internal/long"
	"railyard/internal/outfile"

	"github.com/spf13/cobra"
)

// show is a command that takes a topology, as a flag or an argument, and a GPU, and writes a file.
type show struct {
	Topology string `flag:"topology,t,need,positional"`
	Out      string `flag:"output,o,writes"`
}

// Args is a GPU.
func (f *show) Args(cmd *cobra.Command, args []string) error { return cobra.ExactArgs(1)(cmd, args) }

// Run prints both.
func (f *show) Run(cmd *cobra.Command, args []string) error {
	_, err := io.WriteString(cmd.OutOrStdout(), f.Topology+" "+strings.Join(args, ","))
	if err == nil && f.Out != "" {
		err = outfile.Write(f.Out, func(w io.Writer) error { _, err := io.WriteString(w, f.Topology); return err })
	}
	return err
}

// play runs a program whose only command is show.
func play(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var o, e bytes.Buffer
	code = Run(Root(&cobra.Command{Use: "prog"}, "# prog", nil, New("show", new(show))), append([]string{"show"}, args...), &o, &e)
	return code, o.String(), e.String()
}

// TestPositional: a flag's value may be the first argument, and is said to be missing.
func TestPositional(t *testing.T) {
	for _, c := range []struct {
		args   string
		code   int
		stdout string
		stderr string
	}{
		{"dgx gpu0", 0, "dgx gpu0", ""},
		{"-t dgx gpu0", 0, "dgx gpu0", ""},
		{"gpu0 -t dgx", 0, "dgx gpu0", ""},
		{"-t dgx gpu0 gpu1", 2, "", "accepts 1 arg"},
		{"dgx", 2, "", "accepts 1 arg"},
		{"", 2, "", "which topology? name one, such as prog show dgx-h100"},
		{"--topology= gpu0", 2, "", "--topology is empty"},
	} {
		code, stdout, stderr := play(t, strings.Fields(c.args)...)
		if code != c.code || stdout != c.stdout || !strings.Contains(stderr, c.stderr) {
			t.Errorf("%q: %d, %q, %q", c.args, code, stdout, stderr)
		}
	}
}

// TestForce: a file that exists is replaced only with --force, and is left as it was before anything is done.
func TestForce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out")
	if code, _, stderr := play(t, "a", "x", "-o", file); code != 0 {
		t.Fatal(stderr)
	}
	code, stdout, stderr := play(t, "b", "x", "-o", file)
	if code != 1 || stdout != "" || !strings.Contains(stderr, "exists: name another file, or replace it with --force") {
		t.Errorf("%d, %q, %q", code, stdout, stderr)
	}
	if text, err := os.ReadFile(file); string(text) != "a" {
		t.Errorf("%q, %v", text, err)
	}
	if code, _, stderr := play(t, "b", "x", "-o", file, "--force"); code != 0 {
		t.Error(stderr)
	}
	if text, err := os.ReadFile(file); string(text) != "b" {
		t.Errorf("%q, %v", text, err)
	}
	if code, _, stderr := play(t, "c", "x", "-o", os.DevNull); code != 0 {
		t.Errorf("a device needs --force: %s", stderr)
	}
}

// TestWatched: a line tells how long a command has taken, from a second on, and how far it is, and
// is gone before anything is printed.
func TestWatched(t *testing.T) {
	var terminal bytes.Buffer
	x := &watched{name: "prog plan", began: time.Now(), w: &terminal}
	out := &clearing{&terminal, x}
	say := func(text string) {
		if _, err := io.WriteString(out, text); err != nil {
			t.Fatal(err)
		}
	}
	x.show()
	say("a")
	x.began = x.began.Add(-3 * time.Second)
	x.show()
	say("b")
	p := &Progress{x: x, what: "planning"}
	p.Set(2, 7)
	p.Say("1 GiB")
	x.show()
	p.Finish()
	x.show()
	now.Store(x)
	defer now.Store(nil)
	NewProgress(&terminal, "of a command that another one runs").Set(1, 2)
	x.show()
	if got, want := terminal.String(),
		"a\r\x1b[Kprog plan: 3 s\r\x1b[Kb\r\x1b[Kprog plan: 3 s, planning 2 of 7 1 GiB\r\x1b[Kprog plan: 3 s"+
			"\r\x1b[Kprog plan: 3 s"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestManual: what commands say of themselves comes from the page.
func TestManual(t *testing.T) {
	run := func(*cobra.Command, []string) error { return nil }
	plan := &cobra.Command{Use: "plan", RunE: run}
	plan.Flags().String("things", "", "")
	AddOptions(plan, "how", "").Int("many", 0, "")
	root := Root(&cobra.Command{Use: "prog"}, strings.ReplaceAll(`# prog

Plans

    prog do plan x

## do plan THING

Plan one

Long ago,
far away:

    a list

So it is.

- '--things': {things}
- '--how many': of them

    prog do plan x \
      --more
    prog do plan y

## do

Does

## Flags

- '--how': in what way:
- '--things': never shown
`, "'", "`"), map[string][]string{"things": {"a", "b"}}, Group(&cobra.Command{Use: "do"}, plan))
	if root.Short != "Plans" || root.Long != "" || root.Example != "  prog do plan x" {
		t.Errorf("%q, %q, %q", root.Short, root.Long, root.Example)
	}
	if plan.Use != "plan THING" || plan.Short != "Plan one" || plan.Long != "Long ago,\nfar away:\n\n  a list\n\nSo it is." ||
		plan.Example != "  prog do plan x \\\n    --more\n  prog do plan y" {
		t.Errorf("%q, %q, %q, %q", plan.Use, plan.Short, plan.Long, plan.Example)
	}
	for name, want := range map[string]string{"things": "a, b", "how": "in what way:\n  many: of them"} {
		if got := plan.Flags().Lookup(name).Usage; got != want {
			t.Errorf("--%s: %q, want %q", name, got, want)
		}
	}
	if do := plan.Parent(); do.Short != "Does" || do.Example != "" {
		t.Errorf("%q, %q", do.Short, do.Example)
	}
}

// TestFlags: what tags say of fields is what flags do; structs inside lack some, and what fields hold is their default.
func TestFlags(t *testing.T) {
	type part struct {
		Words []string `flag:"words,commas,default=a|b"`
		Left  bool     `flag:"left"`
		Name  string   `flag:"name,need"`
	}
	for _, c := range []struct{ args, want, err string }{
		{"", "&{{[a b] false } 2 x [] 0}", ""},
		{"--words c,d -n 3 --how kind=y --list 1,2 --list 3", "&{{[c d] false } 3 y [1,2 3] 0}", ""},
		{"--left", "", "unknown flag: --left"},
		{"--numbr 3", "", "unknown flag: --numbr; did you mean --number?"},
		{"-n three", "", "--number three: must be a whole number"},
		{"--how times=x", "", "--how times=x: must be a whole number"},
		{"--how times=1,times=2", "", "times is given twice"},
		{"-n 1 -n 2", "", "it is given twice"},
		{"more", "", "more: prog do takes no such argument"},
		{"-n 0", "", "--number 0: must be at least 1"},
		{"--how kind=z", "", "--how kind=z: must be one of x, y"},
	} {
		f := &struct {
			Part   part     `without:"left" optional:"name"`
			Number int      `flag:"number,n,lo=1"`
			Kind   string   `flag:"how kind,default=x,one=x|y"`
			List   []string `flag:"list"`
			Times  int      `flag:"how times"`
		}{Number: 2}
		var o, e bytes.Buffer
		cmd := New("do", nothing{})
		(&declaration{cmd: cmd}).fields(reflect.ValueOf(f).Elem())
		code := Run(Root(&cobra.Command{Use: "prog"}, "# prog", nil, cmd), append([]string{"do"}, strings.Fields(c.args)...), &o, &e)
		if got := fmt.Sprint(f); (code == 0) != (c.err == "") || code == 0 && got != c.want || !strings.Contains(e.String(), c.err) {
			t.Errorf("%q: %d, %s, %q", c.args, code, got, e.String())
		}
	}
}

// nothing is a command without flags that does nothing.
type nothing struct{}

// Run does nothing.
func (nothing) Run(*cobra.Command, []string) error { return nil }
