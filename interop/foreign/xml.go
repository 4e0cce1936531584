package foreign

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// maxValue is the longest value of an attribute that NCCL's parser reads
// (MAX_STR_LEN, src/graph/xml.h, with its end).
const maxValue = 254

// maxDepth is how deep elements nest at most: far beyond any PCIe tree.
const maxDepth = 64

// XML goes through a file whose elements nest in known ways, and refuses what NCCL's own
// parser and those made from it cannot read, though it is XML: declarations, text, tags
// of several lines, tabs, long values.
type XML struct {
	What         string            // the file, in words
	Parents      map[string]string // where each element stands, "a|b" in either; the root has ""
	DoubleQuotes bool              // the parser knows no others
	Open         func(*Element) error
}

// Read visits the elements of a file.
func (x *XML) Read(data []byte) error {
	p := &parser{XML: x, data: data, d: xml.NewDecoder(bytes.NewReader(data))}
	for {
		from := p.d.InputOffset()
		tok, err := p.d.Token()
		if errors.Is(err, io.EOF) {
			if !p.seen {
				return fmt.Errorf("no %s element: this is no %s", p.root(), x.What)
			}
			return nil
		}
		if err == nil {
			err = p.token(tok, data[from:p.d.InputOffset()])
		}
		if err != nil {
			line, _ := p.d.InputPos()
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
}

type parser struct {
	*XML
	data []byte
	d    *xml.Decoder
	path []string
	seen bool // the root
}

func (p *parser) root() string {
	for name, parent := range p.Parents {
		if parent == "" {
			return name
		}
	}
	return ""
}

func (p *parser) token(tok xml.Token, raw []byte) error {
	switch t := tok.(type) {
	case xml.StartElement:
		if err := p.form(raw); err != nil {
			return fmt.Errorf("%s: %w", t.Name.Local, err)
		}
		return p.open(t)
	case xml.EndElement:
		p.path = p.path[:len(p.path)-1]
	case xml.ProcInst, xml.Directive:
		return errors.New("the parser knows no <? ?> and no <! >: leave it out")
	case xml.CharData:
		if text := bytes.Trim(t, " \r\n"); len(text) > 0 {
			return fmt.Errorf("unexpected text %.20q: only spaces and line ends may stand between elements", text)
		}
	}
	return nil
}

// form checks how a tag is written.
func (p *parser) form(tag []byte) error {
	var quote byte
	for i, c := range tag {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\n' || c == '\r' || c == '\t':
			return errors.New("the parser reads attributes on one line, with spaces in between")
		case c == '\'' && p.DoubleQuotes:
			return errors.New("the parser knows double quotes only")
		case c == '"' || c == '\'':
			if quote = c; i == 0 || tag[i-1] != '=' {
				return errors.New("a value must stand right behind its =")
			}
		}
	}
	return nil
}

func (p *parser) open(t xml.StartElement) error {
	line, _ := p.d.InputPos()
	e := &Element{Name: t.Name.Local, Line: line, values: map[string]string{}}
	inside := ""
	if len(p.path) > 0 {
		inside = p.path[len(p.path)-1]
	}
	parent, known := p.Parents[e.Name]
	if !known || !slices.Contains(strings.Split(parent, "|"), inside) || parent == "" && p.seen {
		return fmt.Errorf("unexpected element %s", e.Name)
	}
	if e.Depth = len(p.path); e.Depth > maxDepth {
		return fmt.Errorf("%s: more than %d elements in one another", e.Name, maxDepth)
	}
	p.seen = true
	p.path = append(p.path, e.Name)
	for _, a := range t.Attr {
		name := a.Name.Local
		if e.Has(name) {
			return fmt.Errorf("%s: attribute %s twice", e.Name, name)
		}
		if e.values[name] = a.Value; len(a.Value) > maxValue {
			return fmt.Errorf("%s: %s has %d characters: the parser reads %d at most", e.Name, name, len(a.Value), maxValue)
		}
	}
	if err := p.Open(e); err != nil {
		return err
	}
	return e.err
}

// Element is an element with its attributes; the first mistake stays.
type Element struct {
	Name   string
	Line   int
	Depth  int // elements that it stands in
	values map[string]string
	err    error
}

// Has reports whether it has an attribute.
func (e *Element) Has(name string) bool { _, ok := e.values[name]; return ok }

// Fail notes a mistake.
func (e *Element) Fail(format string, args ...any) {
	if e.err == nil {
		e.err = fmt.Errorf(e.Name+": "+format, args...)
	}
}

// Text is an attribute.
func (e *Element) Text(name string) string {
	if !e.Has(name) {
		e.Fail("attribute %s is missing", name)
	}
	return e.values[name]
}

// Int is a number from least to most.
func (e *Element) Int(name string, least, most int64) int64 {
	v := e.Text(name)
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil {
		e.Fail("%s=%q is not a number", name, v)
	} else if n < least || n > most {
		e.Fail("%s=%d is out of range: must be from %d to %d", name, n, least, most)
	}
	return n
}
