package table

import (
	"cmp"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// none is what text shows where there is no value.
const none = "–"

// text is a value for people; "" where there is none.
func (c *column) text(v reflect.Value) string {
	if !v.IsValid() {
		return c.zero
	}
	switch v.Kind() {
	case reflect.Bool:
		no := "no"
		if c.yes != "" {
			no = ""
		}
		return map[bool]string{true: cmp.Or(c.yes, "yes"), false: no}[v.Bool()]
	case reflect.Slice:
		return joined(v, ", ", c.text)
	}
	if x, ok := numeric(v); ok && c.unit != nil {
		return c.unit.text(x)
	}
	return fmt.Sprint(v.Interface())
}

// exact is a value for programs, with all its digits or as many as are declared.
func (c *column) exact(v reflect.Value) string {
	if !v.IsValid() {
		return ""
	}
	switch v.Kind() {
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'f', c.digits, 64)
	case reflect.Slice:
		return joined(v, "; ", c.exact)
	}
	return fmt.Sprint(v.Interface())
}

func joined(v reflect.Value, by string, text func(reflect.Value) string) string {
	parts := make([]string, v.Len())
	for i := range parts {
		parts[i] = text(v.Index(i))
	}
	return strings.Join(parts, by)
}

// numeric is a value as a number.
func numeric(v reflect.Value) (float64, bool) {
	switch {
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanUint():
		return float64(v.Uint()), true
	case v.CanFloat():
		return v.Float(), true
	}
	return 0, false
}

// isNumeric tells columns that stand to the right.
func (c *column) isNumeric() bool {
	k := c.typ.Kind()
	return k >= reflect.Int && k <= reflect.Float64
}

// heading names a column and, where its cells do not, its unit.
func (c *column) heading() string {
	head := c.head
	if !c.shown && c.path != "" {
		head = strings.ReplaceAll(c.path, "_", " ") + head
	}
	if c.unit != nil && c.unit.name != "" {
		head += " (" + c.unit.name + ")"
	}
	return head
}

// tie puts a text behind the one of the column before it, where both say something; a range says its unit once.
func tie(before, by, text string) string {
	if text == "" || before == none {
		return before
	}
	i, k := strings.LastIndexByte(before, ' '), strings.LastIndexByte(text, ' ')
	if by == "–" && i > 0 && k > 0 && before[i:] == text[k:] {
		before = before[:i]
	}
	return before + by + text
}
