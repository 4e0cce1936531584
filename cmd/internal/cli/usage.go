package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"railyard/internal/spelling"
)

// usageError marks what the user can mend by reading --help.
type usageError struct{ error }

// Usage marks an error as wrong usage.
func Usage(err error) error { return usageError{err} }

// Usagef is fmt.Errorf for wrong usage.
func Usagef(format string, args ...any) error { return Usage(fmt.Errorf(format, args...)) }

// NoEffect is the error of the first of some flags, or options of one such as "how steps", that is given though it changes nothing.
func NoEffect(cmd *cobra.Command, why string, flags ...string) error {
	for _, flag := range flags {
		name, option, isOption := strings.Cut(flag, " ")
		if cmd.Flags().Changed(name) && (!isOption || OptionsOf(cmd, name).Changed(option)) {
			return Usagef("--%s has no effect %s", flag, why)
		}
	}
	return nil
}

// ParseAll reads the values of a flag that takes several.
func ParseAll[T any](texts []string, parse func(string) (T, error)) ([]T, error) {
	out := make([]T, len(texts))
	for i, text := range texts {
		var err error
		if out[i], err = parse(text); err != nil {
			return nil, Usage(err)
		}
	}
	return out, nil
}

// UnknownCommand makes a mistyped subcommand a usage error with cobra's suggestions.
func UnknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	msg := fmt.Sprintf("unknown command %q", args[0])
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		msg += fmt.Sprintf("; did you mean %q?", near[0])
	}
	return Usage(errors.New(msg))
}

// readable is what a flag's value has to be, by its type.
var readable = map[string]string{"int": "a whole number", "int64": "a whole number", "uint64": "a whole number from 0 on",
	"float64": "a number", "duration": "a time such as 10s", "bool": "true or false", "intSlice": "whole numbers, with commas between"}

// flagError says what is wrong with a flag, or with an option of one, in words of the command line, not of the library that read it.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		return suggestFlags(cmd, unknown)
	}
	var wrong, option *pflag.InvalidValueError
	if !errors.As(err, &wrong) {
		return err
	}
	name := "--" + wrong.GetFlag().Name + " "
	if wrong.GetFlag().Value.Type() == optionsType && errors.As(wrong.Unwrap(), &option) {
		wrong, name = option, name+option.GetFlag().Name+"="
	}
	if must := readable[wrong.GetFlag().Value.Type()]; must != "" && !errors.Is(wrong, errTwice) {
		return fmt.Errorf("%s%s: must be %s", name, cmp.Or(wrong.GetValue(), `""`), must)
	}
	return err
}

// suggestFlags adds to the error of an unknown flag those whose names are like it.
func suggestFlags(cmd *cobra.Command, err *pflag.NotExistError) error {
	var near []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if len(err.GetSpecifiedName()) > 2 && spelling.Distance(err.GetSpecifiedName(), f.Name) <= 2 {
			near = append(near, "--"+f.Name)
		}
	})
	if len(near) == 0 {
		return err
	}
	return fmt.Errorf("%w; did you mean %s?", err, strings.Join(near, " or "))
}

// strictNames makes mistyped names behind cobra's own commands usage errors: `help nope` and
// `completion nope` would print help and succeed.
func strictNames(root *cobra.Command) {
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Args = func(_ *cobra.Command, args []string) error {
				on, rest, err := root.Find(args)
				if err != nil {
					return err
				}
				return UnknownCommand(on, rest)
			}
		case "completion":
			c.Args, c.RunE = UnknownCommand, func(c *cobra.Command, _ []string) error { return c.Help() }
		}
	}
}

// strictArgs takes the values that may stand as arguments, and turns a command's complaint about
// the others, or about a flag that is missing or empty, into a usage error.
func strictArgs(cmd *cobra.Command) {
	check, run, taken := cmd.Args, cmd.RunE, 0
	if check == nil {
		check = cobra.ArbitraryArgs
	}
	cmd.Args = func(c *cobra.Command, args []string) (err error) {
		for _, check := range []func() error{
			func() (err error) { taken, err = takePositional(c, args); return err },
			func() error { return missingPositional(c) },
			func() error { return check(c, args[taken:]) },
			c.ValidateRequiredFlags,
			func() error { return emptyFlag(c) },
			func() error { return dash(c, args) },
			func() error { return wrongValue(c.Flags(), "--", " ") },
		} {
			if err := check(); err != nil {
				return Usage(err)
			}
		}
		return nil
	}
	if run != nil {
		cmd.RunE = func(c *cobra.Command, args []string) error { return run(c, args[taken:]) }
	}
	if f := positionalFlag(cmd); f != nil {
		if complete, ok := cmd.GetFlagCompletionFunc(f.Name); ok {
			cmd.ValidArgsFunction = complete
		}
	}
}

// onlyOnce makes a flag that is given twice wrong usage, but for those that add to a list:
// the first one would have no effect.
func onlyOnce(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if _, many := f.Value.(pflag.SliceValue); many {
			return
		}
		f.Value = &once{Value: f.Value}
		if f.DefValue == "0s" {
			f.DefValue = "0" // which help leaves out, whatever the type
		}
	})
}

var errTwice = errors.New("is given twice")

// once is a flag's value that is set once.
type once struct {
	pflag.Value
	given bool
}

// Set implements pflag.Value.
func (o *once) Set(text string) error {
	if o.given {
		return fmt.Errorf("it %w", errTwice)
	}
	o.given = true
	return o.Value.Set(text)
}

// emptyFlag is the error of a text flag that was given without text, as by a script whose
// variable is not set: it would count as left out.
func emptyFlag(cmd *cobra.Command) error {
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		list, many := f.Value.(pflag.SliceValue)
		if f.Value.Type() == "string" && f.Value.String() == "" || many && slices.Contains(list.GetSlice(), "") {
			err = fmt.Errorf("--%s is empty: give a value or leave the flag out", f.Name)
		}
	})
	return err
}

// dash is the error of "-" as a name. Most commands that write files say something on standard output besides, where the two would be one
// text; so it is refused everywhere rather than taken for a file's name here and for a stream there.
func dash(cmd *cobra.Command, args []string) error {
	for _, a := range args {
		if a == "-" {
			return errDash
		}
	}
	var err error
	check := func(on string, f *pflag.Flag) {
		list, many := f.Value.(pflag.SliceValue)
		if f.Value.String() == "-" || many && slices.Contains(list.GetSlice(), "-") {
			err = fmt.Errorf("%s%s: %w", on, f.Name, errDash)
		}
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		check("--", f)
		if o, ok := f.Value.(*Options); ok {
			o.Visit(func(x *pflag.Flag) { check("--"+f.Name+" ", x) })
		}
	})
	return err
}

var errDash = errors.New(`"-" is no name: name a file, or a pipe such as /dev/stdin`)
