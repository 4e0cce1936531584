package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"gopkg.in/yaml.v3"

	"railyard/model/yamlfile"
)

// questionSchema is the version of question files.
const questionSchema = "railyard.question/v1"

func newCapacityAsk() *cobra.Command {
	return &cobra.Command{
		Use:   "ask FILE.yaml",
		Short: "Ask what a file says: a question, and its flags",
		Long: `Asks a question that is kept in a file, instead of flags on the command line:

  schema: railyard.question/v1
  question: size            # any command below "railyard capacity"
  flags:
    node: [dgx-h100, dgx-b200]
    counts: 8,16
    workload: llama-3-8b
    rate: 1e6`,
		Example: "  railyard capacity ask size.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			words, err := readQuestion(args[0], questions(cmd))
			if err != nil {
				return err
			}
			root := newRoot()
			root.SetArgs(words)
			root.SetOut(cmd.OutOrStdout())
			root.SetErr(cmd.ErrOrStderr())
			if err := root.ExecuteContext(cmd.Context()); err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			return nil
		},
	}
}

// questions are the commands that a file may name.
func questions(ask *cobra.Command) []string {
	var out []string
	for _, c := range ask.Parent().Commands() {
		if c.Name() != ask.Name() && c.Flags().Lookup("format") != nil {
			out = append(out, c.Name())
		}
	}
	return out
}

// readQuestion is the command line that a file stands for.
func readQuestion(file string, known []string) ([]string, error) {
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
	o.Known("schema")
	name := o.Text("question", true)
	words := []string{"capacity", name}
	if name != "" && !strings.Contains(" "+strings.Join(known, " ")+" ", " "+name+" ") {
		o.AddAt(o.Where("question"), "question: %q must be one of %s", name, strings.Join(known, ", "))
	}
	o.Mapping("flags", func(flag string, n *yaml.Node) {
		values := []*yaml.Node{n}
		if n.Kind == yaml.SequenceNode {
			values = n.Content
		}
		for _, v := range values {
			if v.Kind != yaml.ScalarNode {
				d.Add(v.Line, v.Column, "flag %s: must be a value or a list of values", flag)
			}
			words = append(words, "--"+flag+"="+v.Value)
		}
	})
	o.Done()
	return words, d.Err()
}
