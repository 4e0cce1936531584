package symmetry_test

import (
	"slices"
	"testing"

	"railyard/model/symmetry"
)

// Numbers are those of classes, whose first members are listed in their order.
func TestNumberingIsThatOfClasses(t *testing.T) {
	words := []string{"b", "a", "b", "", "a", "c", ""}
	classes := symmetry.Number(words)
	var n symmetry.Numbering[string]
	for i, word := range words {
		if got := n.Of(word); got != int(classes.Of[i]) || n.All[got] != word {
			t.Errorf("%q is number %d, %q", word, got, n.All[got])
		}
	}
	if !slices.Equal(n.All, []string{"b", "a", "", "c"}) {
		t.Errorf("numbered are %q", n.All)
	}
}
