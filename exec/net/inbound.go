package net

// inbound takes a socket's bytes apart. Small frames come through a buffer, many in one read;
// the bytes of large ones are read where they belong, and what follows them, in the same
// read, into the buffer.
type inbound struct {
	arrivals *arrivals
	frame    frame  // whose bytes are awaited
	rest     []byte // where the next of them go
	buffer   []byte
	from, to int  // what is in the buffer and not read yet
	bye      bool // the peer has closed
}

const bufferBytes = 64 << 10

func newInbound(a *arrivals) *inbound {
	return &inbound{arrivals: a, buffer: make([]byte, bufferBytes)}
}

// space is where the next bytes go: at first those that a frame lacks, then the buffer's.
func (in *inbound) space() (rest, buffer []byte) {
	if in.from > 0 {
		in.to = copy(in.buffer, in.buffer[in.from:in.to])
		in.from = 0
	}
	return in.rest, in.buffer[in.to:]
}

// filled says that n bytes have come into room, and takes what is complete.
func (in *inbound) filled(n int) error {
	direct := min(n, len(in.rest))
	in.rest = in.rest[direct:]
	in.to += n - direct
	if direct > 0 && len(in.rest) == 0 {
		if err := in.arrivals.arrived(&in.frame); err != nil {
			return err
		}
	}
	for len(in.rest) == 0 && in.to-in.from >= headerBytes && !in.bye {
		if err := in.next(); err != nil {
			return err
		}
	}
	return nil
}

// next takes a frame out of the buffer, as far as it is there.
func (in *inbound) next() (err error) {
	if in.frame, err = decode(in.buffer[in.from:]); err != nil {
		return err
	}
	in.from += headerBytes
	if in.frame.kind == byeFrame {
		in.bye = true
		return nil
	}
	place, err := in.arrivals.place(&in.frame)
	if err != nil {
		return err
	}
	n := copy(place, in.buffer[in.from:in.to])
	in.from += n
	if in.rest = place[n:]; len(in.rest) > 0 {
		return nil
	}
	return in.arrivals.arrived(&in.frame)
}
