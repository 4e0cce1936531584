package show

import (
	"errors"
	"io"
	"strings"
	"testing"

	"railyard/model/units"
	"railyard/report/chart"
)

func TestMust(t *testing.T) {
	if got := Must(3, nil); got != 3 {
		t.Errorf("%d, want 3", got)
	}
	defer func() {
		if r := recover(); r == nil {
			t.Error("an error does not end the cell")
		}
	}()
	Must(0, errors.New("no"))
}

func TestSVG(t *testing.T) {
	svg := SVG(chart.Draw(&chart.Bars{Bars: []chart.Bar{{Name: "a", Parts: []chart.Part{{Name: "b", Value: 1}}}}}, ".svg"))
	if !strings.Contains(svg, "<svg") || !strings.HasSuffix(strings.TrimSpace(svg), "</svg>") {
		t.Errorf("%.80q", svg)
	}
	for name, draw := range map[string]func(){
		"nothing to draw": func() { SVG(chart.Draw(&chart.Bars{}, ".svg")) },
		"fails late":      func() { SVG(func(io.Writer) error { return errors.New("full") }, nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no error", name)
				}
			}()
			draw()
		}()
	}
}

func TestTable(t *testing.T) {
	var b strings.Builder
	if err := Table(&b, [][]string{{"what", "ms", "share"}, {"a long name", "5.25", "7 %"}, {"b", "12.50", "100 %"}}); err != nil {
		t.Fatal(err)
	}
	want := "" +
		" what            ms  share\n" +
		" a long name   5.25    7 %\n" +
		" b            12.50  100 %\n"
	if b.String() != want {
		t.Errorf("\n%s\nwant\n%s", b.String(), want)
	}
	if err := Table(&b, nil); err != nil {
		t.Error(err)
	}
	if err := Table(full{}, [][]string{{"a"}}); err == nil {
		t.Error("a writer that fails goes unnoticed")
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestSizes(t *testing.T) {
	got := Sizes(units.KiB, 100*units.KiB, 4)
	if len(got) != 4 || got[0] != units.KiB || got[3] != 64*units.KiB {
		t.Errorf("%v", got)
	}
	for _, none := range [][]units.Bytes{Sizes(0, units.KiB, 2), Sizes(1, units.KiB, 1), Sizes(2, 1, 2)} {
		if len(none) > 0 {
			t.Errorf("%v", none)
		}
	}
}
