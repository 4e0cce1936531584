package cluster

import (
	"bytes"
	"io"
	"testing"
)

// FuzzReadFrame: whatever arrives is an error or a frame within bounds that is written as it was read.
func FuzzReadFrame(f *testing.F) {
	for _, x := range []frame{{kind: beat}, {gather, 7, []byte("times")}, greeting{Rank: 3, Host: "n3"}.frame()} {
		data, err := x.encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte{byte(gather), 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff})
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := readFrame(bytes.NewReader(data), maxGreeting)
		if err != nil {
			return
		}
		if len(got.payload) > maxGreeting {
			t.Fatalf("%d bytes", len(got.payload))
		}
		if again, err := got.encode(); err != nil || !bytes.Equal(again, data[:len(again)]) {
			t.Fatalf("%x, %v; read from %x", again, err, data)
		}
		if g, err := decodeGreeting(got); err == nil && bytes.ContainsAny([]byte(g.name()), "\n\x1b") {
			t.Fatalf("%q is not one line", g.name())
		}
	})
}

// FuzzParts: the messages of all ranks come apart as they were put together, or are an error.
func FuzzParts(f *testing.F) {
	f.Add(joinParts([][]byte{[]byte("a"), nil, []byte("ccc")}), 3)
	f.Add([]byte{0xff, 0xff, 0xff, 0xff}, 1)
	f.Fuzz(func(t *testing.T, data []byte, ranks int) {
		ranks = 1 + (ranks&0x7fffffff)%64
		if parts, err := splitParts(data, ranks); err == nil && !bytes.Equal(joinParts(parts), data) {
			t.Fatalf("%x for %d ranks", data, ranks)
		}
	})
}

func TestFrameBounds(t *testing.T) {
	if _, err := (frame{gather, 1, make([]byte, maxPayload+1)}).encode(); err == nil {
		t.Error("a frame larger than the bound was written")
	}
	data, err := frame{gather, 1, make([]byte, 100)}.encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readFrame(bytes.NewReader(data), 99); err == nil {
		t.Error("a frame larger than asked for was read")
	}
	if _, err := readFrame(bytes.NewReader(data[:50]), 100); err != io.ErrUnexpectedEOF {
		t.Errorf("a frame cut off: %v", err)
	}
}
