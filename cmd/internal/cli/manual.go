package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// document has commands say of themselves what their program's manual says: a page with a section for each. The heading is how the
// command is called, the first paragraph says what it does and others more; the last one, if it is indented, has examples.
func document(root *cobra.Command, manual string) {
	for section := range strings.SplitSeq(manual, "\n## ") {
		text := strings.ReplaceAll(strings.TrimSpace(section), "\n    ", "\n  ")
		heading, text, _ := strings.Cut(text, "\n\n")
		cmd := root
		if name, isRoot := strings.CutPrefix(heading, "# "); isRoot {
			cmd.Use = name
		} else {
			var err error
			cmd, _, err = root.Find(strings.Fields(heading))
			Must(err)
			above := strings.TrimPrefix(cmd.Parent().CommandPath()+" ", root.Name()+" ")
			cmd.Use = strings.TrimPrefix(heading, above)
		}
		cmd.Short, cmd.Long, _ = strings.Cut(text, "\n\n")
		if i := strings.LastIndex("\n\n"+cmd.Long, "\n\n"); strings.HasPrefix(cmd.Long[i:], "  ") {
			cmd.Long, cmd.Example = strings.TrimSpace(cmd.Long[:i]), cmd.Long[i:]
		}
	}
}
