package topology

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"railyard/model/yamlfile"
)

// origin is where a node type comes from that a file takes from another one.
type origin struct {
	file, name string // the other file, and what it calls the node type
	at         pos    // where it is used
}

// includer puts the node types that a file uses from other files into it, with their
// classes and models, so that --set reaches them. Mistakes of those files are found on the way.
type includer struct {
	*diagnostics
	src  Source
	used map[string]origin // by the template's name
}

const maxUseDepth = 8

func (x *includer) include(root *yaml.Node, depth int) {
	templates := child(root, "templates")
	if templates == nil || templates.Kind != yaml.MappingNode {
		return
	}
	for i := 1; i < len(templates.Content); i += 2 {
		name, t := templates.Content[i-1].Value, templates.Content[i]
		use := child(t, "use")
		if use == nil || use.Value == "" || child(t, "devices") != nil || child(t, "links") != nil {
			continue
		}
		o := origin{at: yamlfile.At(t)}
		if err := x.take(root, t, use.Value, depth, &o); err != nil {
			x.AddAt(o.at, "template %s: %v", name, err)
		} else {
			x.used[name] = o
		}
	}
}

// take replaces a template by the single one of another file, and says which that is.
func (x *includer) take(root, t *yaml.Node, use string, depth int, o *origin) error {
	if x.src == nil {
		return fmt.Errorf("uses %q, but there is nowhere to look it up", use)
	}
	if depth == maxUseDepth {
		return fmt.Errorf("files use one another more than %d deep", maxUseDepth)
	}
	name, data, err := x.src(use)
	if err != nil {
		return fmt.Errorf("use: %w", err)
	}
	inner := &includer{&diagnostics{File: name}, x.src, map[string]origin{}}
	other := format.Parse(inner.diagnostics, data)
	var f file
	if other != nil {
		if onlyTemplate(other) != nil {
			inner.include(other, depth+1)
		}
		format.Decode(inner.diagnostics, other, &f)
	}
	var mistakes Errors
	if errors.As(inner.Err(), &mistakes) {
		x.Append(mistakes)
		return nil
	}
	if len(f.Templates) != 1 {
		return fmt.Errorf("%s has %d templates; only a file with one can be used", use, len(f.Templates))
	}
	if *o = (origin{name, f.Templates[0].Name, o.at}); inner.used[o.name] != (origin{}) {
		o.file, o.name = inner.used[o.name].file, inner.used[o.name].name
	}
	if err := merge(root, other, &f); err != nil {
		return fmt.Errorf("%w differently in %s: rename one", err, name)
	}
	*t = *onlyTemplate(other)
	return nil
}

// onlyTemplate is the mapping with the devices and links of a file's single node type.
func onlyTemplate(root *yaml.Node) *yaml.Node {
	templates := child(root, "templates")
	out := &yaml.Node{Kind: yaml.MappingNode, Line: root.Line, Column: root.Column}
	for _, key := range []string{"devices", "links"} {
		if n := child(root, key); n != nil {
			put(out, key, n)
		}
	}
	switch {
	case templates == nil || len(templates.Content) == 0:
		return out
	case len(templates.Content) == 2 && len(out.Content) == 0:
		return templates.Content[1]
	}
	return nil
}

// merge adds the constants of another file to one; it fails where they contradict.
func merge(root, other *yaml.Node, f *file) error {
	var own file
	format.Decode(&diagnostics{}, root, &own) // its mistakes are found later
	for _, c := range f.Classes {
		if slices.ContainsFunc(own.Classes, func(x Class) bool { return x.Name == c.Name && x != c }) {
			return fmt.Errorf("class %s is defined", c.Name)
		}
	}
	for _, m := range f.Models {
		if slices.ContainsFunc(own.Models, func(x Model) bool { return x.Name == m.Name && x != m }) {
			return fmt.Errorf("model %s is defined", m.Name)
		}
	}
	for _, key := range []string{"classes", "models"} {
		to, from := child(root, key), child(other, key)
		if to == nil && from != nil {
			to = &yaml.Node{Kind: yaml.MappingNode, Line: root.Line}
			put(root, key, to)
		}
		for i := 0; from != nil && i+1 < len(from.Content); i += 2 {
			if child(to, from.Content[i].Value) == nil {
				put(to, from.Content[i].Value, from.Content[i+1])
			}
		}
	}
	if child(root, "profile") == nil && f.Profile != "" && len(own.Nodes) == 1 {
		put(root, "profile", child(other, "profile"))
	}
	return nil
}

// child is a mapping's value, nil where there is none.
func child(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

func put(n *yaml.Node, key string, value *yaml.Node) {
	n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key, Line: n.Line}, value)
}

// set applies --set to a file: full paths, and the short names of shortNames.
func set(root *yaml.Node, list []string) error {
	for _, s := range list {
		path, value, _ := strings.Cut(s, "=")
		err := error(nil)
		if short := shortNames[path]; short != nil {
			err = short(root, value)
		} else {
			err = format.Set(root, s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Shorthands are the short names that --set knows, for help texts.
const Shorthands = "node.nics, rails, oversubscription"

var shortNames = map[string]func(root *yaml.Node, value string) error{
	"node.nics": setNICs,
	"rails":     func(root *yaml.Node, value string) error { return setFabrics(root, "rails", "rails", value) },
	"oversubscription": func(root *yaml.Node, value string) error {
		return setFabrics(root, "oversubscription", "levels.0.oversubscription", value)
	},
}

// setFabrics changes a value of every fabric.
func setFabrics(root *yaml.Node, name, path, value string) error {
	fabrics := child(root, "fabrics")
	if fabrics == nil || len(fabrics.Content) == 0 {
		return fmt.Errorf("--set %s=%s: the file has no fabric", name, value)
	}
	for i := range fabrics.Content {
		if err := format.Set(root, fmt.Sprintf("fabrics.%d.%s=%s", i, path, value)); err != nil {
			return err
		}
	}
	return nil
}
