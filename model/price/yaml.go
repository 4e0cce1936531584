package price

import (
	"embed"
	"os"
	"strings"

	"golang.org/x/text/currency"

	"railyard/model/yamlfile"
)

// Schema is the version of the price books.
const Schema = "railyard.prices/v1"

// Bounds of a price book, so that a slip of the hand ends in a message.
const (
	maxMoney = 1e12
	maxWatts = 1e9
	maxPorts = 1 << 20
)

//go:embed books/*.yaml
var shipped embed.FS

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
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return Parse(file, data)
}

var format = yamlfile.Format{Schema: Schema, Noun: "price book", Repeat: "one entry a kind"}

// Parse reads a price book. All its mistakes are reported at once, with their lines.
func Parse(file string, data []byte) (*Book, error) {
	var b Book
	return &b, format.Read(file, data, b.record())
}

func (b *Book) record() yamlfile.Record {
	r := &b.Running
	return yamlfile.Record{
		yamlfile.Named("name", &b.Name), yamlfile.Text("currency", &b.Currency).Checked(b.checkCurrency),
		yamlfile.Named("source", &b.Source), yamlfile.Date("date", &b.Date),
		yamlfile.List("nodes", &b.Nodes, yamlfile.Lines, (*Node).record, nil), yamlfile.List("switches", &b.Switches, yamlfile.Lines,
			(*Switch).record, nil),
		yamlfile.List("cables", &b.Cables, yamlfile.Lines, (*Cable).record, nil), yamlfile.List("cloud", &b.Cloud, yamlfile.Lines,
			(*Cloud).record, nil),
		yamlfile.Sub("running", yamlfile.Record{
			r.KWh.field("kwh", 0, 1e6), r.PUE.field("pue", 1, 10), r.Space.field("kw_month", 0, 1e9), r.Staff.field("staff_year", 0,
				maxMoney),
			r.StaffPer.field("nodes_a_staff", 1e-3, 1e6), r.Maintenance.field("maintenance", 0, 1), r.Idle.field("idle_power", 0, 1),
		}),
	}
}

func (b *Book) checkCurrency(o *yamlfile.Object) {
	if _, err := currency.ParseISO(b.Currency); err != nil || strings.ToUpper(b.Currency) != b.Currency {
		o.AddAt(o.Where("currency"), "currency: %q is not a currency code such as USD", b.Currency)
	}
}

func (n *Node) record() yamlfile.Record {
	return append(yamlfile.Record{yamlfile.Named("template", &n.Template), money("price", &n.Price), watts(&n.Watts)}, n.Origin.record()...)
}

func (s *Switch) record() yamlfile.Record {
	ports := yamlfile.Int("ports", &s.Ports, 0, 1, maxPorts).Needed()
	return append(yamlfile.Record{yamlfile.Named("class", &s.Class), ports, money("price", &s.Price), watts(&s.Watts)},
		s.Origin.record()...)
}

func (c *Cable) record() yamlfile.Record {
	return append(yamlfile.Record{yamlfile.Named("class", &c.Class), money("price", &c.Price), watts(&c.Watts),
		yamlfile.Bool("optical", &c.Optical)}, c.Origin.record()...)
}

func (c *Cloud) record() yamlfile.Record {
	return append(yamlfile.Record{yamlfile.Named("template", &c.Template), yamlfile.Named("offer", &c.Offer), money("hour", &c.Hour)},
		c.Origin.record()...)
}

func money(key string, v *float64) yamlfile.Field { return yamlfile.Float(key, v, 0, maxMoney) }

func watts(v *float64) yamlfile.Field { return yamlfile.Float("watts", v, 0, maxWatts) }

// field is a figure that must be given: a price that nobody can look up is worth nothing.
func (f *Figure) field(key string, lo, hi float64) yamlfile.Field {
	return yamlfile.Sub(key, append(yamlfile.Record{yamlfile.Float("value", &f.Value, lo, hi).Needed()}, f.Origin.record()...))
}

func (o *Origin) record() yamlfile.Record {
	return yamlfile.Record{yamlfile.Named("source", &o.Source), yamlfile.Date("date", &o.Date)}
}
