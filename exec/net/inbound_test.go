package net

import (
	"bytes"
	"sync/atomic"
	"testing"
)

// guarded is a window between bytes that nobody may touch.
func guarded() (a *arrivals, all []byte, signal *atomic.Int64) {
	all, signal = bytes.Repeat([]byte{0xee}, 3<<10), new(atomic.Int64)
	a = &arrivals{windows: map[uint32]window{1: {all[1<<10 : 2<<10 : 2<<10], []*atomic.Int64{signal}}}, ahead: map[uint64]partial{}}
	return a, all, signal
}

// feed gives bytes to a reader as sockets do, so many at a time.
func feed(in *inbound, text []byte, step int) error {
	for len(text) > 0 && !in.bye {
		rest, buffer := in.space()
		n := copy(rest, text[:min(step, len(text))])
		n += copy(buffer, text[n:min(step, len(text))])
		text = text[n:]
		if err := in.filled(n); err != nil {
			return err
		}
	}
	return nil
}

func encoded(f frame, data string) []byte {
	var h [headerBytes]byte
	f.encode(&h)
	return append(h[:], data...)
}

// FuzzInbound: whatever comes, nothing is written outside of the window, and how it is cut into reads
// makes no difference.
func FuzzInbound(f *testing.F) {
	whole := encoded(frame{kind: dataFrame, window: 1, total: 5, length: 5, offset: 1019, add: 1}, "hello")
	parts := append(encoded(frame{kind: dataFrame, window: 1, total: 5, length: 2, add: 1}, "he"),
		encoded(frame{kind: dataFrame, window: 1, total: 5, length: 3, offset: 2, add: 1}, "llo")...)
	ahead := append(encoded(frame{kind: dataFrame, window: 1, message: 1, add: 7}, ""), encoded(frame{kind: dataFrame, window: 1, add: 1},
		"")...)
	f.Add(whole, uint16(3))
	f.Add(parts, uint16(50))
	f.Add(append(ahead, encoded(frame{kind: byeFrame}, "")...), uint16(1000))
	f.Add(encoded(frame{kind: dataFrame, window: 1, total: 5, length: 5, offset: 1020, add: 1}, "hello"), uint16(9))
	f.Fuzz(func(t *testing.T, text []byte, step uint16) {
		var errs []string
		var ends []int64
		var memories [][]byte
		for _, by := range []int{int(step)%(len(text)+1) + 1, max(len(text), 1)} {
			a, all, signal := guarded()
			in := newInbound(a)
			said := ""
			if err := feed(in, text, by); err != nil {
				said = err.Error()
			}
			for i, b := range all {
				if (i < 1<<10 || i >= 2<<10) && b != 0xee {
					t.Fatalf("byte %d was written", i)
				}
			}
			errs, ends, memories = append(errs, said), append(ends, signal.Load()), append(memories, all)
		}
		if errs[0] != errs[1] || ends[0] != ends[1] {
			t.Errorf("%q and signal %d, in one read %q and %d", errs[0], ends[0], errs[1], ends[1])
		}
		if !bytes.Equal(memories[0], memories[1]) {
			t.Error("what was written differs")
		}
	})
}

// TestFrames: messages in several frames, out of order, and what contradicts itself.
func TestFrames(t *testing.T) {
	d := func(message, total, length, offset uint64, data string) []byte {
		return encoded(frame{kind: dataFrame, window: 1, message: message, total: total, length: uint32(length), offset: offset, add: 1},
			data)
	}
	for _, c := range []struct {
		name   string
		text   [][]byte
		signal int64
		err    string
	}{
		{"in order", [][]byte{d(0, 2, 2, 0, "ab"), d(1, 0, 0, 0, ""), d(2, 1, 1, 5, "c")}, 3, ""},
		{"behind one that lacks", [][]byte{d(1, 2, 2, 0, "ab"), d(2, 0, 0, 0, "")}, 0, ""},
		{"caught up", [][]byte{d(1, 2, 2, 0, "ab"), d(2, 0, 0, 0, ""), d(0, 3, 2, 0, "xy"), d(0, 3, 1, 2, "z")}, 3, ""},
		{"twice", [][]byte{d(0, 2, 2, 0, "ab"), d(0, 2, 2, 0, "ab")}, 1, "message 0 while 1 is awaited"},
		{"ahead twice", [][]byte{d(1, 0, 0, 0, ""), d(1, 0, 0, 0, "")}, 0, "more than its 0 bytes"},
		{"too much", [][]byte{d(0, 3, 2, 0, "ab"), d(0, 3, 2, 2, "cd")}, 0, "message 0 has more than its 3 bytes"},
		{"contradiction", [][]byte{d(0, 3, 2, 0, "ab"), d(0, 4, 2, 2, "cd")}, 0, "contradict"},
		{"far ahead", [][]byte{d(maxAhead, 0, 0, 0, "")}, 0, "message 65536 while 0"},
		{"empty", [][]byte{d(0, 3, 0, 0, "")}, 0, "an empty frame"},
		{"long", [][]byte{d(0, 1<<30, maxFrame+1, 0, "")}, 0, "at most 1048576 are allowed"},
		{"noise", [][]byte{bytes.Repeat([]byte{1}, headerBytes)}, 0, "unknown kind 0x1010101"},
	} {
		a, _, signal := guarded()
		err := feed(newInbound(a), bytes.Join(c.text, nil), 1<<20)
		if signal.Load() != c.signal || (err == nil) != (c.err == "") || err != nil && !bytes.Contains([]byte(err.Error()), []byte(c.err)) {
			t.Errorf("%s: signal %d, %v; want %d, %q", c.name, signal.Load(), err, c.signal, c.err)
		}
	}
}
