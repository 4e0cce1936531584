package table

import (
	"strings"
	"testing"
)

// TestRowsAreWrittenOneByOne: a row is in the file before the next one is there, with as many digits as are declared; what is not known
// is empty, what is zero is not.
func TestRowsAreWrittenOneByOne(t *testing.T) {
	type row struct {
		Name  string   `json:"name"`
		US    float64  `json:"time_us" digits:"3"`
		Whole float64  `json:"whole"`
		Wrong *int64   `json:"wrong"`
		Error *float64 `json:"error" digits:"3"`
		Seen  bool     `json:"seen"`
	}
	var b strings.Builder
	out, err := NewRows[row](&b)
	if err != nil {
		t.Fatal(err)
	}
	want := "name,time_us,whole,wrong,error,seen\n"
	for _, x := range []struct {
		row  row
		text string
	}{
		{row{Name: "a,b", US: 1, Whole: 0.1234567}, "\"a,b\",1.000,0.1234567,,,false\n"},
		{row{Wrong: new(int64), Error: new(-0.12345), Seen: true}, ",0.000,0,0,-0.123,true\n"},
	} {
		if err := out.Write(&x.row); err != nil {
			t.Fatal(err)
		}
		if want += x.text; b.String() != want {
			t.Errorf("after a row the file is\n%s, want\n%s", b.String(), want)
		}
	}
}
