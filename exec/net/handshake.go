package net

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Token is a secret that all processes of a run have, and nobody else.
type Token [32]byte

// greeting is what a caller says first. Then the one that was called proves with a number of its own that it
// knows the token, then the caller does: HMAC-SHA256 of all that was said.
type greeting struct {
	Magic   [16]byte
	Order   [4]byte // 1 as the machine writes it: bytes of elements travel as they are
	Process uint32
	Socket  uint32
	Nonce   [32]byte
}

var magic = [16]byte([]byte("railyard net 1\r\n"))

func newGreeting(process, socket int) *greeting {
	g := &greeting{Magic: magic, Process: uint32(process), Socket: uint32(socket)}
	binary.NativeEndian.PutUint32(g.Order[:], 1)
	rand.Read(g.Nonce[:]) // it never fails
	return g
}

// answer is what comes back.
type answer struct {
	Nonce [32]byte
	Proof [32]byte
}

// prove is what only those can say who have the token.
func prove(t *Token, role string, g *greeting, nonce *[32]byte) (proof [32]byte) {
	h := hmac.New(sha256.New, t[:])
	io.WriteString(h, role)
	binary.Write(h, binary.LittleEndian, g)
	h.Write(nonce[:])
	h.Sum(proof[:0])
	return proof
}

var errStranger = errors.New("it does not belong to this run")

// call greets the process at the other end, and makes sure that it is of this run.
func call(c io.ReadWriter, t *Token, process, socket int) error {
	g := newGreeting(process, socket)
	if err := binary.Write(c, binary.LittleEndian, g); err != nil {
		return err
	}
	var a answer
	if err := binary.Read(c, binary.LittleEndian, &a); err != nil {
		return err
	}
	if want := prove(t, "called", g, &a.Nonce); !hmac.Equal(want[:], a.Proof[:]) {
		return errStranger
	}
	proof := prove(t, "caller", g, &a.Nonce)
	_, err := c.Write(proof[:])
	return err
}

// answerCall answers a greeting, and says who called. It reads not one byte more.
func answerCall(c io.ReadWriter, t *Token) (process, socket int, err error) {
	var g greeting
	if err := binary.Read(c, binary.LittleEndian, &g); err != nil {
		return 0, 0, err
	}
	if g.Magic != magic {
		return 0, 0, errStranger
	}
	var a answer
	rand.Read(a.Nonce[:])
	a.Proof = prove(t, "called", &g, &a.Nonce)
	if err := binary.Write(c, binary.LittleEndian, &a); err != nil {
		return 0, 0, err
	}
	var proof [32]byte
	if _, err := io.ReadFull(c, proof[:]); err != nil {
		return 0, 0, err
	}
	if want := prove(t, "caller", &g, &a.Nonce); !hmac.Equal(want[:], proof[:]) {
		return 0, 0, errStranger
	}
	if own := newGreeting(0, 0); g.Order != own.Order {
		return 0, 0, fmt.Errorf("process %d: its machine writes numbers in another byte order", g.Process)
	}
	return int(g.Process), int(g.Socket), nil
}
