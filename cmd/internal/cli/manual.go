package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"railyard/report/table"
)

// document has commands say of themselves what their program's manual says: a page with a section for each. The heading is how the
// command is called, the first paragraph says what it does and others more; the last one, if it is indented, has examples. Paragraphs of
// lines such as
//
//   - `--nodes`: number of nodes
//
// say what flags mean, in the section Flags for all commands that do not say it themselves. {NAME} stands for a list of words.
func document(root *cobra.Command, manual string, lists map[string][]string) {
	for name, words := range lists {
		manual = strings.ReplaceAll(manual, "{"+name+"}", strings.Join(words, ", "))
	}
	shared, own := map[string]string{}, map[*cobra.Command]map[string]string{}
	for section := range strings.SplitSeq(manual, "\n## ") {
		heading, text, _ := strings.Cut(strings.TrimSpace(section), "\n\n")
		text, flags := meanings(text)
		if heading == "Flags" {
			shared = flags
			continue
		}
		own[describe(root, heading, text)] = flags
	}
	forEach(root, func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			explain(f, f.Name, own[cmd], shared)
			if o, ok := f.Value.(*Options); ok {
				o.VisitAll(func(x *pflag.Flag) { explain(x, f.Name+" "+x.Name, own[cmd], shared) })
			}
		})
		for name := range own[cmd] {
			panic(fmt.Sprintf("manual: %s has no flag --%s", cmd.CommandPath(), name))
		}
	})
}

// describe gives the command of a heading its texts.
func describe(root *cobra.Command, heading, text string) *cobra.Command {
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
	cmd.Short, cmd.Long, _ = strings.Cut(strings.ReplaceAll(text, "\n    ", "\n  "), "\n\n")
	cmd.Long = filled(cmd.Long)
	if i := strings.LastIndex("\n\n"+cmd.Long, "\n\n"); strings.HasPrefix(cmd.Long[i:], "  ") {
		cmd.Long, cmd.Example = strings.TrimSpace(cmd.Long[:i]), cmd.Long[i:]
	}
	return cmd
}

// filled breaks the lines of paragraphs anew that lists of words have made too wide.
func filled(text string) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		wide := slices.ContainsFunc(strings.Split(p, "\n"), func(line string) bool { return len(line) > table.Columns })
		if wide && !strings.Contains("\n"+p, "\n ") {
			paragraphs[i] = strings.Join(table.Wrap(strings.ReplaceAll(p, "\n", " "), table.Columns), "\n")
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

// meanings takes what flags mean out of a section.
func meanings(section string) (text string, flags map[string]string) {
	var rest []string
	flags = map[string]string{}
	for paragraph := range strings.SplitSeq(section, "\n\n") {
		if !strings.HasPrefix(paragraph, "- `--") {
			rest = append(rest, paragraph)
			continue
		}
		for line := range strings.Lines(paragraph) {
			name, usage, _ := strings.Cut(strings.TrimPrefix(line, "- `--"), "`: ")
			flags[name] = strings.TrimSpace(usage)
		}
	}
	return strings.Join(rest, "\n\n"), flags
}

// explain gives a flag the meaning that its command's section has under a name, and takes it from there, or else the one that all share.
func explain(f *pflag.Flag, name string, own, shared map[string]string) {
	for _, said := range []map[string]string{own, shared} {
		if usage, ok := said[name]; ok {
			f.Usage = usage
			delete(own, name)
			return
		}
	}
}
