package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Options are a flag's own flags: what belongs together is said in one, as
// --goodput checkpoint=60s,restart=10m. It may be given several times.
type Options struct {
	*pflag.FlagSet
	given []string
}

// AddOptions adds a flag that has options; they are added to what it returns.
func AddOptions(cmd *cobra.Command, name, usage string) *Options {
	o := &Options{FlagSet: pflag.NewFlagSet(name, pflag.ContinueOnError)}
	o.SortFlags = false
	cmd.Flags().Var(o, name, usage)
	return o
}

// OptionsOf are those that a command has under a name.
func OptionsOf(cmd *cobra.Command, name string) *Options {
	return cmd.Flags().Lookup(name).Value.(*Options)
}

// Assign is the argument that gives a flag of a command, or an option of one, a value.
func Assign(cmd *cobra.Command, name, value string) string {
	out := "--" + name + "=" + value
	if cmd.Flags().Lookup(name) != nil {
		return out
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if o, ok := f.Value.(*Options); ok && o.Lookup(name) != nil {
			out = "--" + f.Name + "=" + name + "=" + value
		}
	})
	return out
}

// Set implements pflag.Value.
func (o *Options) Set(text string) error {
	for _, part := range o.split(text) {
		key, value, ok := strings.Cut(part, "=")
		f := o.Lookup(key)
		if f == nil {
			return fmt.Errorf("it has no %q: write %s", key, o.keys())
		}
		switch _, many := f.Value.(pflag.SliceValue); {
		case f.Changed && !many:
			return fmt.Errorf("%s %w", key, errTwice)
		case !ok && f.NoOptDefVal == "" || ok && value == "":
			return fmt.Errorf("%s=… needs a value", key)
		case !ok:
			value = f.NoOptDefVal
		}
		if err := o.FlagSet.Set(key, value); err != nil {
			return err
		}
	}
	o.given = append(o.given, text)
	return nil
}

// split cuts at commas; what has no key there belongs to the value before it.
func (o *Options) split(text string) (out []string) {
	for _, part := range strings.Split(text, ",") {
		if key, _, ok := strings.Cut(part, "="); !ok && o.Lookup(key) == nil && len(out) > 0 {
			out[len(out)-1] += "," + part
			continue
		}
		out = append(out, part)
	}
	return out
}

func (o *Options) keys() string {
	var keys []string
	o.VisitAll(func(f *pflag.Flag) {
		if f.NoOptDefVal != "" {
			keys = append(keys, f.Name)
		} else {
			keys = append(keys, f.Name+"=…")
		}
	})
	return strings.Join(keys, ",")
}

// Type implements pflag.Value.
func (o *Options) Type() string { return optionsType }

const optionsType = "options"

// String implements pflag.Value.
func (o *Options) String() string { return strings.Join(o.given, ",") }

// Append implements pflag.SliceValue: an option, not the flag, is given once.
func (o *Options) Append(text string) error { return o.Set(text) }

// Replace implements pflag.SliceValue.
func (o *Options) Replace([]string) error { return fmt.Errorf("options are not replaced") }

// GetSlice implements pflag.SliceValue.
func (o *Options) GetSlice() []string { return slices.Clone(o.given) }

// shortOption is an option as a flag of its own: --fabric=efa is --how=fabric=efa.
type shortOption struct {
	pflag.Value
	set func(text string) error
}

// Set implements pflag.Value.
func (o shortOption) Set(text string) error { return o.set(text) }

// shortenOptions lets options be given without the name of their flag, where no other flag of the command has theirs.
func shortenOptions(cmd *cobra.Command) {
	fl, short := cmd.Flags(), pflag.NewFlagSet("", pflag.ContinueOnError)
	fl.VisitAll(func(f *pflag.Flag) {
		o, ok := f.Value.(*Options)
		if !ok {
			return
		}
		o.VisitAll(func(x *pflag.Flag) {
			set := func(text string) error { return fl.Set(f.Name, x.Name+"="+text) }
			if fl.Lookup(x.Name) == nil && short.Lookup(x.Name) == nil {
				short.AddFlag(&pflag.Flag{Name: x.Name, Usage: x.Usage, NoOptDefVal: x.NoOptDefVal, Hidden: true,
					Value: shortOption{x.Value, set}})
			}
		})
	})
	fl.AddFlagSet(short)
}

// explainOptions writes the options of a command's flags into its help.
func explainOptions(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		o, ok := f.Value.(*Options)
		if !ok {
			return
		}
		o.VisitAll(func(x *pflag.Flag) {
			usage := x.Usage
			if d := x.DefValue; d != "" && d != "0" && d != "0s" && d != "[]" && d != "false" && d != "-1" {
				usage += " (default " + d + ")"
			}
			f.Usage += "\n  " + x.Name + ": " + usage
		})
	})
}
