package table

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Live prints a document whose rows come one after another: what stands above them at once, each
// row when it is there, what stands below them at the end. Where columns stand is decided by a
// document with predicted rows. Documents have one list that is shown, with one line a row.
type Live struct {
	w      io.Writer
	wide   bool
	heads  []string // before they are broken
	right  []bool
	widths []int
}

// NewLive prints what stands above the rows of a document; its rows are predicted, but as wide as
// those to come.
func NewLive(w io.Writer, wide bool, predicted any) (*Live, error) {
	v := NewView(predicted, wide)
	t := &v.Tables[len(v.Tables)-1]
	l := &Live{w: w, wide: wide, heads: slices.Clone(t.Heads), right: t.Right}
	if !wide {
		t.fit(Columns)
	}
	l.widths = t.widths(t.Heads)
	var b strings.Builder
	b.WriteString((&View{Answer: v.Answer, Tables: v.Tables[:len(v.Tables)-1]}).text(wide))
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	if t.Title != "" {
		b.WriteString(t.Title + ":\n")
	}
	t.line(&b, l.widths, t.Heads)
	return l, whole(w, b.String())
}

// Row prints a row of the document as it is now.
func (l *Live) Row(doc any, i int) error {
	v := NewView(doc, l.wide)
	t := &v.Tables[len(v.Tables)-1]
	cells := make([]string, len(l.heads))
	for k, head := range l.heads {
		cells[k] = none
		if at := slices.Index(t.Heads, head); at >= 0 {
			cells[k] = t.Rows[i][at]
		}
	}
	var b strings.Builder
	(&Shown{Right: l.right}).line(&b, l.widened(cells), cells)
	return whole(l.w, b.String())
}

// widened are the columns' widths, or those of cells that are wider than predicted.
func (l *Live) widened(cells []string) []int {
	out := slices.Clone(l.widths)
	for i, c := range cells {
		out[i] = max(out[i], utf8.RuneCountInString(c))
	}
	return out
}

// End prints what stands below the rows.
func (l *Live) End(doc any) error {
	v := View{Below: NewView(doc, l.wide).Below}
	if len(v.Below) == 0 {
		return nil
	}
	return whole(l.w, "\n"+v.text(l.wide))
}
