package net

import (
	"encoding/binary"
	"fmt"
)

// frame is the header of what travels on a socket: bytes of a message, or a signal alone.
// A large message is cut into frames, which may take several sockets.
type frame struct {
	kind    uint32
	window  uint32
	message uint64 // number among those of this sender to this receiver
	offset  uint64 // of the frame's bytes in the window
	total   uint64 // bytes of the whole message
	length  uint32 // bytes that follow
	signal  uint32
	add     uint64 // to the signal
}

// Kinds of frames. They also tell a reader that it is still in step.
const (
	dataFrame uint32 = 0x72791001
	byeFrame  uint32 = 0x72791002 // the last one: the sender closes
)

const (
	headerBytes = 48
	// maxFrame bounds a frame's bytes. Messages of more are cut, and spread over sockets.
	maxFrame = 1 << 20
	// maxAhead is how many messages may be under way behind one that is not complete.
	maxAhead = 1 << 16
	// maxAdd bounds what one frame adds to a signal.
	maxAdd = 1 << 32
)

func (f *frame) encode(b *[headerBytes]byte) {
	e := binary.LittleEndian
	e.PutUint32(b[0:], f.kind)
	e.PutUint32(b[4:], f.window)
	e.PutUint64(b[8:], f.message)
	e.PutUint64(b[16:], f.offset)
	e.PutUint64(b[24:], f.total)
	e.PutUint32(b[32:], f.length)
	e.PutUint32(b[36:], f.signal)
	e.PutUint64(b[40:], f.add)
}

// decode reads a header; what it says has been held against the format, not against windows.
func decode(b []byte) (f frame, err error) {
	e := binary.LittleEndian
	f = frame{kind: e.Uint32(b[0:]), window: e.Uint32(b[4:]), message: e.Uint64(b[8:]), offset: e.Uint64(b[16:]), total: e.Uint64(b[24:]),
		length: e.Uint32(b[32:]), signal: e.Uint32(b[36:]), add: e.Uint64(b[40:])}
	switch {
	case f.kind != dataFrame && f.kind != byeFrame:
		return f, fmt.Errorf("a frame of unknown kind %#x", f.kind)
	case f.length > maxFrame:
		return f, fmt.Errorf("a frame of %d bytes: at most %d are allowed", f.length, maxFrame)
	case uint64(f.length) > f.total:
		return f, fmt.Errorf("a frame of %d bytes of a message of %d", f.length, f.total)
	case f.length == 0 && f.total > 0:
		return f, fmt.Errorf("an empty frame of a message of %d bytes", f.total)
	case f.add > maxAdd:
		return f, fmt.Errorf("a signal raised by %d: at most %d is allowed", f.add, uint64(maxAdd))
	case f.kind == byeFrame && f.total > 0:
		return f, fmt.Errorf("a closing frame with %d bytes", f.total)
	}
	return f, nil
}
