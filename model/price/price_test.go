package price

import (
	"errors"
	"os"
	"strings"
	"testing"

	_ "railyard/internal/long" // accepts -long
)

func TestShippedBookIsWhole(t *testing.T) {
	b, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Node("dgx-h100"); err != nil {
		t.Error(err)
	}
	var m *Missing
	if _, err := b.Node("abacus"); !errors.As(err, &m) || !strings.Contains(err.Error(), "dgx-h100") {
		t.Errorf("a node without a price: %v", err)
	}
	if s, err := b.Switch("ndr400", 40); err != nil || s.Ports != 64 {
		t.Errorf("a switch of 40 ports: %+v, %v", s, err)
	}
}

func TestMistakesHaveLines(t *testing.T) {
	good, err := os.ReadFile("books/list.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{"price: 310000", "price: -1", "b.yaml:9: nodes[0]: price must be a number from 0 to 1e+12, not \"-1\""},
		{"price: 310000", "price: .nan", `price must be a number from 0 to 1e+12, not ".nan"`},
		{"currency: USD", "currency: XYZ", "b.yaml:5: currency: \"XYZ\" is not a currency code"},
		{"currency: USD", "currency: dollars", "b.yaml:5: currency: \"dollars\" is not a currency code"},
		{"pue: {value: 1.54", "pue: {value: 0.5", `running.pue: value must be a number from 1 to 10, not "0.5"`},
		{"watts: 10200", "wats: 10200", `nodes[0]: unknown key "wats"`},
		{"schema: railyard.prices/v1", "schema: prices", "is not known"},
		{"  staff_year: {value: 150000, source: \"assumption: an engineer with overheads\", date: 2026-11-21}\n", "",
			`running.staff_year: "source" is missing`},
	} {
		text := strings.Replace(string(good), c.old, c.new, 1)
		if text == string(good) {
			t.Fatalf("the shipped book does not hold %q", c.old)
		}
		if _, err := library.Read("b.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want one with %q", c.new, err, c.want)
		}
	}
	if _, err := library.Read("b.yaml", nil); err == nil {
		t.Error("an empty file was accepted")
	}
}

func FuzzParse(f *testing.F) {
	good, err := os.ReadFile("books/list.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte("schema: railyard.prices/v1\nnodes: [1, {price: 2}]\nrunning: []\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := library.Read("fuzz", data)
		if err == nil && (len(b.Currency) != 3 || b.Running.PUE.Value < 1) {
			t.Errorf("accepted %+v", b)
		}
	})
}
