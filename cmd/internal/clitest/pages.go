package clitest

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
)

// pages are all that people read about the programs; not what releases changed, which has commands of its time.
func pages(t *testing.T) (pages []string) {
	t.Helper()
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "docs/*/*/*.md", "cmd/*/manual.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	return slices.DeleteFunc(pages, func(p string) bool { return strings.HasPrefix(strings.ToLower(filepath.Base(p)), "change") })
}

// DocumentedCommands holds every command line of a program that pages show against the program itself: commands, flags, their
// values and the number of arguments; nothing is run. It goes to the repository's root, where readers are. wrong looks at the values of
// a command that was understood (topologies, files): the error says what is wrong with them. starts are how pages write the program's name.
func DocumentedCommands(t *testing.T, newRoot func() *cobra.Command, wrong func(*cobra.Command) error, starts ...string) {
	t.Helper()
	t.Chdir("../..")
	seen, asked := 0, map[string]bool{}
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		lines, spans := code(string(text))
		for i, line := range slices.Concat(lines, spans) {
			if asked[line] {
				continue
			}
			asked[line] = true
			for _, words := range commandsOf(line, starts) {
				seen++
				said := dryRun(newRoot, wrong, words)
				if said != "" && (i < len(lines) || !incomplete.MatchString(said)) {
					t.Errorf("%s: %s\n%s", page, line, said)
				}
			}
		}
	}
	if seen == 0 {
		t.Error("no page shows a command")
	}
}

var (
	fenced   = regexp.MustCompile("(?ms)^```\\w*\n(.*?)^```$")
	indented = regexp.MustCompile(`(?m)^    .*$`)
	span     = regexp.MustCompile("`([^`]+)`")
	// What is said of a command that lacks something, as sentences may name it.
	incomplete = regexp.MustCompile(`requires at least|accepts \d|which \w+\?|needs an argument|required flag|arg\(s\)`)
	follows    = regexp.MustCompile(`\\\n\s*`)
)

// code are the lines of code in a page, of which what goes on after a backslash is one, and the spans in its sentences.
func code(page string) (lines, spans []string) {
	page = follows.ReplaceAllString(page, "")
	for _, block := range fenced.FindAllStringSubmatch(page, -1) {
		lines = append(lines, strings.Split(block[1], "\n")...)
	}
	page = fenced.ReplaceAllString(page, "")
	lines = append(lines, indented.FindAllString(page, -1)...)
	for _, s := range span.FindAllStringSubmatch(indented.ReplaceAllString(page, ""), -1) {
		spans = append(spans, strings.ReplaceAll(s[1], "\n", " "))
	}
	return lines, spans
}

// launchers start other programs.
var launchers = []string{"srun", "mpirun", "mpiexec.hydra", "torchrun", "nice", "time"}

// commandsOf are the arguments of the program's commands in a line of a shell, without those that leave something open (…).
func commandsOf(line string, starts []string) (out [][]string) {
	if strings.Contains(line, "…") {
		return nil
	}
	for _, words := range simpleCommands(line) {
		for len(words) > 0 && strings.Contains(words[0], "=") {
			words = words[1:]
		}
		for _, start := range starts {
			start, behind := strings.Fields(start), words
			if len(words) > 0 && slices.Contains(launchers, words[0]) {
				behind = words[max(0, slices.Index(words, start[0])):]
			}
			if len(behind) >= len(start) && slices.Equal(behind[:len(start)], start) {
				out = append(out, behind[len(start):])
			}
		}
	}
	return out
}

// simpleCommands splits a line as a shell does, without what redirects.
func simpleCommands(line string) (out [][]string) {
	var words []string
	redirected := false
	for _, word := range cli.Words(line) {
		switch {
		case strings.HasPrefix(word, "#"):
			return append(out, words)
		case slices.Contains([]string{"&&", "||", "|", ";", "&"}, word):
			out, words, redirected = append(out, words), nil, false
		case strings.ContainsAny(word[:min(2, len(word))], "<>"):
			redirected = true
		case !redirected:
			words = append(words, word)
		}
	}
	return append(out, words)
}

// dryRun is what the program says against a command; "" where it would run.
func dryRun(newRoot func() *cobra.Command, wrong func(*cobra.Command) error, words []string) string {
	root := newRoot()
	cmd, rest, err := root.Find(words)
	if err != nil {
		return err.Error()
	}
	if len(rest) == 0 && cmd != root {
		return "" // the name of a command
	}
	var question []string
	each(root, func(c *cobra.Command) {
		c.RunE = func(c *cobra.Command, args []string) error {
			if dash := c.ArgsLenAtDash(); dash >= 0 {
				question = args[dash:]
			}
			return wrong(c)
		}
	})
	var said bytes.Buffer
	if cli.Run(root, words, io.Discard, &said) != 0 {
		return said.String()
	}
	if question != nil {
		return dryRun(newRoot, wrong, question)
	}
	return ""
}

func each(cmd *cobra.Command, do func(*cobra.Command)) {
	do(cmd)
	for _, sub := range cmd.Commands() {
		each(sub, do)
	}
}
