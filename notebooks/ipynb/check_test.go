package ipynb

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	// absolute finds paths that exist on one machine only.
	absolute = regexp.MustCompile(`(^|[\s"'=(])(/(home|root|tmp|work|Users|usr|opt|mnt|var|etc)/|[A-Z]:\\)`)
	// pictures are calls of the function by which cells show one.
	pictures = regexp.MustCompile(`(?m)^\s*picture\(`)
)

// Mistakes says what must not be committed: notebooks are kept without outputs, so that
// only what somebody wrote is in the history, and run on any machine.
func (n *Notebook) Mistakes() []string {
	var out []string
	if n.Metadata.Kernel.Name != "gonb" {
		out = append(out, fmt.Sprintf("its kernel is %q, not gonb", n.Metadata.Kernel.Name))
	}
	for i, c := range n.Cells {
		add := func(format string, args ...any) {
			out = append(out, fmt.Sprintf("cell %d: ", i+1)+fmt.Sprintf(format, args...))
		}
		if c.Kind != "code" && c.Kind != "markdown" {
			add("its type is %q, neither code nor markdown", c.Kind)
		}
		if strings.TrimSpace(string(c.Source)) == "" {
			add("it is empty")
		}
		if p := absolute.FindString(string(c.Source)); p != "" {
			add("it names a path of one machine, %q", strings.TrimSpace(p))
		}
		if len(c.Outputs) > 0 || c.Executed != nil {
			add("it keeps outputs: `jupyter nbconvert --clear-output --inplace` removes them")
		}
	}
	return out
}

// Failures says what went wrong in a notebook that has run. A cell that panics ends with
// its trace on stderr and "exit status 2", of which nbconvert thinks nothing.
func (n *Notebook) Failures() []string {
	var out []string
	for i, c := range n.Cells {
		if c.Kind != "code" {
			continue
		}
		add := func(format string, args ...any) {
			out = append(out, fmt.Sprintf("cell %d: ", i+1)+fmt.Sprintf(format, args...))
		}
		if c.Executed == nil {
			add("it did not run")
		}
		shown := 0
		for _, o := range c.Outputs {
			switch {
			case o.Kind == "error":
				add("%s: %s", o.Error, o.Message)
			case o.Kind == "stream" && (o.Name == "stderr" || strings.Contains(string(o.Text), "exit status")):
				add("%s", strings.TrimSpace(string(o.Text)))
			case o.Kind == "display_data":
				shown++
			}
		}
		if want := len(pictures.FindAllString(string(c.Source), -1)); shown < want {
			add("it shows %d of %d pictures", shown, want)
		}
	}
	return out
}
