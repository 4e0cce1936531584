package table

import (
	"slices"
	"testing"

	_ "railyard/internal/long"
)

func TestNumbersForPeople(t *testing.T) {
	for got, want := range map[string]string{
		Thousands(0): "0", Thousands(999.4): "999", Thousands(1000): "1,000", Thousands(1234567.8): "1,234,568",
		Thousands(-1234): "−1,234",
		Rate(0):          "0", Rate(12.3456): "12.35", Rate(1000): "1,000", Rate(434951.2): "435,000", Rate(6.45e6): "6,450,000",
		Microseconds(9.731): "9.73 µs", Microseconds(536.71): "536.7 µs", Microseconds(2458.2): "2,458 µs",
		Microseconds(12_345):  "12.35 ms",
		Microseconds(842_140): "842.1 ms", Microseconds(3.2e6): "3.20 s", Microseconds(1.8e9): "1,800 s", Microseconds(7.2e9): "2.00 h",
		Milliseconds(38569.4): "38.57 s", Bytes(0): "0 B", Bytes(1000): "1000 B", Bytes(1 << 30): "1 GiB", Bytes(1e9): "954 MiB",
		Bytes(1000 << 10): "1000 KiB",
		Money(1.5):        "1.50", Money(2778080): "2,778,080", Percent(.9714): "97.1 %",
		unitsByName["signed"].text(-1): "−1", // the root of a collective that has none
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestTie: a range says its unit once; what says nothing ties nothing.
func TestTie(t *testing.T) {
	for _, x := range []struct{ before, by, text, want string }{
		{"3.90 µs", "–", "4.20 µs", "3.90–4.20 µs"}, {"9,900 µs", "–", "10.10 ms", "9,900 µs–10.10 ms"},
		{"ring", "/", "ll", "ring/ll"}, {none, " +", "3.0 %", none}, {"ring", " +", "", "ring"},
	} {
		if got := tie(x.before, x.by, x.text); got != x.want {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
}

// TestFill: blocks take their places, what stands around them stays; a block without a place is an error.
func TestFill(t *testing.T) {
	page := "# Title\n<!-- a -->\nold\n<!-- end a -->\nprose\n<!-- b -->\n<!-- end b -->\n"
	blocks := []Block{{"a", "new\n"}, {"b", "two\n"}}
	got, err := Fill([]byte(page), blocks)
	if want := "# Title\n<!-- a -->\nnew\n<!-- end a -->\nprose\n<!-- b -->\ntwo\n<!-- end b -->\n"; err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
	if again, err := Fill(got, blocks); err != nil || string(again) != string(got) {
		t.Errorf("filled twice: %q, %v", again, err)
	}
	if alone, err := Fill(nil, blocks); err != nil ||
		string(alone) != "<!-- a -->\nnew\n<!-- end a -->\n<!-- b -->\ntwo\n<!-- end b -->\n" {
		t.Errorf("%q, %v", alone, err)
	}
	if read := Blocks(got); !slices.Equal(read, blocks) || Blocks([]byte("<!-- a -->")) != nil {
		t.Errorf("blocks %q", read)
	}
	if _, err := Fill([]byte(page), []Block{{Name: "c"}}); err == nil {
		t.Error("a block without a place was taken")
	}
}

// TestMarks: a mark stands behind its value where it is true, and says nothing elsewhere.
func TestMarks(t *testing.T) {
	type row struct {
		Time    float64 `json:"time_us" text:"time"`
		Assumed bool    `json:"-" text:"" yes:"*"`
		Why     string  `json:"why" text:"why"`
	}
	v := NewView(&struct {
		row
		Rows []row `json:"rows"`
	}{row{1, true, "x"}, []row{{2, false, ""}, {3, true, "y"}}}, false)
	if got, want := v.text(false), " time  1.00 µs *\n why   x\n\n    time     why\n 2.00 µs     –\n 3.00 µs  *  y\n"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestWrapCutsNames: what is too long for a line is cut where a part of the name ends, unless that leaves half of the line empty.
func TestWrapCutsNames(t *testing.T) {
	for text, want := range map[string][]string{
		"by hierarchical_two_shot×48":      {"by", "hierarchical_two_", "shot×48"},
		"node0/gpu0->node0/nvswitch0":      {"node0/gpu0->node0/", "nvswitch0"},
		"node0/aVeryLongNameOfADeviceHere": {"node0/aVeryLongNameO", "fADeviceHere"},
	} {
		if got := Wrap(text, 20); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
