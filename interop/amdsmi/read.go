package amdsmi

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/lazy"
	"railyard/interop/foreign"
)

// Bounds of a machine.
const (
	maxGPUs   = 256
	maxMiB    = 16
	maxNumber = 1 << 30
	maxLinks  = 64 // between two GPUs
)

// section is a part of an output below a title.
type section struct {
	title string
	cell  func(c *Cell, text string) bool // reads a cell of a matrix; false where it is none
	line  func(r *reader, text string) error
}

func (s *section) matrix() bool { return s.line == nil }

// sections are what is read; others, whatever they hold, are passed over.
var sections = []section{
	{title: "Weight between two GPUs", cell: number(func(c *Cell) *int { return &c.Weight })},
	{title: "Hops between two GPUs", cell: number(func(c *Cell) *int { return &c.Hops })},
	{title: "Link Type between two GPUs", cell: kind},
	{title: "Link accessibility between two GPUs", cell: access},
	{title: "Bandwidth", cell: rates},
	{title: "Numa Nodes", line: (*reader).property},
	{title: "Product Info", line: (*reader).property},
	{title: "Concise Info", line: (*reader).concise},
	{title: "WEIGHT", cell: number(func(c *Cell) *int { return &c.Weight })},
	{title: "HOPS", cell: number(func(c *Cell) *int { return &c.Hops })},
	{title: "LINK TYPE", cell: kind},
	{title: "ACCESS", cell: access},
	{title: "NUMA BW", cell: rates},
	{title: "LINK METRIC", line: (*reader).linkMetric},
	{title: "XGMI LINK STATUS", line: (*reader).linkStatus},
}

// number reads a count; what drivers do not know is no number of theirs.
func number(of func(*Cell) *int) func(*Cell, string) bool {
	return func(c *Cell, text string) bool {
		if text == "N/A" {
			return true
		}
		n, err := strconv.Atoi(text)
		*of(c) = n
		return err == nil && n >= 0 && n < maxNumber
	}
}

func kind(c *Cell, text string) bool {
	switch text {
	case string(XGMI), string(PCIe):
		c.Kind = Kind(text)
	case "SELF", "0", "N/A", "UNKNOWN", "INTERNAL", "NOT_APPLICABLE":
	default:
		return false
	}
	return true
}

func access(c *Cell, text string) bool {
	c.Off, c.On = text == "DISABLED" || text == "False", text == "ENABLED" || text == "True"
	return c.Off || c.On || text == "N/A"
}

// rates reads the least and the largest rate: "50000-200000".
func rates(c *Cell, text string) bool {
	if text == "N/A" || text == "SELF" {
		return true
	}
	low, high, two := strings.Cut(text, "-")
	var err1, err2 error
	c.Slow, err1 = strconv.Atoi(low)
	c.Fast, err2 = strconv.Atoi(high)
	return two && err1 == nil && err2 == nil && 0 <= c.Slow && c.Slow <= c.Fast && c.Fast < maxNumber &&
		(c.Slow == 0 || c.Fast/c.Slow <= maxLinks)
}

var (
	rocmTitle = lazy.Regexp(`^=+ (.*?) =+$`)
	amdTitle  = lazy.Regexp(`^([A-Z][A-Z -]*) TABLE:$|^([A-Z ]+ STATUS):$`)
	staticGPU = lazy.Regexp(`^GPU: (\d+)$`)
	device    = lazy.Regexp(`^(?:GPU\d+|[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])$`)
	property  = lazy.Regexp(`^GPU ?\[?(\d+)\]?\s*: (?:\(Topology\) )?([A-Za-z ]+): *(.*)$`)
	linksRow  = lazy.Regexp(`^GPU(\d+)\s+([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])\s+(.*)$`)
	row       = lazy.Regexp(`^(\d+)\s+(\d+)\s+(?:\[.*\]\s+)?(0x[0-9a-f]{4}),`)
	watts     = lazy.Regexp(`\s([0-9]+(?:\.[0-9]+)?)W\s+\d+%`)
)

// sectionOf is the section that a line is the title of; one of no cells and lines where it is another's; nil where it is no title.
func sectionOf(text string) *section {
	text = strings.TrimSpace(text)
	m := rocmTitle().FindStringSubmatch(text)
	if m == nil {
		m = amdTitle().FindStringSubmatch(text)
	}
	if m == nil {
		return nil
	}
	title := strings.Join(m[1:], "")
	if i := slices.IndexFunc(sections, func(s section) bool { return s.title == title }); i >= 0 {
		return &sections[i]
	}
	return &section{title: title}
}

// Read reads outputs and checks that they fit one another.
func Read(r io.Reader) (*Machine, error) {
	data, err := foreign.Read(r, maxMiB)
	if err != nil {
		return nil, err
	}
	p := &reader{m: &Machine{}, seen: map[string]bool{}}
	if isJSON(data) {
		err = p.json(data)
	} else {
		err = p.text(string(data))
	}
	if err != nil {
		return nil, err
	}
	if len(p.m.GPUs) == 0 {
		return nil, errors.New("no GPU: this is no output of rocm-smi --showtopo or amd-smi topology, static, metric or xgmi")
	}
	return p.m, p.m.validate()
}

// text reads what is written for people.
func (r *reader) text(data string) error {
	for i, text := range strings.Split(data, "\n") {
		if err := r.read(i+1, strings.TrimRight(text, " \t\r")); err != nil {
			return foreign.At(i+1, "%w", err)
		}
	}
	if err := r.end(); err != nil {
		return foreign.At(r.began, "%w", err)
	}
	return nil
}

// reader reads line by line.
type reader struct {
	m     *Machine
	at    *section
	began int // line of its title
	seen  map[string]bool
	names []string // columns of the matrix at hand; nil before its header
	rows  int
	gpu   int // of amd-smi static; −1: none
	heads []string
	deep  []int

	others int // states of links in a row; 0: there was none
}

func (r *reader) read(line int, text string) error {
	if s := sectionOf(text); s != nil {
		err := r.end()
		r.at, r.began, r.gpu = s, line, -1
		if err == nil && s.matrix() && s.cell != nil {
			if r.seen[s.title] {
				return errors.New(s.title + " a second time: a file describes one machine, so remove all but one")
			}
			r.seen[s.title] = true
		}
		return err
	}
	if m := staticGPU().FindStringSubmatch(text); m != nil {
		err := r.end()
		r.at, r.heads, r.deep = nil, nil, nil
		if err == nil {
			r.gpu, err = r.numbered(m[1])
		}
		return err
	}
	switch {
	case r.at == nil && r.gpu >= 0 && len(r.m.GPUs) > 0:
		return r.heading(text)
	case r.at == nil:
	case r.at.line != nil:
		return r.at.line(r, text)
	case r.at.cell != nil:
		return r.matrix(strings.Fields(text))
	}
	return nil
}

// numbered is a GPU by its number.
func (r *reader) numbered(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n >= maxGPUs {
		return 0, fmt.Errorf("GPU %.40s: more than a machine has", text)
	}
	for len(r.m.GPUs) <= n {
		r.m.GPUs = append(r.m.GPUs, GPU{NUMA: -1, Up: -1, Facts: map[string]any{}})
	}
	return n, nil
}

// matrix reads a line of one: its header, a row, or what follows it.
func (r *reader) matrix(fields []string) error {
	switch {
	case len(fields) == 0 || !device().MatchString(fields[0]) || r.names != nil && r.rows == len(r.names):
		return nil
	case r.names == nil:
		return r.header(fields)
	case fields[0] != r.names[r.rows]:
		return errors.New("unexpected row " + fields[0] + ": rows have the order of the columns")
	case len(fields) != len(r.names)+1:
		return fmt.Errorf("row %s has %d cells, but there are %d columns", fields[0], len(fields)-1, len(r.names))
	}
	for i, text := range fields[1:] {
		c := &r.m.Cells[r.rows][i]
		if !r.at.cell(c, text) {
			return fmt.Errorf("%s to %s: %.40q is no cell of %s", fields[0], r.names[i], text, r.at.title)
		}
		r.m.took(c)
	}
	r.rows++
	return nil
}

// header takes the columns, which are the same in all matrices of a tool.
func (r *reader) header(fields []string) error {
	if len(fields) > maxGPUs {
		return errors.New("more GPUs than a machine has")
	}
	if _, err := r.numbered(strconv.Itoa(len(fields) - 1)); err != nil {
		return err
	}
	for i, name := range fields {
		g := &r.m.GPUs[i]
		switch {
		case !device().MatchString(name):
			return fmt.Errorf("%.40q is no GPU's name", name)
		case strings.HasPrefix(name, "GPU"):
			if name != "GPU"+strconv.Itoa(i) {
				return fmt.Errorf("%s in the place of GPU%d: columns are all GPUs in their order", name, i)
			}
		case slices.Contains(fields[:i], name):
			return errors.New("two columns are called " + name)
		case g.Bus != "" && g.Bus != name:
			return fmt.Errorf("GPU %d is %s and %s: a file describes one machine", i, g.Bus, name)
		default:
			g.Bus = name
		}
	}
	if r.m.Cells == nil {
		r.m.cell(0, len(fields)-1)
	}
	if len(r.m.Cells) != len(fields) {
		return fmt.Errorf("%d columns, but %d in the matrix before: a file describes one machine", len(fields), len(r.m.Cells))
	}
	r.names, r.rows = fields, 0
	return nil
}

// end ends the section at hand.
func (r *reader) end() error {
	cut := r.names != nil && r.rows < len(r.names)
	at := r.at
	r.names, r.rows = nil, 0
	if cut {
		return errors.New(at.title + ": rows are missing: the text is cut off")
	}
	return nil
}

// property reads "GPU[0]		: (Topology) Numa Node: 0", and what --showproductname says in the same form.
func (r *reader) property(text string) error {
	m := property().FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	n, err := r.numbered(m[1])
	if err != nil {
		return err
	}
	return r.card(&r.m.GPUs[n], m[2], m[3])
}

// card takes a property of a GPU as rocm-smi names it.
func (r *reader) card(g *GPU, name, text string) (err error) {
	switch name {
	case "Numa Node":
		if g.NUMA, err = strconv.Atoi(text); err != nil || g.NUMA < -1 || g.NUMA > 1<<16 {
			return fmt.Errorf("NUMA node %.40q is no number", text)
		}
	case "Card Series", "Card series":
		g.Product = text
	case "GFX Version":
		g.Arch = text
	}
	return nil
}

// concise reads a row of rocm-smi's own table.
func (r *reader) concise(text string) error {
	m := row().FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	n, err := r.numbered(m[1])
	if err != nil {
		return err
	}
	r.m.GPUs[n].Device = m[3]
	if w := watts().FindStringSubmatch(text); w != nil {
		r.m.GPUs[n].Power, err = strconv.ParseFloat(w[1], 64)
	}
	return err
}

// validate checks that the halves of a matrix fit one another.
func (m *Machine) validate() error {
	var v foreign.Mistakes
	if m.Cells != nil && len(m.GPUs) != len(m.Cells) {
		v.Add(0, "%d GPUs, but matrices of %d: a file describes one machine", len(m.GPUs), len(m.Cells))
		return v.Err()
	}
	for i, row := range m.Cells {
		for j, c := range row[:i] {
			if o := m.Cells[j][i]; c.Kind != o.Kind || c.Weight != o.Weight || c.Hops != o.Hops {
				v.Add(0, "%s to %s: %s, weight %d, hops %d, but %s, %d, %d the other way", m.GPUs[i].name(i), m.GPUs[j].name(j), c.Kind,
					c.Weight, c.Hops, o.Kind, o.Weight, o.Hops)
			}
		}
		if c := row[i]; c.Kind != Unsaid || c.Weight != 0 || c.Hops != 0 {
			v.Add(0, "%s to itself: %s, weight %d, hops %d", m.GPUs[i].name(i), c.Kind, c.Weight, c.Hops)
		}
	}
	return v.Err()
}
