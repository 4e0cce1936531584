package topology

import (
	"bytes"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// inline puts the node types that a file uses from other files into it, with their
// classes and models, so that --set reaches them. What it cannot do it leaves as it is:
// building reports it.
func inline(root *yaml.Node, src Source, depth int) {
	templates := child(root, "templates")
	if src == nil || templates == nil || depth > maxUseDepth {
		return
	}
	for i := 1; i < len(templates.Content); i += 2 {
		t := templates.Content[i]
		use := child(t, "use")
		if use == nil {
			continue
		}
		name, data, err := src(use.Value)
		if err != nil {
			continue
		}
		inner := format.Parse(&diagnostics{File: name}, data)
		if inner == nil {
			continue
		}
		inline(inner, src, depth+1)
		if parts := onlyTemplate(inner); parts != nil && merge(root, inner) {
			*t = *parts
		}
	}
}

// onlyTemplate is the mapping with the devices and links of a file's single node type.
func onlyTemplate(root *yaml.Node) *yaml.Node {
	devices, links, templates := child(root, "devices"), child(root, "links"), child(root, "templates")
	if devices == nil && links == nil {
		if templates == nil || len(templates.Content) != 2 {
			return nil
		}
		return templates.Content[1]
	}
	out := &yaml.Node{Kind: yaml.MappingNode, Line: root.Line, Column: root.Column}
	for key, n := range map[string]*yaml.Node{"devices": devices, "links": links} {
		if n != nil {
			put(out, key, n)
		}
	}
	return out
}

// merge adds the constants of another file to one; false where they contradict.
func merge(root, inner *yaml.Node) bool {
	type entry struct {
		table, key string
		value      *yaml.Node
	}
	var missing []entry
	for _, table := range []string{"classes", "models"} {
		from := child(inner, table)
		for i := 0; from != nil && i+1 < len(from.Content); i += 2 {
			key, value := from.Content[i].Value, from.Content[i+1]
			own := child(child(root, table), key)
			switch {
			case own == nil:
				missing = append(missing, entry{table, key, value})
			case !same(own, value):
				return false
			}
		}
	}
	for _, e := range missing {
		table := child(root, e.table)
		if table == nil {
			table = &yaml.Node{Kind: yaml.MappingNode, Line: root.Line}
			put(root, e.table, table)
		}
		put(table, e.key, e.value)
	}
	if p := child(inner, "profile"); p != nil && child(root, "profile") == nil {
		put(root, "profile", p)
	}
	return true
}

func same(a, b *yaml.Node) bool {
	x, err1 := yaml.Marshal(a)
	y, err2 := yaml.Marshal(b)
	return err1 == nil && err2 == nil && bytes.Equal(x, y)
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
func set(root *yaml.Node, src Source, list []string) error {
	inlined := false
	for _, s := range list {
		path, value, _ := strings.Cut(s, "=")
		head, _, _ := strings.Cut(path, ".")
		if reaches := head == "node" || head == "classes" || head == "models" || head == "templates"; reaches && !inlined {
			inline(root, src, 0)
			inlined = true
		}
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
