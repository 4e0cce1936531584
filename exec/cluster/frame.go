package cluster

import (
	"encoding/binary"
	"fmt"
	"io"
)

// kind is what a frame is for.
type kind uint8

const (
	beat     kind = iota + 1 // nothing but a sign of life
	greet                    // the first frame of whoever dials: a greeting
	welcome                  // all ranks are there: their nodes
	gather                   // for rank 0
	exchange                 // for all
	barrier                  // Barrier
	bye                      // Close
	reason                   // why the group ends, or why whoever dials cannot come in
	kinds
)

var kindNames = [kinds]string{beat: "heartbeat", greet: "greeting", welcome: "welcome", gather: "Gather", exchange: "Exchange",
	barrier: "Barrier", bye: "Close", reason: "reason"}

// String implements fmt.Stringer.
func (k kind) String() string {
	if k < kinds && kindNames[k] != "" {
		return kindNames[k]
	}
	return fmt.Sprintf("frame of kind %d", uint8(k))
}

// Bounds of what a frame carries, in bytes: before a rank is known, and after.
const (
	maxGreeting = 64 << 10
	maxPayload  = 64 << 20
)

// frame is a message on a control connection. Operations of all ranks are numbered, so that ranks that do different
// ones notice it.
type frame struct {
	kind    kind
	number  uint32
	payload []byte
}

const headerSize = 1 + 4 + 4 // kind, number, length of the payload

// encode is a frame as it goes over the connection.
func (f frame) encode() ([]byte, error) {
	if len(f.payload) > maxPayload {
		return nil, fmt.Errorf("%v of %d bytes: at most %d go over a control connection", f.kind, len(f.payload), maxPayload)
	}
	out := make([]byte, headerSize, headerSize+len(f.payload))
	out[0] = byte(f.kind)
	binary.BigEndian.PutUint32(out[1:], f.number)
	binary.BigEndian.PutUint32(out[5:], uint32(len(f.payload)))
	return append(out, f.payload...), nil
}

// readFrame reads the next frame of at most so many bytes.
func readFrame(r io.Reader, most int) (frame, error) {
	var head [headerSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return frame{}, err
	}
	f := frame{kind: kind(head[0]), number: binary.BigEndian.Uint32(head[1:])}
	n := binary.BigEndian.Uint32(head[5:])
	if f.kind == 0 || f.kind >= kinds {
		return frame{}, fmt.Errorf("%v is no message of this protocol", f.kind)
	}
	if uint64(n) > uint64(most) {
		return frame{}, fmt.Errorf("%v of %d bytes, more than %d", f.kind, n, most)
	}
	f.payload = make([]byte, n)
	_, err := io.ReadFull(r, f.payload)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return f, err
}

// joinParts puts the messages of all ranks into one payload.
func joinParts(parts [][]byte) []byte {
	size := 0
	for _, p := range parts {
		size += 4 + len(p)
	}
	out := make([]byte, 0, size)
	for _, p := range parts {
		out = binary.BigEndian.AppendUint32(out, uint32(len(p)))
		out = append(out, p...)
	}
	return out
}

// splitParts undoes joinParts for so many ranks.
func splitParts(payload []byte, ranks int) ([][]byte, error) {
	parts := make([][]byte, ranks)
	for i := range parts {
		if len(payload) < 4 || uint64(len(payload)-4) < uint64(binary.BigEndian.Uint32(payload)) {
			return nil, fmt.Errorf("message of rank %d is cut off", i)
		}
		n := binary.BigEndian.Uint32(payload)
		parts[i], payload = payload[4:4+n:4+n], payload[4+n:]
	}
	if len(payload) > 0 {
		return nil, fmt.Errorf("%d bytes after the last rank's message", len(payload))
	}
	return parts, nil
}
