package units

import (
	"math"
	"math/big"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	_ "railyard/internal/long" // accepts -long
)

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]Bytes{
		"0": 0, "1": 1, "512": 512, "8B": 8, "1K": 1024, "1k": 1024, "64M": 64 << 20, "4G": 4 << 30,
		"1.5K": 1536, "1KiB": 1024, "2GiB": 2 << 30, " 3M ": 3 << 20, "4294967296": 1 << 32,
	} {
		if got, err := ParseBytes(text); err != nil || got != want {
			t.Errorf("ParseBytes(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "K", "1T", "1MB", "1 GB", "x", "1e400", "0x10", "1/2", "inf", "NaN", "99999999999G", "1_000"} {
		if got, err := ParseBytes(text); err == nil {
			t.Errorf("ParseBytes(%q) = %d, want an error", text, got)
		}
	}
}

func TestParseRateAndTime(t *testing.T) {
	for text, want := range map[string]Rate{"25GB/s": 25e9, "400Gb/s": 50e9, "26.5625GB/s": 26562500000, "900MB/s": 9e8, "100B/s": 100} {
		if got, err := ParseRate(text); err != nil || got != want {
			t.Errorf("ParseRate(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for text, want := range map[string]Time{"350ns": 350e3, "0.35us": 350e3, "1.24µs": 1240e3, "2ms": 2e9, "1s": 1e12, "7ps": 7,
		"0.0001ns": 1} {
		if got, err := ParseTime(text); err != nil || got != want {
			t.Errorf("ParseTime(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"25", "25G", "GB/s", "25GB", "1e99GB/s"} {
		if got, err := ParseRate(text); err == nil {
			t.Errorf("ParseRate(%q) = %d, want an error", text, got)
		}
	}
}

func TestString(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{(64 * MiB).String(), "64MiB"}, {Bytes(1000).String(), "1000B"}, {Bytes(0).String(), "0B"}, {(3 * KiB).String(), "3KiB"},
		{Rate(25e9).String(), "25GB/s"}, {Rate(26562500000).String(), "26.56GB/s"}, {Rate(450e9).String(), "450GB/s"},
		{Rate(12).String(), "12B/s"},
		{Time(1240e3).String(), "1.24us"}, {Time(350e3).String(), "350ns"}, {Time(3).String(), "3ps"}, {Time(-2e9).String(), "-2ms"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}

// Over is checked against arbitrary precision: the ceiling of b·10¹²/r.
func TestOverIsExactCeiling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Bytes(rapid.Int64Range(0, 1<<42).Draw(t, "bytes"))
		r := Rate(rapid.Int64Range(1, 1<<44).Draw(t, "rate"))
		num := new(big.Int).Mul(big.NewInt(int64(b)), big.NewInt(int64(Second)))
		want := num.Add(num, big.NewInt(int64(r)-1)).Div(num, big.NewInt(int64(r)))
		got := b.Over(r)
		if want.IsInt64() && got != Time(want.Int64()) || !want.IsInt64() && got != MaxTime {
			t.Fatalf("%d over %d = %d, want %s", b, r, got, want)
		}
		if got != MaxTime && got > 0 && b.Per(got) > r {
			t.Fatalf("a rounded-up time gave a higher rate: %d > %d", b.Per(got), r)
		}
	})
	if Bytes(math.MaxInt64).Over(1) != MaxTime {
		t.Error("an overflow must saturate")
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"1K", "25GB/s", "350ns", "1e9", "-1", "1.5G"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if b, err := ParseBytes(s); err == nil {
			if back, err := ParseBytes(b.String()); err != nil || back != b {
				t.Fatalf("%q → %v → %v, %v", s, b, back, err)
			}
		}
		ParseRate(s)
		ParseTime(s)
	})
}

func TestCounted(t *testing.T) {
	for _, c := range []struct {
		n     int
		thing string
		want  string
	}{{0, "node", "0 nodes"}, {1, "node", "1 node"}, {2, "node", "2 nodes"}, {1, "switch", "1 switch"}, {3, "switch", "3 switches"},
		{-1, "GPU", "-1 GPUs"}} {
		if got := Counted(c.n, c.thing); got != c.want {
			t.Errorf("%d %s: %q, want %q", c.n, c.thing, got, c.want)
		}
	}
}

// TestRanges: lists of numbers, there and back.
func TestRanges(t *testing.T) {
	for text, want := range map[string][]int{"": nil, "7": {7}, "1-3": {1, 2, 3}, "1,3,5-6": {1, 3, 5, 6}} {
		got, err := ParseRanges(text, 8)
		if err != nil || !reflect.DeepEqual(got, want) || Ranges(want, ",") != text {
			t.Errorf("%q: %v, %v, %q", text, got, err, Ranges(want, ","))
		}
	}
	for _, text := range []string{"8", "-1", "3-1", "x", "1,,2", "1-", "0-99999999999999999999", "0-5,0-5"} {
		if got, err := ParseRanges(text, 8); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestParseName(t *testing.T) {
	names := []string{"up", "down"}
	var x uint8
	if err := ParseName(&x, "way", names, []byte("down")); err != nil || x != 1 {
		t.Errorf("down is %d: %v", x, err)
	}
	if err := ParseName(&x, "way", names, []byte("left")); err == nil || x != 1 {
		t.Errorf("left is %d: %v", x, err)
	}
}
