// Package failure holds how often parts of clusters fail: dated YAML books whose rates
// name their source, and which users replace by what they see themselves.
package failure

import (
	"embed"
	"fmt"
	"maps"
	"slices"

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

// Choices are their names.
func (Part) Choices() []string { return yamlfile.Words(Parts...) }

// Cause is a kind of failure. Its rate is given, or counted: Count failures of Parts parts in Days.
type Cause struct {
	Name   string  `file:"name,need,names"`
	Part   Part    `file:"part,need"`
	Count  float64 `file:"count"`
	Parts  float64 `file:"parts"`
	Days   float64 `file:"days"`
	PerDay float64 `file:"per_day"`      // failures of one part a day
	Repair float64 `file:"repair_hours"` // until it is whole again; 0: as the user of the book says
}

// Book is a list of causes with their origin.
type Book struct {
	Name   string  `file:"name,need"`
	Source string  `file:"source,need"`
	Date   string  `file:"date,date"`
	Causes []Cause `file:"causes,some,each=cause"`
}

//go:embed books/*.yaml
var shipped embed.FS

var library = yamlfile.Library[Book]{Files: shipped, Dir: "books",
	Format: yamlfile.Format{Schema: Schema, Noun: "list of failures", Repeat: "rates a part"}}

// Get is a shipped book by name, or that of a YAML file where the name is a path. All mistakes of a file are reported at once, with their
// lines.
func Get(name string) (*Book, error) { return library.Get(name) }

// maxPerDay bounds a rate: parts that fail more than once a minute are a slip.
const maxPerDay = 1440

// Check works out the rate where it is counted.
func (c *Cause) Check(o *yamlfile.Object) {
	switch counted := o.Has("count") || o.Has("parts") || o.Has("days"); {
	case counted == o.Has("per_day"), counted && (c.Count == 0 || c.Parts == 0 || c.Days == 0):
		o.AddAt(o.Here(), "%s: give per_day (failures of one part a day), or count, parts and days", o.What)
	case counted:
		c.PerDay = c.Count / c.Parts / c.Days
	}
	if c.PerDay > maxPerDay {
		o.AddAt(o.Here(), "%s: more than %d failures of one part a day are surely a mistake", o.What, maxPerDay)
	}
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
