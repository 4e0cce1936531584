// Package price holds what hardware, power, space, staff and cloud hours cost: a price
// book is a dated YAML file in which every figure names its source, and which users
// replace by their own quotations.
package price

import (
	"fmt"
	"strings"
)

// Book is a price book. Money is in its currency; power in watts.
type Book struct {
	Name, Currency, Source, Date string
	Nodes                        []Node
	Switches                     []Switch
	Cables                       []Cable
	Cloud                        []Cloud
	Running                      Running
}

// Origin says where a figure comes from.
type Origin struct {
	Source string
	Date   string
}

// Node is a server with its GPUs and NICs, by the name of its template in a topology.
type Node struct {
	Template string
	Price    float64
	Watts    float64 // at full load
	Origin
}

// Switch is a network switch, by the class of its links and the ports that it has.
type Switch struct {
	Class string
	Ports int
	Price float64
	Watts float64
	Origin
}

// Cable is one network link with what is plugged into both of its ends.
type Cable struct {
	Class   string
	Price   float64
	Watts   float64 // both ends together
	Optical bool    // has a transceiver at either end
	Origin
}

// Cloud is a rented node like the template, by the hour.
type Cloud struct {
	Template string
	Offer    string // "on demand", "reserved 3 years"
	Hour     float64
	Origin
}

// Running is what a machine costs while it stands in its hall.
type Running struct {
	KWh         Figure // price of a kilowatt-hour
	PUE         Figure // power at the meter over power of the machines
	Space       Figure // rent of the hall for a kilowatt of machines and a month, without energy
	Staff       Figure // one person's year
	StaffPer    Figure // nodes that one person looks after
	Maintenance Figure // share of the purchase price a year
	Idle        Figure // power of an idle machine as a share of full load
}

// Figure is a number with its origin.
type Figure struct {
	Value float64
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

// Node is the price of a server.
func (b *Book) Node(template string) (Node, error) {
	for _, n := range b.Nodes {
		if n.Template == template {
			return n, nil
		}
	}
	return Node{}, b.missing("nodes of template "+template, len(b.Nodes), func(i int) string { return b.Nodes[i].Template })
}

// Switch is the price of the smallest switch of a class with so many ports.
func (b *Book) Switch(class string, ports int) (Switch, error) {
	best := Switch{}
	for _, s := range b.Switches {
		if s.Class == class && s.Ports >= ports && (best.Ports == 0 || s.Ports < best.Ports) {
			best = s
		}
	}
	if best.Ports > 0 {
		return best, nil
	}
	return Switch{}, b.missing(fmt.Sprintf("switches of %d ports of class %s", ports, class), len(b.Switches),
		func(i int) string { return fmt.Sprintf("%s×%d", b.Switches[i].Class, b.Switches[i].Ports) })
}

// Cable is the price of a network link.
func (b *Book) Cable(class string) (Cable, error) {
	for _, c := range b.Cables {
		if c.Class == class {
			return c, nil
		}
	}
	return Cable{}, b.missing("links of class "+class, len(b.Cables), func(i int) string { return b.Cables[i].Class })
}

// Rent are the offers for a rented node like the template, in the book's order.
func (b *Book) Rent(template string) []Cloud {
	var out []Cloud
	for _, c := range b.Cloud {
		if c.Template == template {
			out = append(out, c)
		}
	}
	return out
}

func (b *Book) missing(what string, n int, name func(int) string) error {
	m := &Missing{Book: b.Name, What: what}
	for i := range n {
		m.Have = append(m.Have, name(i))
	}
	return m
}
