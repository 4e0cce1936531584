package table

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"railyard/report/page"
)

// Formats are what Emit writes; Wide is Text with all columns.
const (
	Text     = "text"
	Wide     = "wide"
	JSON     = "json"
	CSV      = "csv"
	Markdown = "markdown"
	HTML     = "html"
)

// Formats are the names of all formats.
func Formats() []string { return []string{Text, JSON, CSV, Markdown, HTML} }

// Emit writes a document, a pointer to a struct, in a format.
func Emit(w io.Writer, format string, doc any) error {
	switch format {
	case Text, Wide:
		return whole(w, NewView(doc, format == Wide).text(format == Wide))
	case JSON:
		return WriteJSON(w, doc)
	case CSV:
		return writeCSV(w, doc)
	case Markdown:
		return whole(w, NewView(doc, true).markdown())
	case HTML:
		return NewView(doc, true).page(titleOf(doc)).Write(w)
	}
	return fmt.Errorf("format %q: must be one of %s", format, strings.Join(Formats(), ", "))
}

// whole writes a text; a full disk or a closed pipe is an error.
func whole(w io.Writer, text string) error {
	_, err := io.WriteString(w, text)
	return err
}

// markdown writes the view with pipes.
func (v *View) markdown() string {
	var b strings.Builder
	for _, s := range v.Answer {
		b.WriteString(escape(s) + "\n\n")
	}
	for _, t := range v.Tables {
		if t.Title != "" {
			b.WriteString("**" + escape(t.Title) + "**\n\n")
		}
		b.WriteString(t.Markdown() + "\n")
	}
	for _, s := range v.Below {
		b.WriteString("- " + escape(s) + "\n")
	}
	return b.String()
}

// Markdown is the table with pipes.
func (t *Shown) Markdown() string {
	rule := make([]string, len(t.Heads))
	for i, right := range t.Right {
		rule[i] = "---"
		if right {
			rule[i] = "---:"
		}
	}
	var b strings.Builder
	for _, r := range slices.Insert(slices.Clone(t.Rows), 0, t.Heads, rule) {
		cells := make([]string, len(r))
		for i, c := range r {
			cells[i] = escape(c)
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	return b.String()
}

var escape = strings.NewReplacer("|", "\\|", "<", "&lt;", ">", "&gt;", "\n", " ").Replace

// page is the view as a page.
func (v *View) page(title string) *page.Page {
	s := page.Section{Heading: "Result", Notes: v.Below}
	for _, t := range v.Tables {
		s.Tables = append(s.Tables, t.Page(t.Title))
	}
	return &page.Page{Title: title, Lede: strings.Join(v.Answer, " "), Sections: []page.Section{s}}
}

// Page is the table as a page has it.
func (t *Shown) Page(caption string) page.Table {
	return page.Table{Caption: caption, Header: t.Heads, Rows: t.Rows}
}

// titleOf is what the schema says that a document is.
func titleOf(doc any) string {
	if f := schemaField(doc); f != nil {
		return f.doc
	}
	return "railyard"
}

// schemaOf is the name of a document's schema, "" where it has none.
func schemaOf(doc any) string {
	if f := schemaField(doc); f != nil {
		return f.constant
	}
	return ""
}

func schemaField(doc any) *field {
	for _, f := range fieldsOf(behind(reflect.ValueOf(doc)).Type()) {
		if f.constant != "" {
			return &f
		}
	}
	return nil
}
