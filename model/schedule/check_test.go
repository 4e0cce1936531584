package schedule

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCheckAcceptsEveryGenerator(t *testing.T) {
	for _, c := range allCases() {
		if err := Check(c.s, nil); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestEncodeDecode(t *testing.T) {
	for _, c := range allCases() {
		var buf, again bytes.Buffer
		if err := Encode(&buf, c.s); err != nil {
			t.Fatal(err)
		}
		back, err := Decode(bytes.NewReader(buf.Bytes()))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if d := cmp.Diff(c.s, back); d != "" {
			t.Errorf("%s: round trip:\n%s", c.name, d)
		}
		if Encode(&again, back); !bytes.Equal(buf.Bytes(), again.Bytes()) {
			t.Errorf("%s: encoding is not stable", c.name)
		}
	}
}
