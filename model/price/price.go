// Package price holds what hardware, power, space, staff and cloud hours cost: a price
// book is a dated YAML file in which every figure names its source, and which users
// replace by their own quotations.
package price

import (
	"fmt"
	"slices"
	"strings"
)

// Book is a price book. Money is in its currency; power in watts.
type Book struct {
	Name     string `file:"name,need"`
	Currency string `file:"currency"`
	Origin
	Nodes    []Node   `file:"nodes,lines"`
	Switches []Switch `file:"switches,lines"`
	Cables   []Cable  `file:"cables,lines"`
	Cloud    []Cloud  `file:"cloud,lines"`
	Running  Running  `file:"running"`
}

// Origin says where a figure comes from.
type Origin struct {
	Source string `file:"source,need"`
	Date   string `file:"date,date"`
}

// Node is a server with its GPUs and NICs, by the name of its template in a topology.
type Node struct {
	Template string  `file:"template,need"`
	Price    float64 `file:"price,lo=0,hi=1e12"`
	Watts    float64 `file:"watts,lo=0,hi=1e9"` // at full load
	Origin
}

// Switch is a network switch, by the class of its links and the ports that it has.
type Switch struct {
	Class string  `file:"class,need"`
	Ports int     `file:"ports,need,lo=1,hi=1048576"`
	Price float64 `file:"price,lo=0,hi=1e12"`
	Watts float64 `file:"watts,lo=0,hi=1e9"`
	Origin
}

// Cable is one network link with what is plugged into both of its ends.
type Cable struct {
	Class   string  `file:"class,need"`
	Price   float64 `file:"price,lo=0,hi=1e12"`
	Watts   float64 `file:"watts,lo=0,hi=1e9"` // both ends together
	Optical bool    `file:"optical"`           // has a transceiver at either end
	Origin
}

// Cloud is a rented node like the template, by the hour.
type Cloud struct {
	Template string  `file:"template,need"`
	Offer    string  `file:"offer,need"` // "on demand", "reserved 3 years"
	Hour     float64 `file:"hour,lo=0,hi=1e12"`
	Origin
}

// Running is what a machine costs while it stands in its hall. All must be given: a price that nobody can
// look up is worth nothing.
type Running struct {
	KWh         Figure `file:"kwh,lo=0,hi=1e6"`              // price of a kilowatt-hour
	PUE         Figure `file:"pue,lo=1,hi=10"`               // power at the meter over power of the machines
	Space       Figure `file:"kw_month,lo=0,hi=1e9"`         // rent of the hall for a kilowatt of machines and a month, without energy
	Staff       Figure `file:"staff_year,lo=0,hi=1e12"`      // one person's year
	StaffPer    Figure `file:"nodes_a_staff,lo=1e-3,hi=1e6"` // nodes that one person looks after
	Maintenance Figure `file:"maintenance,lo=0,hi=1"`        // share of the purchase price a year
	Idle        Figure `file:"idle_power,lo=0,hi=1"`         // power of an idle machine as a share of full load
}

// Figure is a number with its origin.
type Figure struct {
	Value float64 `file:"value,need"`
	Origin
}

// Missing is an error about a price that the book lacks.
type Missing struct {
	Book, What string
	Have       []string
}

func (m *Missing) Error() string {
	have := "it has none of the kind"
	if len(m.Have) > 0 {
		have = "it has " + strings.Join(m.Have, ", ")
	}
	return fmt.Sprintf("price book %s has no price for %s: %s; add it to a book of your own and name that with --prices book=FILE", m.Book,
		m.What, have)
}

// priced is an entry of one kind that is meant, or what the book has instead.
func priced[T any](b *Book, list []T, what string, meant func(T) bool, name func(T) string) (T, error) {
	if i := slices.IndexFunc(list, meant); i >= 0 {
		return list[i], nil
	}
	m := &Missing{Book: b.Name, What: what}
	for _, x := range list {
		m.Have = append(m.Have, name(x))
	}
	var none T
	return none, m
}

// Node is the price of a server.
func (b *Book) Node(template string) (Node, error) {
	return priced(b, b.Nodes, "nodes of template "+template, func(n Node) bool { return n.Template == template },
		func(n Node) string { return n.Template })
}

// Switch is the price of the smallest switch of a class with so many ports.
func (b *Book) Switch(class string, ports int) (Switch, error) {
	bySize := slices.SortedStableFunc(slices.Values(b.Switches), func(x, y Switch) int { return x.Ports - y.Ports })
	return priced(b, bySize, fmt.Sprintf("switches of %d ports of class %s", ports, class),
		func(s Switch) bool { return s.Class == class && s.Ports >= ports },
		func(s Switch) string { return fmt.Sprintf("%s×%d", s.Class, s.Ports) })
}

// Cable is the price of a network link.
func (b *Book) Cable(class string) (Cable, error) {
	return priced(b, b.Cables, "links of class "+class, func(c Cable) bool { return c.Class == class },
		func(c Cable) string { return c.Class })
}

// Rent are the offers for a rented node like the template, in the book's order.
func (b *Book) Rent(template string) []Cloud {
	return slices.DeleteFunc(slices.Clone(b.Cloud), func(c Cloud) bool { return c.Template != template })
}
