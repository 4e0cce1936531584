package price

import (
	"cmp"
	"embed"
	"strings"

	"golang.org/x/text/currency"

	"railyard/model/yamlfile"
)

// Schema is the version of the price books.
const Schema = "railyard.prices/v1"

//go:embed books/*.yaml
var shipped embed.FS

var library = yamlfile.Library{Files: shipped, Dir: "books", Noun: "price book"}

// Default is the shipped price book.
func Default() (*Book, error) { return Read("") }

// Read is a shipped price book by name, that of a YAML file where the name is a path, or the default one for "".
func Read(name string) (*Book, error) {
	file, data, err := library.Get(cmp.Or(name, "list"))
	if err != nil {
		return nil, err
	}
	return Parse(file, data)
}

var format = yamlfile.Format{Schema: Schema, Noun: "price book", Repeat: "one entry a kind"}

// Parse reads a price book. All its mistakes are reported at once, with their lines.
func Parse(file string, data []byte) (*Book, error) {
	var b Book
	return &b, format.Read(file, data, &b)
}

// Check reports a currency that there is not.
func (b *Book) Check(o *yamlfile.Object) {
	if _, err := currency.ParseISO(b.Currency); err != nil || strings.ToUpper(b.Currency) != b.Currency {
		o.AddAt(o.Where("currency"), "currency: %q is not a currency code such as USD", b.Currency)
	}
}
