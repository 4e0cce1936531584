// Package lazy has regular expressions that are compiled when they are first asked for: a program that reads many formats begins
// without those of the others, which were a third of all that it allocated before it began.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression that is compiled once, when it is first used. A wrong one panics there.
func Regexp(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
