package cli

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Command is a command whose flags are the fields of a struct that have a tag:
//
//	Iterations int `flag:"iters,n,default=20,lo=1"`
//
// names the flag, its letter and then, where they apply,
//
//	default=X    its value where it is not given, parts of a list between |; what the field holds before comes first
//	lo=X, hi=X   the least and the largest whole number
//	one=A|B      the words that it may have, or the name of a list of them in braces (see Root)
//	complete=X   the list of which a shell completes it
//	files        it may be a file, too, which a shell completes
//	need         it has to be given
//	positional   arguments stand for it
//	writes       it names a file that the command writes
//	commas       a list whose values stand between commas, too
//
// A name of two words is an option of another flag (see Options). Structs in it have flags of their own; of these the tags without and
// optional of the struct's field name some that the command does not have, or does not need. What flags mean is in the program's manual.
type Command interface {
	Run(cmd *cobra.Command, args []string) error
}

// New makes a command. Where it has no method Args, it takes no arguments.
func New(name string, c Command) *cobra.Command {
	cmd := &cobra.Command{Use: name, Args: noArgs, RunE: c.Run}
	if a, ok := c.(interface {
		Args(cmd *cobra.Command, args []string) error
	}); ok {
		cmd.Args = a.Args
	}
	(&declaration{cmd: cmd}).fields(reflect.Indirect(reflect.ValueOf(c)))
	return cmd
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s takes no such argument", args[0], cmd.CommandPath())
}

// declaration adds the flags of a struct to a command, but for some.
type declaration struct {
	cmd               *cobra.Command
	without, optional []string
}

func (d *declaration) fields(v reflect.Value) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		tag, tagged := f.Tag.Lookup("flag")
		switch {
		case !f.IsExported() && !f.Anonymous:
		case tagged:
			d.flag(v.Field(i), tag)
		case f.Type.Kind() == reflect.Struct:
			inside := declaration{d.cmd, slices.Concat(d.without, strings.Fields(f.Tag.Get("without"))),
				slices.Concat(d.optional, strings.Fields(f.Tag.Get("optional")))}
			inside.fields(v.Field(i))
			if c, ok := v.Field(i).Addr().Interface().(interface{ check(*cobra.Command) error }); ok {
				d.cmd.PreRunE = func(cmd *cobra.Command, _ []string) error { return c.check(cmd) }
			}
		}
	}
}

// FlagNames are the names of the flags that the fields of a struct are; flags is a pointer to it.
func FlagNames(flags any) (out []string) {
	t := reflect.TypeOf(flags).Elem()
	for i := range t.NumField() {
		if tag, tagged := t.Field(i).Tag.Lookup("flag"); tagged {
			name, _, _ := strings.Cut(tag, ",")
			out = append(out, name)
		}
	}
	return out
}

// flag adds a flag with what its tag says.
func (d *declaration) flag(v reflect.Value, tag string) {
	words := strings.Split(tag, ",")
	name, letter, said := words[0], "", map[string]string{}
	for _, word := range words[1:] {
		if len(word) == 1 {
			letter = word
			continue
		}
		key, value, _ := strings.Cut(word, "=")
		said[key] = value
	}
	if slices.Contains(d.without, name) {
		return
	}
	flags, _, isOption := strings.Cut(name, " ")
	on := d.cmd.Flags()
	if isOption {
		on, name = optionsNamed(d.cmd, flags).FlagSet, strings.TrimPrefix(name, flags+" ")
	}
	_, commas := said["commas"]
	if value := said["default"]; v.IsZero() && value != "" {
		first := pflag.NewFlagSet(name, pflag.PanicOnError)
		variable(first, v, name, "", true)
		Must(first.Set(name, strings.ReplaceAll(value, "|", ",")))
	}
	needed := v.IsZero() && !slices.Contains(d.optional, name)
	variable(on, v, name, letter, commas)
	d.limit(on, name, said)
	for key := range said {
		switch key {
		case "need":
			if needed {
				Must(on.SetAnnotation(name, cobra.BashCompOneRequiredFlag, []string{"true"}))
			}
		case "positional", "writes":
			Must(on.SetAnnotation(name, "railyard_"+key, nil))
		case "default", "commas", "lo", "hi", "one", "complete", "files":
		default:
			panic(fmt.Sprintf("flag %s: what is %q?", name, key))
		}
	}
}

// limit says which values a flag may have.
func (d *declaration) limit(on *pflag.FlagSet, name string, said map[string]string) {
	if said["lo"]+said["hi"] != "" {
		Must(on.SetAnnotation(name, bounds, []string{cmp.Or(said["lo"], "0"), cmp.Or(said["hi"], strconv.Itoa(math.MaxInt))}))
	}
	if list := said["one"]; list != "" {
		OneOf(on, name, strings.Split(list, "|")...)
	}
	if list := said["complete"]; list != "" {
		Must(on.SetAnnotation(name, completed, []string{list}))
	}
	if _, file := said["files"]; file {
		Must(on.SetAnnotation(name, orFile, nil))
	}
}

// optionsNamed are a command's options under a name, made where it has none.
func optionsNamed(cmd *cobra.Command, name string) *Options {
	if cmd.Flags().Lookup(name) == nil {
		return AddOptions(cmd, name, "")
	}
	return OptionsOf(cmd, name)
}

// variable makes a flag of a variable, whose value is its default.
func variable(on *pflag.FlagSet, v reflect.Value, name, letter string, commas bool) {
	if v.Kind() == reflect.String { // of whatever type
		v = v.Addr().Convert(reflect.TypeFor[*string]()).Elem()
	}
	switch p := v.Addr().Interface().(type) {
	case *string:
		on.StringVarP(p, name, letter, *p, "")
	case *bool:
		on.BoolVarP(p, name, letter, *p, "")
	case *int:
		on.IntVarP(p, name, letter, *p, "")
	case *int64:
		on.Int64VarP(p, name, letter, *p, "")
	case *uint64:
		on.Uint64VarP(p, name, letter, *p, "")
	case *float64:
		on.Float64VarP(p, name, letter, *p, "")
	case *time.Duration:
		on.DurationVarP(p, name, letter, *p, "")
	case *[]int:
		on.IntSliceVarP(p, name, letter, *p, "")
	case *[]string:
		if commas {
			on.StringSliceVarP(p, name, letter, *p, "")
		} else {
			on.StringArrayVarP(p, name, letter, *p, "")
		}
	default:
		panic(fmt.Sprintf("flag %s: no way to read a %T", name, p))
	}
}
