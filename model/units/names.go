package units

import (
	"fmt"
	"slices"
)

// ParseName reads one of the names of something, whose place among them it stands for.
func ParseName[T ~uint8](to *T, what string, names []string, text []byte) error {
	i := slices.Index(names, string(text))
	if i < 0 {
		return fmt.Errorf("unknown %s %q: must be one of %v", what, text, names)
	}
	*to = T(i)
	return nil
}
