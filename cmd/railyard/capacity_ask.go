package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/model/yamlfile"
)

// questionSchema is the version of question files.
const questionSchema = "railyard.question/v1"

// askFile asks the question of a file.
func askFile(cmd *cobra.Command, file string) error {
	words, err := readQuestion(file, questions(cmd))
	if err != nil {
		return err
	}
	if err := execute(cmd.Context(), words, cmd.OutOrStdout(), cmd.ErrOrStderr()); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// questions are the commands that a file may name.
func questions(ask *cobra.Command) (out []*cobra.Command) {
	for _, c := range ask.Parent().Commands() {
		if c.Name() != ask.Name() && c.Flags().Lookup("format") != nil {
			out = append(out, c)
		}
	}
	return out
}

func names(commands []*cobra.Command) string {
	var out []string
	for _, c := range commands {
		out = append(out, c.Name())
	}
	return strings.Join(out, ", ")
}

// readQuestion is the command line that a file stands for.
func readQuestion(file string, commands []*cobra.Command) ([]string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	d := &yamlfile.Diagnostics{File: file}
	root := yamlfile.Format{Schema: questionSchema, Noun: "question", Repeat: "lists of values"}.Parse(d, data)
	if root == nil {
		return nil, d.Err()
	}
	o := yamlfile.NewObject(d, root, "question file")
	o.Allow("schema")
	name := o.Text("question", true)
	words := []string{"capacity", name}
	i := slices.IndexFunc(commands, func(c *cobra.Command) bool { return c.Name() == name })
	if i < 0 {
		i = 0
		if name != "" {
			o.AddAt(o.Where("question"), "question: %q must be one of %s", name, names(commands))
		}
	}
	o.Mapping("flags", func(flag string, n *yamlfile.Node) {
		values, plain := yamlfile.Elements(n)
		if !plain {
			o.AddAt(yamlfile.At(n), "flag %s: must be a value or a list of values", flag)
		}
		for _, v := range values {
			words = append(words, cli.Assign(commands[i], flag, v.Value))
		}
	})
	o.Done()
	return words, d.Err()
}
