package yamlfile

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// MaxFile is the largest file that is read; sources must not hand over more.
const MaxFile = 8 << 20

// Limits on what a file may cost before it is understood.
const (
	maxDepth  = 64
	maxValues = 1 << 19 // a parsed value costs some 200 bytes
)

// Format is a kind of file, as messages name it.
type Format struct {
	Schema string // what the key schema must say
	Noun   string // what a file describes: "topology"
	Repeat string // how to write what repeats: "templates and counts"
}

// Parse reads one document, nil where it is not one, refusing what could explode: size, depth, aliases.
func (f Format) Parse(d *Diagnostics, data []byte) *yaml.Node {
	if len(data) > MaxFile {
		d.Add(0, 0, "the file is larger than %d MiB: describe repetition with %s instead of listing it", MaxFile>>20, f.Repeat)
		return nil
	}
	if deepFlow(data) {
		d.Add(0, 0, "nested deeper than %d levels", maxDepth)
		return nil
	}
	if n := separators(data); n > maxValues {
		d.Add(0, 0, "the file has more than %d values: describe repetition with %s instead of listing it", maxValues, f.Repeat)
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	if err := decoder.Decode(&doc); err == io.EOF {
		d.Add(1, 0, "the file is empty: it must start with schema: %s", f.Schema)
		return nil
	} else if err != nil {
		line, msg := yamlError(err)
		d.Add(line, 0, "not valid YAML: %s", msg)
		return nil
	}
	if err := decoder.Decode(&more); err != io.EOF {
		d.Add(more.Line, 0, "there is a second document (or text after the first): a file describes one %s, drop what follows \"---\" "+
			"or \"...\"", f.Noun)
		return nil
	}
	if !f.checkShape(d, doc.Content[0], 0) {
		return nil
	}
	return doc.Content[0]
}

// deepFlow finds flow nesting ([[[[…) that would cost the YAML parser much memory;
// the exact depth is checked on the tree. Brackets in text only make it stricter
// when there are more than 10 000 unclosed ones.
func deepFlow(data []byte) bool {
	depth := 0
	for _, c := range data {
		switch c {
		case '[', '{':
			if depth++; depth > 10_000 {
				return true
			}
		case ']', '}':
			depth--
		}
	}
	return false
}

// separators counts the characters that can start another YAML value; in comments and
// quoted text they only make the bound stricter.
func separators(data []byte) int {
	n := 0
	for _, c := range data {
		switch c {
		case '\n', '\r', ',', ':', '-', '?', '[', '{':
			n++
		}
	}
	return n
}

var yamlLine = regexp.MustCompile(`line (\d+): `)

// yamlError takes the line out of the YAML library's message.
func yamlError(err error) (int, string) {
	msg := strings.TrimPrefix(err.Error(), "yaml: ")
	if m := yamlLine.FindStringSubmatchIndex(msg); m != nil {
		line, _ := strconv.Atoi(msg[m[2]:m[3]])
		return line, msg[:m[0]] + msg[m[1]:]
	}
	return 0, msg
}

// checkShape bounds the depth and refuses aliases, which can explode.
func (f Format) checkShape(d *Diagnostics, n *yaml.Node, depth int) bool {
	switch {
	case depth > maxDepth:
		d.Add(n.Line, n.Column, "nested deeper than %d levels", maxDepth)
		return false
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		d.Add(n.Line, n.Column, "anchors and aliases are not supported: repeat with %s", f.Repeat)
		return false
	}
	for _, c := range n.Content {
		if !f.checkShape(d, c, depth+1) {
			return false
		}
	}
	return true
}

// Set changes one value before decoding: path.to.key=value, sequence elements by
// index. The last key may be new; decoding refuses it if the schema has no such key.
func (f Format) Set(root *yaml.Node, set string) error {
	path, value, ok := strings.Cut(set, "=")
	if !ok || path == "" {
		return fmt.Errorf("--set %s: write path.to.key=value", set)
	}
	var parsed yaml.Node
	if err := yaml.Unmarshal([]byte(value), &parsed); err != nil || len(parsed.Content) != 1 {
		return fmt.Errorf("--set %s: %q is not a YAML value", set, value)
	}
	var d Diagnostics
	if !f.checkShape(&d, parsed.Content[0], 0) {
		return fmt.Errorf("--set %s: %s", set, d.errs[0].Msg)
	}
	n, keys := root, strings.Split(path, ".")
	for i, key := range keys {
		child, err := step(n, key, i == len(keys)-1)
		if err != nil {
			if near := ending(root, keys[len(keys)-1], ""); len(near) > 0 {
				slices.SortStableFunc(near, func(a, b string) int { return cmp.Compare(shared(b, keys), shared(a, keys)) })
				err = fmt.Errorf("%w; did you mean %s?", err, strings.Join(near[:min(len(near), maxNear)], ", "))
			}
			return fmt.Errorf("--set %s: %w", set, err)
		}
		n = child
	}
	line := n.Line
	*n = *parsed.Content[0]
	relocate(n, line)
	return nil
}

// maxNear bounds the paths that an error suggests.
const maxNear = 4

// ending are the paths below a node, in the file's order, whose last key is the given one.
func ending(n *yaml.Node, key, above string) (out []string) {
	for i, c := range n.Content {
		path := above + strconv.Itoa(i)
		if n.Kind == yaml.MappingNode {
			if i%2 == 0 {
				continue // a key, whose value is next
			}
			path = above + n.Content[i-1].Value
			if n.Content[i-1].Value == key {
				out = append(out, path)
			}
		}
		out = append(out, ending(c, key, path+".")...)
	}
	return out
}

// shared is how many keys a path shares with others.
func shared(path string, keys []string) (n int) {
	for _, key := range strings.Split(path, ".") {
		if slices.Contains(keys, key) {
			n++
		}
	}
	return n
}

// step goes one key down, adding the key if create.
func step(n *yaml.Node, key string, create bool) (*yaml.Node, error) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == key {
				return n.Content[i+1], nil
			}
		}
		if create {
			k := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key, Line: n.Line}
			v := &yaml.Node{Kind: yaml.ScalarNode, Line: n.Line}
			n.Content = append(n.Content, k, v)
			return v, nil
		}
		return nil, fmt.Errorf("there is no %q in the file", key)
	case yaml.SequenceNode:
		i, err := strconv.Atoi(key)
		if err != nil || i < 0 || i >= len(n.Content) {
			return nil, fmt.Errorf("%q is not an index below %d", key, len(n.Content))
		}
		return n.Content[i], nil
	}
	return nil, fmt.Errorf("%q is below a plain value", key)
}

// relocate gives nodes that came from the command line the line they replaced.
func relocate(n *yaml.Node, line int) {
	n.Line = line
	for _, c := range n.Content {
		relocate(c, line)
	}
}
