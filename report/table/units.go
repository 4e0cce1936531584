package table

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// unit is how numbers are written for people.
type unit struct {
	name   string // in the heading, where the cell does not say it
	suffix string // of keys in it
	text   func(v float64) string
	signed bool // may be below zero
	about  string
}

// unitsByName are the units that as names, or the end of a key.
var unitsByName = map[string]*unit{
	"us":      {suffix: "_us", text: Microseconds, about: "microseconds"},
	"ms":      {suffix: "_ms", text: func(v float64) string { return Microseconds(v * 1e3) }, about: "milliseconds"},
	"s":       {suffix: "_s", text: func(v float64) string { return Microseconds(v * 1e6) }, about: "seconds"},
	"bytes":   {suffix: "_bytes", text: Bytes, about: "bytes"},
	"GBps":    {name: "GB/s", suffix: "_GBps", text: digits, about: "10⁹ bytes a second"},
	"gib":     {name: "GiB", suffix: "_gib", text: func(v float64) string { return fmt.Sprintf("%.1f", v) }, about: "GiB"},
	"kW":      {name: "kW", text: func(v float64) string { return fmt.Sprintf("%.1f", v/1000) }, about: "watts"},
	"share":   {text: Percent, about: "a share of one"},
	"error":   {text: func(v float64) string { return fmt.Sprintf("%+.1f %%", 100*v) }, signed: true, about: "a share of one"},
	"times":   {text: func(v float64) string { return fmt.Sprintf("%.2f×", v) }},
	"factor":  {text: func(v float64) string { return fmt.Sprintf("%.3f", v) }},
	"money":   {text: Money},
	"rate":    {text: Rate},
	"signed":  {text: Thousands, signed: true},
	"count":   {text: Thousands},
	"precise": {text: func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }},
}

var plainNumber = &unit{text: digits}

// unitOf is the unit that is named, else that of the key's end.
func unitOf(key, name string, t reflect.Type) *unit {
	if name != "" {
		u, ok := unitsByName[name]
		if !ok {
			panic(fmt.Sprintf("table: %s: there is no unit %q", key, name))
		}
		return u
	}
	var best *unit
	for _, u := range unitsByName {
		if u.suffix != "" && (strings.HasSuffix(key, u.suffix) || key == u.suffix[1:]) &&
			(best == nil || len(u.suffix) > len(best.suffix)) {
			best = u
		}
	}
	if best == nil && t.Kind() != reflect.Float64 {
		best = unitsByName["count"]
	}
	return cmp.Or(best, plainNumber)
}

// plain is a key as a heading: without its unit, in words.
func (u *unit) plain(key string) string {
	return cmp.Or(strings.ReplaceAll(strings.TrimSuffix(key, u.suffix), "_", " "), key)
}

// Microseconds is a time for people: µs up to 10 ms, then ms, s and hours.
func Microseconds(v float64) string {
	switch a := math.Abs(v); {
	case a < 1e4:
		return digits(v) + " µs"
	case a < 1e6:
		return digits(v/1e3) + " ms"
	case a < 3600e6:
		return digits(v/1e6) + " s"
	}
	return digits(v/3600e6) + " h"
}

// Milliseconds is the same of a time in milliseconds.
func Milliseconds(v float64) string { return Microseconds(v * 1e3) }

// digits is a number with two decimals below 100, one below 1,000, else whole.
func digits(v float64) string {
	switch a := math.Abs(v); {
	case a < 99.995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case a < 999.95:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return Thousands(v)
}

// Bytes is a size: exact where three digits say it, else about.
func Bytes(v float64) string {
	names := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	i := 0
	for ; v >= 1023.5 && i+1 < len(names); i++ {
		v /= 1024
	}
	n := 3
	if v >= 999.5 {
		n = 4
	}
	return strconv.FormatFloat(v, 'g', n, 64) + " " + names[i]
}

// Percent is a share of one.
func Percent(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }

// Thousands is a whole number with its thousands set apart: 435,012.
func Thousands(v float64) string {
	sign := ""
	if v < 0 {
		sign, v = "−", -v
	}
	s := strconv.FormatFloat(math.Round(v), 'f', -1, 64)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// Rate is a throughput to four digits: 435,000 from 1,000 on, 12.35 below.
func Rate(v float64) string {
	if v < 1000 {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	step := math.Pow10(max(int(math.Log10(v))-3, 0))
	return Thousands(math.Round(v/step) * step)
}

// Money is an amount, without cents from 1,000 on.
func Money(v float64) string {
	if math.Abs(v) < 1000 {
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return Thousands(v)
}
