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
	return &b, format.Read(file, data, &b)
}

// Check reports a currency that there is not.
func (b *Book) Check(o *yamlfile.Object) {
	if _, err := currency.ParseISO(b.Currency); err != nil || strings.ToUpper(b.Currency) != b.Currency {
		o.AddAt(o.Where("currency"), "currency: %q is not a currency code such as USD", b.Currency)
	}
}
