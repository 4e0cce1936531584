// Package page writes reports as one HTML file that needs nothing else: figures are
// inline SVG, there are no scripts, fonts or links to fetch. It prints, follows the
// reader's dark or light setting and fits a phone.
package page

import (
	"bytes"
	_ "embed"
	"encoding/xml"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"

	"railyard/report/chart"
)

// Page is a report.
type Page struct {
	Title    string
	Lede     string // the answer in a sentence or two
	Facts    []Fact // the figures that matter most
	Sections []Section
	Footer   string // tool and version, inputs and their hashes
}

// Fact is a figure with its name.
type Fact struct{ Name, Value, Note string }

// Section is text, figures and tables under a heading.
type Section struct {
	Heading string
	Text    []string // paragraphs
	Figures []Figure
	Tables  []Table
	Notes   []string // warnings, sources
}

// Figure is a chart, or a picture that is drawn otherwise.
type Figure struct {
	Name    string // of its files
	Chart   chart.Chart
	Picture func(file string) (func(io.Writer) error, error) // in place of a chart: how it is written, in the format of a file's name
	Caption string
}

// Draw returns how the figure is written in the format of a file's name.
func (f *Figure) Draw(file string) (func(io.Writer) error, error) {
	if f.Picture != nil {
		return f.Picture(file)
	}
	return chart.Draw(f.Chart, file)
}

// Table is rows below a header. Columns whose cells are numbers stand to the right.
type Table struct {
	Caption string
	Header  []string
	Rows    [][]string
}

//go:embed page.gohtml
var source string

var layout = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{"svg": inline, "numeric": numeric, "anchor": anchor}).Parse(source))
})

// Write writes the page. Nothing is written if a figure cannot be drawn.
func (p *Page) Write(w io.Writer) error {
	var out bytes.Buffer
	if err := layout().Execute(&out, p); err != nil {
		return fmt.Errorf("report %q: %w", p.Title, err)
	}
	_, err := w.Write(out.Bytes())
	return err
}

// inline is a figure as an svg element.
func inline(f Figure) (template.HTML, error) {
	write, err := f.Draw("figure.svg")
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	if err := write(&out); err != nil {
		return "", err
	}
	start := bytes.Index(out.Bytes(), []byte("<svg"))
	if start < 0 {
		return "", fmt.Errorf("figure %q is no SVG", f.Caption)
	}
	svg := out.Bytes()[start:]
	if err := wellFormed(svg); err != nil {
		return "", fmt.Errorf("figure %q: %w", f.Caption, err)
	}
	return template.HTML(svg), nil // drawn by this program, parsed just now
}

// wellFormed refuses what is not XML, and scripts.
func wellFormed(svg []byte) error {
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if e, ok := token.(xml.StartElement); ok && strings.EqualFold(e.Name.Local, "script") {
			return fmt.Errorf("holds a script")
		}
	}
}

// numeric reports whether a cell is a number, with or without unit, sign or per cent.
func numeric(cell string) bool {
	cell = strings.TrimLeft(cell, "+-−±$€~<>≤≥ ")
	return cell != "" && cell[0] >= '0' && cell[0] <= '9'
}

// anchor makes a heading's name for links.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, heading)
}
