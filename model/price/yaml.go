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

var library = yamlfile.Library[Book]{Files: shipped, Dir: "books",
	Format: yamlfile.Format{Schema: Schema, Noun: "price book", Repeat: "one entry a kind"}}

// Default is the shipped price book.
func Default() (*Book, error) { return Read("") }

// Read is a shipped price book by name, that of a YAML file where the name is a path, or the default one for "". All mistakes of a file
// are reported at once, with their lines.
func Read(name string) (*Book, error) { return library.Get(cmp.Or(name, "list")) }

// Check reports a currency that there is not.
func (b *Book) Check(o *yamlfile.Object) {
	if _, err := currency.ParseISO(b.Currency); err != nil || strings.ToUpper(b.Currency) != b.Currency {
		o.AddAt(o.Where("currency"), "currency: %q is not a currency code such as USD", b.Currency)
	}
}
