package flightrecorder

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// unpickle reads Python's pickled plain data (PEP 307, protocols 2 to 5): dictionaries by text, lists, tuples, texts, numbers. Nothing
// is run: opcodes that name code are refused. Memory grows with the data alone, as nothing is copied that the data refers to twice.
func (m *machine) unpickle(data []byte) (value, error) {
	*m = machine{data: data, stack: m.stack[:0], memo: m.memo[:0], items: m.items[:0], room: m.room[:0]}
	for m.at < len(data) {
		at, op := m.at, data[m.at]
		if m.at++; op == opStop {
			return m.pop()
		}
		if err := m.step(op); err != nil {
			return value{}, fmt.Errorf("byte %d: %w", at, err)
		}
	}
	return value{}, errShort
}

// machines are done with a dump, and have room for another.
var machines = sync.Pool{New: func() any { return &machine{} }}

// The opcodes of plain data, as Python's pickletools names them.
const (
	opMark, opStop, opPop, opPopMark, opNone                            = '(', '.', '0', '1', 'N'
	opProto, opFrame, opTrue, opFalse                                   = 0x80, 0x95, 0x88, 0x89
	opInt1, opInt2, opInt4, opLong1, opFloat                            = 'K', 'M', 'J', 0x8a, 'G'
	opText1, opText4, opText8, opString1, opString4, opBytes1, opBytes4 = 0x8c, 'X', 0x8d, 'U', 'T', 'C', 'B'
	opList, opAppend, opAppends                                         = ']', 'a', 'e'
	opTuple, opTuple0, opTuple1, opTuple2, opTuple3                     = 't', ')', 0x85, 0x86, 0x87
	opDict, opSetItem, opSetItems                                       = '}', 's', 'u'
	opPut1, opPut4, opGet1, opGet4, opMemoize                           = 'q', 'r', 'h', 'j', 0x94
)

// widths are the bytes of an opcode's number or length.
var widths = [256]int{opInt1: 1, opInt2: 2, opInt4: 4, opText1: 1, opString1: 1, opBytes1: 1, opText4: 4, opString4: 4, opBytes4: 4,
	opText8:  8,
	opTuple1: 1, opTuple2: 2, opTuple3: 3, opPut1: 1, opGet1: 1, opPut4: 4, opGet4: 4}

// value is a datum. It has no pointers, so that the collector of memory has nothing to follow in a thousand dumps.
type value struct {
	kind kind
	size uint32 // of a text, bytes
	n    int64  // the number; a real one's bits; where a text begins in the data; which of the machine's sequences it is
}

type kind uint8

const (
	none kind = iota
	truth
	whole
	real
	text
	list // or tuple; others may refer to it while it grows
	dict // keys, which are texts, and values in turn; of equal keys the last counts
	mark // where a sequence begins on the stack
)

// machine is the stack machine that pickled data are a program of.
type machine struct {
	data  []byte
	at    int
	stack []value
	memo  []value // by number
	items []span  // of lists and dictionaries
	room  []value // of all items
}

// span is where the items of a sequence lie, and how many may.
type span struct{ from, n, most int }

// text is what a text says, within the data.
func (m *machine) text(v value) []byte { return m.data[v.n : v.n+int64(v.size)] }

// sequence is a new list or dictionary.
func (m *machine) sequence(kind kind, items []value) value {
	m.items = append(m.items, span{len(m.room), len(items), len(items)})
	m.room = append(m.room, items...)
	return value{kind: kind, n: int64(len(m.items) - 1)}
}

// of are the items of a sequence.
func (m *machine) of(v value) []value {
	s := m.items[v.n]
	return m.room[s.from : s.from+s.n]
}

// add puts further items to a sequence, which moves to where there is room for as many again if it has none.
func (m *machine) add(to value, items []value) {
	s := &m.items[to.n]
	if s.n+len(items) > s.most {
		own := m.of(to)
		s.from, s.most = len(m.room), s.n+len(items)
		if s.n > 0 {
			s.most *= 2
		}
		m.room = append(append(m.room, own...), items...)
		spare := s.most - s.n - len(items)
		m.room = slices.Grow(m.room, spare)[:len(m.room)+spare]
	} else {
		copy(m.room[s.from+s.n:], items)
	}
	s.n += len(items)
}

var (
	errShort = errors.New("the file ends in the middle of a value")
	errStack = errors.New("not valid pickled data")
)

func (m *machine) bytes(n uint64) ([]byte, error) {
	if n > uint64(len(m.data)-m.at) {
		return nil, errShort
	}
	b := m.data[m.at : m.at+int(n)]
	m.at += int(n)
	return b, nil
}

// uint reads a little-endian number of so many bytes.
func (m *machine) uint(width int) (uint64, error) {
	if width > len(m.data)-m.at {
		return 0, errShort
	}
	b := m.data[m.at : m.at+width]
	m.at += width
	if width == 1 {
		return uint64(b[0]), nil
	}
	var v uint64
	for i := width - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return v, nil
}

func (m *machine) push(v value) error {
	m.stack = append(m.stack, v)
	return nil
}

func (m *machine) pop() (value, error) {
	if len(m.stack) == 0 {
		return value{}, errStack
	}
	v := m.stack[len(m.stack)-1]
	m.stack = m.stack[:len(m.stack)-1]
	return v, nil
}

// popped takes the last n; they are valid until something is pushed.
func (m *machine) popped(n int) ([]value, error) {
	if len(m.stack) < n {
		return nil, errStack
	}
	items := m.stack[len(m.stack)-n:]
	m.stack = m.stack[:len(m.stack)-n]
	return items, nil
}

// marked takes what lies above the last mark, and the mark; it is valid until something is pushed.
func (m *machine) marked() ([]value, error) {
	for i := len(m.stack) - 1; i >= 0; i-- {
		if m.stack[i].kind == mark {
			items := m.stack[i+1:]
			m.stack = m.stack[:i]
			return items, nil
		}
	}
	return nil, errStack
}

func (m *machine) step(op byte) error {
	switch op {
	case opProto:
		_, err := m.uint(1)
		return err
	case opFrame:
		_, err := m.uint(8)
		return err
	case opMark:
		return m.push(value{kind: mark})
	case opPop:
		_, err := m.pop()
		return err
	case opPopMark:
		_, err := m.marked()
		return err
	case opPut1, opPut4, opGet1, opGet4, opMemoize:
		return m.remember(op)
	case opAppend, opAppends, opSetItem, opSetItems:
		return m.fill(op)
	case opTuple, opTuple0, opTuple1, opTuple2, opTuple3:
		return m.tuple(op)
	}
	return m.scalar(op)
}

func (m *machine) scalar(op byte) error {
	switch op {
	case opNone:
		return m.push(value{})
	case opTrue:
		return m.push(value{kind: truth, n: 1})
	case opFalse:
		return m.push(value{kind: truth})
	case opList:
		return m.push(m.sequence(list, nil))
	case opDict:
		return m.push(m.sequence(dict, nil))
	case opInt1, opInt2, opInt4, opLong1:
		return m.number(op)
	case opFloat:
		b, err := m.bytes(8)
		if err != nil {
			return err
		}
		return m.push(value{kind: real, n: int64(binary.BigEndian.Uint64(b))})
	}
	width := widths[op]
	if width == 0 {
		return fmt.Errorf("opcode %#x: only plain data are read, as the flight recorder writes them; code is never run", op)
	}
	n, err := m.uint(width)
	if err != nil {
		return err
	}
	at := m.at
	if _, err := m.bytes(n); err != nil {
		return err
	}
	return m.push(value{text, uint32(n), int64(at)})
}

func (m *machine) number(op byte) error {
	width := widths[op]
	if op == opLong1 {
		n, err := m.uint(1)
		if err != nil {
			return err
		}
		if n > 8 {
			return fmt.Errorf("a number of %d bytes", n)
		}
		width = int(n)
	}
	v, err := m.uint(width)
	if err != nil {
		return err
	}
	if spare := 64 - 8*width; width > 0 && op != opInt1 && op != opInt2 { // signed
		return m.push(value{kind: whole, n: int64(v<<spare) >> spare})
	}
	return m.push(value{kind: whole, n: int64(v)})
}

func (m *machine) remember(op byte) error {
	key := uint64(len(m.memo))
	if op != opMemoize {
		var err error
		if key, err = m.uint(widths[op]); err != nil {
			return err
		}
	}
	if op == opGet1 || op == opGet4 {
		if key >= uint64(len(m.memo)) {
			return errStack
		}
		return m.push(m.memo[key])
	}
	if len(m.stack) == 0 || key > uint64(len(m.memo)) { // numbers are given in turn
		return errStack
	}
	m.memo = append(m.memo[:key], m.stack[len(m.stack)-1])
	return nil
}

// fill adds items to the list or dictionary below them.
func (m *machine) fill(op byte) error {
	var items []value
	var err error
	switch op {
	case opAppends, opSetItems:
		items, err = m.marked()
	case opSetItem:
		items, err = m.popped(2)
	default:
		items, err = m.popped(1)
	}
	if err != nil || len(m.stack) == 0 {
		return errStack
	}
	into := m.stack[len(m.stack)-1]
	switch into.kind {
	case list:
	case dict:
		if len(items)%2 != 0 {
			return errStack
		}
		for i := 0; i < len(items); i += 2 {
			if items[i].kind != text {
				return errors.New("a dictionary's key is no text")
			}
		}
	default:
		return errStack
	}
	m.add(into, items)
	return nil
}

func (m *machine) tuple(op byte) error {
	items, err := m.popped(widths[op])
	if op == opTuple {
		items, err = m.marked()
	}
	if err != nil {
		return err
	}
	return m.push(m.sequence(list, items))
}
