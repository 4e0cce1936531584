package measurement

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var someLinks = []Link{
	{Kind: "flag_oneway_relaxed", Src: "0", Dst: "1", Blocks: 1, Value: 683.5, Unit: "ns"},
	{Kind: "h2d_time", Src: "host", Dst: "0", Bytes: 4, Value: 5.28, Unit: "us"},
	{Kind: "ring_push", Src: "*", Dst: "*", Blocks: 132, Bytes: 1 << 30, Value: 363.25, Unit: "GBps_per_gpu"},
}

func TestLinksComeBack(t *testing.T) {
	var b bytes.Buffer
	if err := WriteLinks(&b, someLinks); err != nil {
		t.Fatal(err)
	}
	if !AreLinks(b.Bytes()) || !AreLinks(append([]byte("# a comment\n"), b.Bytes()...)) || AreLinks([]byte("kind,src\n")) || AreLinks(nil) {
		t.Errorf("not told from others: %s", b.String())
	}
	got, err := ReadLinks(&b, "links.csv")
	if diff := cmp.Diff(someLinks, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestLinksErrors(t *testing.T) {
	const header = "kind,src,dst,blocks,bytes,value,unit\n"
	for _, c := range []struct{ text, want string }{
		{"", "links.csv:1: the file is empty"},
		{"# a comment\nkind,src,dst,blocks,bytes,us,unit\n", `links.csv:2: there is no column "value"`},
		{header + "a,0,1,,,1,us\n,0,1,,,1,us\n", "links.csv:3: kind: must be given"},
		{header + "a,0,1,x,,1,us\nb,0,1,,y,1,us\n", "links.csv:3: bytes"},
		{header + "a,0,1,x,,1,us\n", "links.csv:2: blocks"},
		{header + "a,0,1,,,NaN,us\n", "links.csv:2: value"},
		{header + "a,0,1\n", "links.csv:2: row: 3 cells for 7 columns"},
	} {
		if _, err := ReadLinks(strings.NewReader(c.text), "links.csv"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %q", c.text, err, c.want)
		}
	}
}

func FuzzReadLinks(f *testing.F) {
	var b bytes.Buffer
	if err := WriteLinks(&b, someLinks); err != nil {
		f.Fatal(err)
	}
	f.Add(b.String())
	f.Add("kind,src,dst,blocks,bytes,value,unit\na,0,1,,1K,1e3,us\n")
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := ReadLinks(strings.NewReader(text), "x")
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := WriteLinks(&b, rows); err != nil {
			t.Fatal(err)
		}
		again, err := ReadLinks(&b, "x")
		if diff := cmp.Diff(rows, again); diff != "" || err != nil {
			t.Errorf("%v\n%s", err, diff)
		}
	})
}
