// Package failure holds how often parts of clusters fail: dated YAML books whose rates
// name their source, and which users replace by what they see themselves.
package failure

import (
	"embed"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"railyard/model/yamlfile"
)

// Schema is the version of the books.
const Schema = "railyard.failures/v1"

// Part is what failures are counted by.
type Part string

// The parts.
const (
	GPU    Part = "gpu"
	Node   Part = "node"
	NIC    Part = "nic"
	Switch Part = "switch" // of the network
	Cable  Part = "cable"  // of the network
)

// Parts are all of them.
var Parts = []Part{GPU, Node, NIC, Switch, Cable}

// Cause is a kind of failure.
type Cause struct {
	Name   string
	Part   Part
	PerDay float64 // failures of one part a day
	Repair float64 // hours until it is whole again; 0: as the user of the book says
}

// Book is a list of causes with their origin.
type Book struct {
	Name, Source, Date string
	Causes             []Cause
}

//go:embed books/*.yaml
var shipped embed.FS

// Names are the shipped books.
func Names() []string { return []string{"llama-3"} }

// Get is a shipped book by name, or that of a YAML file where the name is a path (has a
// slash or ends in .yaml).
func Get(name string) (*Book, error) {
	if strings.Contains(name, "/") || strings.HasSuffix(name, ".yaml") {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		return Parse(name, data)
	}
	data, err := shipped.ReadFile("books/" + name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("there are no failure rates %q: name a YAML file or one of %s", name, strings.Join(Names(), ", "))
	}
	return Parse(name+".yaml (shipped)", data)
}

var format = yamlfile.Format{Schema: Schema, Noun: "list of failures", Repeat: "rates a part"}

// Parse reads a book. All its mistakes are reported at once, with their lines.
func Parse(file string, data []byte) (*Book, error) {
	d := &yamlfile.Diagnostics{File: file}
	root := format.Parse(d, data)
	if root == nil {
		return nil, d.Err()
	}
	o := yamlfile.NewObject(d, root, "failures")
	format.CheckSchema(o)
	b := &Book{Name: o.Text("name", true)}
	b.Source, b.Date = o.Provenance()
	o.List("causes", func(_ int, n *yaml.Node) { b.Causes = append(b.Causes, readCause(d, n)) })
	o.Done()
	if len(b.Causes) == 0 && d.Total() == 0 {
		d.Add(1, 0, "failures: causes must list at least one")
	}
	return b, d.Err()
}

// maxPerDay bounds a rate: parts that fail more than once a minute are a slip.
const maxPerDay = 1440

func readCause(d *yamlfile.Diagnostics, n *yaml.Node) Cause {
	o := yamlfile.NewObject(d, n, "cause")
	c := Cause{Name: o.Text("name", true), Part: Part(o.Text("part", true))}
	if c.Name != "" {
		o.What = "cause " + c.Name
	}
	if c.Part != "" && !slices.Contains(Parts, c.Part) {
		o.AddAt(o.Where("part"), "%s: part must be one of %v, not %q", o.What, Parts, c.Part)
	}
	count, parts, days := o.Number("count", 0), o.Number("parts", 0), o.Number("days", 0)
	c.PerDay = o.Number("per_day", 0)
	switch counted := o.Has("count") || o.Has("parts") || o.Has("days"); {
	case counted && o.Has("per_day"), !counted && !o.Has("per_day"), counted && (count == 0 || parts == 0 || days == 0):
		d.Add(n.Line, n.Column, "%s: give per_day (failures of one part a day), or count, parts and days", o.What)
	case counted:
		c.PerDay = count / parts / days
	}
	if c.PerDay > maxPerDay {
		d.Add(n.Line, n.Column, "%s: more than %d failures of one part a day are surely a slip", o.What, maxPerDay)
	}
	c.Repair = o.Number("repair_hours", 0)
	o.Done()
	return c
}

// Sum is the rate of all causes of each part.
func (b *Book) Sum() map[Part]float64 {
	out := map[Part]float64{}
	for _, c := range b.Causes {
		out[c.Part] += c.PerDay
	}
	return out
}

// ParseParts reads a list such as "nic,cable".
func ParseParts(list []string) ([]Part, error) {
	seen := map[Part]bool{}
	for _, text := range list {
		p := Part(text)
		if !slices.Contains(Parts, p) {
			return nil, fmt.Errorf("%q is not one of %v", text, Parts)
		}
		seen[p] = true
	}
	return slices.Sorted(maps.Keys(seen)), nil
}
