package price

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"golang.org/x/text/currency"
	"gopkg.in/yaml.v3"
)

// Schema is the version of the price books.
const Schema = "railyard.prices/v1"

// Bounds of a price book, so that a slip of the hand ends in a message.
const (
	maxFile  = 1 << 20
	maxMoney = 1e12
	maxWatts = 1e9
)

//go:embed books/*.yaml
var shipped embed.FS

// document is a price book as written.
type document struct {
	Schema   string `yaml:"schema"`
	Name     string `yaml:"name"`
	Currency string `yaml:"currency"`
	Origin   `yaml:",inline"`
	Nodes    []Node   `yaml:"nodes"`
	Switches []Switch `yaml:"switches"`
	Cables   []Cable  `yaml:"cables"`
	Cloud    []Cloud  `yaml:"cloud"`
	Running  Running  `yaml:"running"`
}

// Default is the shipped price book.
func Default() (*Book, error) { return Read("") }

// Read reads a price book's file; "" is the shipped one.
func Read(file string) (*Book, error) {
	if file == "" {
		data, err := shipped.ReadFile("books/list.yaml")
		if err != nil {
			return nil, err
		}
		return Parse("list.yaml (shipped)", data)
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%s: larger than %d MiB", file, maxFile>>20)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return Parse(file, data)
}

// Parse reads a price book. All its mistakes are reported at once, with their lines.
func Parse(file string, data []byte) (*Book, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("%s: larger than %d MiB", file, maxFile>>20)
	}
	var d document
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&d); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s: the file is empty", file)
		}
		return nil, fmt.Errorf("%s: %s", file, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	c := checker{file: file, lines: linesOf(data)}
	c.document(&d)
	if len(c.errs) > 0 {
		return nil, errors.Join(c.errs...)
	}
	return &Book{Name: d.Name, Currency: d.Currency, Source: d.Source, Date: d.Date, Nodes: d.Nodes, Switches: d.Switches,
		Cables: d.Cables, Cloud: d.Cloud, Running: d.Running}, nil
}

// linesOf finds the line of every list item and key below the top level: "nodes[2]", "running.kwh".
func linesOf(data []byte) map[string]int {
	lines := map[string]int{}
	var root yaml.Node
	if yaml.Unmarshal(data, &root) != nil || len(root.Content) == 0 || root.Content[0].Kind != yaml.MappingNode {
		return lines
	}
	top := root.Content[0].Content
	for i := 0; i+1 < len(top); i += 2 {
		name, value := top[i].Value, top[i+1]
		lines[name] = top[i].Line
		switch value.Kind {
		case yaml.SequenceNode:
			for k, item := range value.Content {
				lines[fmt.Sprintf("%s[%d]", name, k)] = item.Line
			}
		case yaml.MappingNode:
			for k := 0; k+1 < len(value.Content); k += 2 {
				lines[name+"."+value.Content[k].Value] = value.Content[k].Line
			}
		}
	}
	return lines
}

type checker struct {
	file  string
	lines map[string]int
	errs  []error
}

func (c *checker) fail(where, format string, args ...any) {
	at := c.file
	if line := c.lines[where]; line > 0 {
		at = fmt.Sprintf("%s:%d", c.file, line)
	}
	c.errs = append(c.errs, fmt.Errorf("%s: %s: %s", at, where, fmt.Sprintf(format, args...)))
}

func (c *checker) document(d *document) {
	if d.Schema != Schema {
		c.fail("schema", "%q is not known to this version: it reads %s", d.Schema, Schema)
	}
	for _, f := range [][2]string{{"name", d.Name}, {"source", d.Source}, {"date", d.Date}} {
		if strings.TrimSpace(f[1]) == "" {
			c.fail(f[0], "is missing")
		}
	}
	if _, err := currency.ParseISO(d.Currency); err != nil || strings.ToUpper(d.Currency) != d.Currency {
		c.fail("currency", "%q is not a currency code such as USD", d.Currency)
	}
	for i, n := range d.Nodes {
		at := fmt.Sprintf("nodes[%d]", i)
		c.named(at, "template", n.Template)
		c.money(at, n.Price)
		c.watts(at, n.Watts)
		c.origin(at, n.Origin)
	}
	for i, s := range d.Switches {
		at := fmt.Sprintf("switches[%d]", i)
		c.named(at, "class", s.Class)
		if s.Ports < 1 {
			c.fail(at, "ports: %d must be at least 1", s.Ports)
		}
		c.money(at, s.Price)
		c.watts(at, s.Watts)
		c.origin(at, s.Origin)
	}
	for i, k := range d.Cables {
		at := fmt.Sprintf("cables[%d]", i)
		c.named(at, "class", k.Class)
		c.money(at, k.Price)
		c.watts(at, k.Watts)
		c.origin(at, k.Origin)
	}
	for i, r := range d.Cloud {
		at := fmt.Sprintf("cloud[%d]", i)
		c.named(at, "template", r.Template)
		c.named(at, "offer", r.Offer)
		c.money(at, r.Hour)
		c.origin(at, r.Origin)
	}
	c.running(&d.Running)
}

func (c *checker) running(r *Running) {
	for _, f := range []struct {
		name     string
		figure   Figure
		min, max float64
	}{
		{"kwh", r.KWh, 0, 1e6}, {"pue", r.PUE, 1, 10}, {"kw_month", r.Space, 0, 1e9}, {"staff_year", r.Staff, 0, 1e12},
		{"nodes_a_staff", r.StaffPer, 1e-3, 1e6}, {"maintenance", r.Maintenance, 0, 1}, {"idle_power", r.Idle, 0, 1},
	} {
		at := "running." + f.name
		if v := f.figure.Value; math.IsNaN(v) || v < f.min || v > f.max {
			c.fail(at, "%v must be from %g to %g", v, f.min, f.max)
		}
		c.origin(at, f.figure.Origin)
	}
}

func (c *checker) named(at, key, value string) {
	if strings.TrimSpace(value) == "" {
		c.fail(at, "%s is missing", key)
	}
}

func (c *checker) money(at string, v float64) {
	if math.IsNaN(v) || v < 0 || v > maxMoney {
		c.fail(at, "price %v must be from 0 to %g", v, maxMoney)
	}
}

func (c *checker) watts(at string, v float64) {
	if math.IsNaN(v) || v < 0 || v > maxWatts {
		c.fail(at, "watts %v must be from 0 to %g", v, maxWatts)
	}
}

func (c *checker) origin(at string, o Origin) {
	if strings.TrimSpace(o.Source) == "" || strings.TrimSpace(o.Date) == "" {
		c.fail(at, "source and date must be given: a price that nobody can look up is worth nothing")
	}
}
