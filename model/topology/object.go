package topology

import (
	"math"
	"sort"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"railyard/model/units"
)

// object reads one YAML mapping strictly: each key is asked for once, done reports
// the keys that nobody asked for.
type object struct {
	d     *diagnostics
	node  *yaml.Node
	what  string // "class nvlink4", for messages
	keys  map[string]*yaml.Node
	asked []string
}

// pos is a place in the file, kept with what was read there.
type pos struct{ line, col int }

func at(n *yaml.Node) pos { return pos{n.Line, n.Column} }

func (d *diagnostics) addAt(p pos, format string, args ...any) { d.add(p.line, p.col, format, args...) }

func newObject(d *diagnostics, n *yaml.Node, what string) *object {
	o := &object{d: d, node: n, what: what, keys: map[string]*yaml.Node{}}
	if n.Kind != yaml.MappingNode {
		d.add(n.Line, n.Column, "%s: expected a mapping (key: value)", what)
		return o
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if _, twice := o.keys[k.Value]; twice {
			d.add(k.Line, k.Column, "%s: key %q appears twice", what, k.Value)
			continue
		}
		o.keys[k.Value] = n.Content[i+1]
	}
	return o
}

func (o *object) get(key string) *yaml.Node {
	o.asked = append(o.asked, key)
	n := o.keys[key]
	if n != nil && n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil
	}
	return n
}

// done reports unknown keys, with what would have been known.
func (o *object) done() {
	known := append([]string(nil), o.asked...)
	sort.Strings(known)
	for i := 0; o.node.Kind == yaml.MappingNode && i+1 < len(o.node.Content); i += 2 {
		k := o.node.Content[i]
		if !contains(known, k.Value) {
			o.d.add(k.Line, k.Column, "%s: unknown key %q; known are %s", o.what, k.Value, strings.Join(known, ", "))
		}
	}
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// text reads a scalar; need makes its absence an error.
func (o *object) text(key string, need bool) string {
	n := o.get(key)
	if n == nil {
		if need && o.node.Kind == yaml.MappingNode {
			o.d.add(o.node.Line, o.node.Column, "%s: %q is missing", o.what, key)
		}
		return ""
	}
	if n.Kind != yaml.ScalarNode {
		o.d.add(n.Line, n.Column, "%s: %s must be a single value", o.what, key)
		return ""
	}
	if need && strings.TrimSpace(n.Value) == "" {
		o.d.add(n.Line, n.Column, "%s: %q is empty", o.what, key)
	}
	return n.Value
}

// integer reads a whole number between lo and hi.
func (o *object) integer(key string, def, lo, hi int) int {
	n := o.get(key)
	if n == nil {
		return def
	}
	v, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil || v < lo || v > hi {
		o.d.add(n.Line, n.Column, "%s: %s must be a whole number from %d to %d, not %q", o.what, key, lo, hi, n.Value)
		return def
	}
	return v
}

// number reads a positive number.
func (o *object) number(key string, def float64) float64 {
	n := o.get(key)
	if n == nil {
		return def
	}
	v, err := strconv.ParseFloat(n.Value, 64)
	if n.Kind != yaml.ScalarNode || err != nil || !(v > 0) || math.IsInf(v, 0) {
		o.d.add(n.Line, n.Column, "%s: %s must be a positive number, not %q", o.what, key, n.Value)
		return def
	}
	return v
}

func (o *object) boolean(key string, def bool) bool {
	n := o.get(key)
	if n == nil {
		return def
	}
	if n.Kind != yaml.ScalarNode || n.Value != "true" && n.Value != "false" {
		o.d.add(n.Line, n.Column, "%s: %s must be true or false, not %q", o.what, key, n.Value)
		return def
	}
	return n.Value == "true"
}

func (o *object) rate(key string) units.Rate {
	text := o.text(key, true)
	if text == "" {
		return 1
	}
	r, err := units.ParseRate(text)
	if err == nil && r <= 0 {
		o.d.addAt(at(o.keys[key]), "%s: %s is %s: a rate must be positive; leave the link out if it does not exist", o.what, key, text)
	} else if err == nil && r > maxRate {
		o.d.addAt(at(o.keys[key]), "%s: %s is %s: more than %v over one link is surely a slip", o.what, key, text, maxRate)
	} else if err != nil {
		o.d.addAt(at(o.keys[key]), "%s: %s: %v", o.what, key, err)
	}
	return min(max(r, 1), maxRate)
}

func (o *object) duration(key string) units.Time {
	text := o.text(key, true)
	if text == "" {
		return 0
	}
	t, err := units.ParseTime(text)
	if err == nil && t < 0 {
		o.d.addAt(at(o.keys[key]), "%s: %s is %s: a latency cannot be negative", o.what, key, text)
	} else if err == nil && t > maxLatency {
		o.d.addAt(at(o.keys[key]), "%s: %s is %s: more than %v over one link is surely a slip", o.what, key, text, maxLatency)
	} else if err != nil {
		o.d.addAt(at(o.keys[key]), "%s: %s: %v", o.what, key, err)
	}
	return min(max(t, 0), maxLatency)
}

// provenance reads source and date, which every constant must carry.
func (o *object) provenance() (source, date string) {
	source, date = o.text("source", true), o.text("date", true)
	if date != "" {
		if _, err := time.Parse("2006-01-02", date); err != nil {
			o.d.addAt(at(o.keys["date"]), "%s: date %q must be YYYY-MM-DD", o.what, date)
		}
	}
	return source, date
}

// integers reads a list of whole numbers, or one number as a list of one.
func (o *object) integers(key string, lo, hi int) []int {
	n := o.get(key)
	if n == nil {
		return nil
	}
	return o.d.integers(n, o.what+": "+key, lo, hi)
}

func (d *diagnostics) integers(n *yaml.Node, what string, lo, hi int) []int {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	out := make([]int, 0, len(items))
	for _, c := range items {
		v, err := strconv.Atoi(c.Value)
		if c.Kind != yaml.ScalarNode || err != nil || v < lo || v > hi {
			d.add(c.Line, c.Column, "%s: must be a whole number from %d to %d, not %q", what, lo, hi, c.Value)
			v = lo
		}
		out = append(out, v)
	}
	return out
}

// list visits the elements of a sequence.
func (o *object) list(key string, visit func(i int, n *yaml.Node)) {
	n := o.get(key)
	if n == nil {
		return
	}
	if n.Kind != yaml.SequenceNode {
		o.d.add(n.Line, n.Column, "%s: %s must be a list", o.what, key)
		return
	}
	for i, c := range n.Content {
		visit(i, c)
	}
}

// mapping visits the entries of a mapping in the file's order.
func (o *object) mapping(key string, visit func(name string, n *yaml.Node)) {
	n := o.get(key)
	if n == nil {
		return
	}
	if n.Kind != yaml.MappingNode {
		o.d.add(n.Line, n.Column, "%s: %s must be a mapping (name: …)", o.what, key)
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if name := n.Content[i].Value; seen[name] {
			o.d.add(n.Content[i].Line, n.Content[i].Column, "%s: %q is defined twice", key, name)
		} else {
			seen[name] = true
			visit(name, n.Content[i+1])
		}
	}
}
