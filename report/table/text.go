package table

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Columns is how wide text is without --wide.
const Columns = 120

// text writes the view; wide leaves lines as long as they are.
func (v *View) text(wide bool) string {
	var b strings.Builder
	for _, s := range v.Answer {
		for _, line := range Wrap(s, Columns) {
			b.WriteString(line + "\n")
		}
	}
	for _, t := range v.Tables {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		if t.Title != "" {
			b.WriteString(t.Title + ":\n")
		}
		if wide {
			t.write(&b)
		} else {
			t.fit(Columns)
			b.WriteString(t.Narrow(Columns))
		}
		if t.Left > 0 {
			fmt.Fprintf(&b, " … and %s more (--wide shows them)\n", Thousands(float64(t.Left)))
		}
	}
	if len(v.Below) > 0 && b.Len() > 0 {
		b.WriteByte('\n')
	}
	for _, s := range v.Below {
		for i, line := range Wrap(s, Columns-2) {
			if i > 0 {
				line = "  " + line
			}
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// widths of the columns under headings, in characters.
func (t *Shown) widths(heads []string) []int {
	out := make([]int, len(heads))
	for _, r := range append([][]string{heads}, t.Rows...) {
		for i, c := range r {
			for _, line := range strings.Split(c, "\n") {
				out[i] = max(out[i], utf8.RuneCountInString(line))
			}
		}
	}
	return out
}

// manyRows is from how many rows on each has one line, whose texts are cut: --wide has them whole.
const manyRows = 13

// isCut reports whether long texts are.
func (t *Shown) isCut() bool { return len(t.Rows) >= manyRows && !t.facts }

// fit makes lines fit: headings are broken, then the cells of the widest columns, between words if that is enough.
func (t *Shown) fit(width int) {
	w := t.widths(t.Heads)
	over := sum(w) + 2*len(w) - width
	for _, least := range [][]int{t.widths(words(t.Heads)), t.words(), make([]int, len(w))} {
		for ; over > 0; over-- {
			widest := -1
			for i := range w {
				if w[i] > max(least[i], 6) && (widest < 0 || w[i] > w[widest]) {
					widest = i
				}
			}
			if widest < 0 {
				break
			}
			w[widest]--
		}
	}
	for i, x := range w {
		t.Heads[i] = strings.Join(Wrap(t.Heads[i], x), "\n")
		for _, r := range t.Rows {
			if n := utf8.RuneCountInString(r[i]); n > x && t.isCut() {
				r[i] = string([]rune(r[i])[:x-1]) + "…"
			}
			r[i] = strings.Join(Wrap(r[i], x), "\n")
		}
	}
}

// Listed are rows of as many cells as text without headings; the last cells are wrapped.
func Listed(rows [][]string) string {
	t := &Shown{Rows: rows, Heads: make([]string, len(rows[0])), Right: make([]bool, len(rows[0]))}
	last := len(t.Heads) - 1
	left := Columns - 2*len(t.Heads) - sum(t.widths(t.Heads)[:last])
	for _, r := range rows {
		r[last] = strings.Join(Wrap(r[last], left), "\n")
	}
	return t.Text()
}

// words are texts with each word on a line.
func words(texts []string) []string {
	out := make([]string, len(texts))
	for i, s := range texts {
		out[i] = strings.Join(strings.Fields(s), "\n")
	}
	return out
}

// words are the widths of the longest words of the columns; a number and its unit stay together, and where texts are cut, little is left.
func (t *Shown) words() []int {
	cut := &Shown{Heads: words(t.Heads), Right: t.Right}
	for _, r := range t.Rows {
		cells := words(r)
		for i, c := range r {
			switch {
			case t.Right[i] && len(c) > 0 && c[0] >= '0' && c[0] <= '9':
				cells[i] = c
			case t.isCut():
				cells[i] = string([]rune(c)[:min(utf8.RuneCountInString(c), 20)])
			}
		}
		cut.Rows = append(cut.Rows, cells)
	}
	return cut.widths(cut.Heads)
}

func sum(list []int) int {
	out := 0
	for _, x := range list {
		out += x
	}
	return out
}

// Narrow is the table as text whose lines are no longer than width, where its columns are not: those that do not fit beside the first
// ones stand below, behind the first column again.
func (t *Shown) Narrow(width int) string {
	var b strings.Builder
	w := t.widths(t.Heads)
	for from := 1; ; b.WriteByte('\n') {
		to, left := from, width-w[0]-1
		for ; to < len(w) && (to == from || w[to]+2 <= left); to++ {
			left -= w[to] + 2
		}
		part := &Shown{Heads: led(t.Heads, from, to), Right: led(t.Right, from, to)}
		for _, r := range t.Rows {
			part.Rows = append(part.Rows, led(r, from, to))
		}
		part.write(&b)
		if from = to; from == len(w) {
			return b.String()
		}
	}
}

// led are the elements from one to before another, behind the first.
func led[E any](row []E, from, to int) []E { return append(row[:1:1], row[from:to]...) }

// Text is the table as text.
func (t *Shown) Text() string {
	var b strings.Builder
	t.write(&b)
	return b.String()
}

// write sets the table; cells of several lines are filled with blanks.
func (t *Shown) write(b *strings.Builder) {
	w := t.widths(t.Heads)
	if strings.Join(t.Heads, "") != "" {
		t.line(b, w, t.Heads)
	}
	for _, r := range t.Rows {
		t.line(b, w, r)
	}
}

func (t *Shown) line(b *strings.Builder, widths []int, cells []string) {
	parts, most := make([][]string, len(cells)), 1
	for i, c := range cells {
		parts[i] = strings.Split(c, "\n")
		most = max(most, len(parts[i]))
	}
	for k := range most {
		var line strings.Builder
		for i := range cells {
			text := ""
			if k < len(parts[i]) {
				text = parts[i][k]
			}
			blank := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text))
			line.WriteByte(' ')
			if i > 0 {
				line.WriteByte(' ')
			}
			if t.Right[i] {
				text, blank = blank, text
			}
			line.WriteString(text + blank)
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

// cutAt is how much of a word that is too long stands on a line: what ends like a part of a name, if that fills half of it.
func cutAt(line []rune) int {
	for n := len(line); 2*n > len(line); n-- {
		if strings.ContainsRune("_/>", line[n-1]) {
			return n
		}
	}
	return len(line)
}

// Wrap breaks a text into lines at blanks; a word that is too long is cut.
func Wrap(text string, width int) []string {
	var out []string
	line, n := "", 0
	for _, word := range strings.Split(text, " ") {
		k := utf8.RuneCountInString(word)
		if line != "" && n+1+k > width {
			out, line, n = append(out, line), "", 0
		}
		for ; k > width; k = utf8.RuneCountInString(word) {
			r := []rune(word)
			n := cutAt(r[:width])
			out, word = append(out, string(r[:n])), string(r[n:])
		}
		if line != "" {
			line, n = line+" ", n+1
		}
		line, n = line+word, n+k
	}
	return append(out, line)
}
