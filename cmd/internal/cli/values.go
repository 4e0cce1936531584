package cli

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// What a flag, or an option of one, may say, as annotations of it.
const (
	words     = "railyard_words"
	bounds    = "railyard_bounds"
	completed = "railyard_completed"
	orFile    = "railyard_file"
)

// OneOf says which words a flag may have; a shell completes them.
func OneOf(flags *pflag.FlagSet, name string, list ...string) {
	Must(flags.SetAnnotation(name, words, list))
}

// completeWords completes flags that have one of some words, and those beside whose words files may be named.
func completeWords(cmd *cobra.Command, lists map[string][]string) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		for _, kind := range []string{words, completed} {
			list := f.Annotations[kind]
			if list == nil {
				continue
			}
			if len(list) == 1 && strings.HasPrefix(list[0], "{") {
				list = lists[strings.Trim(list[0], "{}")]
			}
			f.Annotations[kind] = list
			beside := cobra.ShellCompDirectiveNoFileComp
			if _, file := f.Annotations[orFile]; file {
				beside = cobra.ShellCompDirectiveDefault
			}
			Must(cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(list, beside)))
		}
	})
}

// wrongValue is the error of the first flag that was given a value that it cannot have; between is what stands before its name, and
// between it and the value.
func wrongValue(flags *pflag.FlagSet, before, between string) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, many := f.Value.(pflag.SliceValue); many {
			values = list.GetSlice()
		}
		for _, v := range values {
			if must := mustBe(f, v); must != "" && err == nil {
				err = fmt.Errorf("%s%s%s%s: must be %s", before, f.Name, between, v, must)
			}
		}
		if o, ok := f.Value.(*Options); ok && err == nil {
			err = wrongValue(o.FlagSet, "--"+f.Name+" ", "=")
		}
	})
	return err
}

// mustBe says what a flag's value has to be, "" where it is that.
func mustBe(f *pflag.Flag, value string) string {
	if list := f.Annotations[words]; list != nil && !slices.Contains(list, value) {
		return "one of " + strings.Join(list, ", ")
	}
	if b := f.Annotations[bounds]; b != nil {
		var n [3]int // the bounds are ours, the value was read by the flag already
		for i, text := range append(slices.Clone(b), value) {
			n[i], _ = strconv.Atoi(text)
		}
		switch {
		case n[2] >= n[0] && n[2] <= n[1]:
		case n[1] == math.MaxInt:
			return fmt.Sprintf("at least %d", n[0])
		default:
			return fmt.Sprintf("from %d to %d", n[0], n[1])
		}
	}
	return ""
}
