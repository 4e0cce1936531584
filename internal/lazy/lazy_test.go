package lazy

import (
	"testing"

	_ "railyard/internal/long" // accepts -long
)

// TestRegexpIsCompiledWhenUsed: a wrong expression does no harm until it is asked for; a right one is one and the same each time.
func TestRegexpIsCompiledWhenUsed(t *testing.T) {
	wrong, right := Regexp("("), Regexp("^a+$")
	if first := right(); right() != first || !first.MatchString("aa") || first.MatchString("ab") {
		t.Error("^a+$ is not one expression that matches aa alone")
	}
	defer func() {
		if recover() == nil {
			t.Error("( is an expression")
		}
	}()
	wrong()
}
