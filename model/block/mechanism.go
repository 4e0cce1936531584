package block

import (
	"fmt"
	"slices"
	"strings"

	"railyard/model/schedule"
)

// Mechanism is how messages travel.
type Mechanism uint8

// The mechanisms. Push falls back to Pull, message by message, where the receiver's
// memory is not known to be free.
const (
	Pull Mechanism = iota
	Push
	Packets // LL
	Lines   // LL128
	Words   // reductions of floats only
	// WordsPush is words for what is reduced; its result is pushed, message by message, to
	// those whose words went into it, who thereby have said that they have begun.
	WordsPush
	Copies // by copy engines (CompileCopies)
)

// mechanism is what there is to know of one.
type mechanism struct {
	name     string            // on the command line, in profiles and in rows of measurements
	protocol schedule.Protocol // whose costs its messages have
	pushes   bool              // messages may be written to where they are wanted
	// Where data show themselves that they have arrived:
	put        Kind  // the operation that sends them; the one that takes them comes next
	data, room int64 // so many bytes of data lie in so many of a packet buffer; pieces are a multiple of data
	empty      byte  // what the buffer holds before the first launch
	// A launch has threads for every so many bytes of data, in blocks that grow with them.
	bytes, threads int64
	blocks         []blockStep
}

// blockStep: up to so many threads in all, blocks have so many.
type blockStep struct {
	all int64
	one int
}

// Lines carry this many bytes of data in so many.
const (
	lineData  = 240
	lineBytes = 256
)

var mechanisms = [...]mechanism{
	Pull: {name: "pull", protocol: schedule.Pulled},
	Push: {name: "push", protocol: schedule.Simple, pushes: true},
	Packets: {name: "packets", protocol: schedule.LL, put: LLPut, data: 1, room: 2,
		bytes: 8, threads: 1, blocks: []blockStep{{1024, 64}, {16384, 256}}},
	Lines: {name: "lines", protocol: schedule.LL128, put: LinePut, data: lineData, room: lineBytes,
		bytes: 15, threads: 2, blocks: []blockStep{{40000, 256}}},
	Words: {name: "words", protocol: schedule.Words, put: WordPut, data: 1, room: 1, empty: 0xff,
		bytes: 16, threads: 1, blocks: []blockStep{{8192, 128}, {32768, 256}}},
	WordsPush: {name: "words_push", protocol: schedule.Words, pushes: true, put: WordPut, data: 1, room: 1, empty: 0xff,
		bytes: 16, threads: 1, blocks: []blockStep{{8192, 128}, {32768, 256}}},
	Copies: {name: "copies", protocol: schedule.CopyEngine},
}

func (m Mechanism) String() string { return mechanisms[m].name }

// MechanismNames are what ParseMechanism takes, for messages.
func MechanismNames() string {
	var names []string
	for _, m := range mechanisms {
		names = append(names, m.name)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// ParseMechanism reads a name.
func ParseMechanism(name string) (Mechanism, error) {
	i := slices.IndexFunc(mechanisms[:], func(m mechanism) bool { return m.name == name })
	if i < 0 {
		return 0, fmt.Errorf("mechanism %q: must be %s", name, MechanismNames())
	}
	return Mechanism(i), nil
}

// Protocol is the protocol whose costs messages have.
func (m Mechanism) Protocol() schedule.Protocol { return mechanisms[m].protocol }

// FlaggedFor is the mechanism of a protocol whose data show themselves that they have arrived;
// false where it is none of those.
func FlaggedFor(p schedule.Protocol) (Mechanism, bool) {
	i := slices.IndexFunc(mechanisms[:], func(m mechanism) bool { return m.room > 0 && m.protocol == p })
	return Mechanism(max(i, 0)), i >= 0
}

// Flagged reports whether data show themselves that they have arrived.
func (m Mechanism) Flagged() bool { return mechanisms[m].room > 0 }

// InWords reports whether a packet buffer holds words.
func (m Mechanism) InWords() bool { return mechanisms[m].put == WordPut }

// Empty is what the bytes of a packet buffer are before the first launch.
func (m Mechanism) Empty() byte { return mechanisms[m].empty }

// packetBytes is the bytes that data take in a packet buffer; 0 without one.
func (m Mechanism) packetBytes(data int64) int64 {
	x := &mechanisms[m]
	return data / max(x.data, 1) * x.room
}

// form is an operation on packets, given as LLPut or LLReduce, as the mechanism has it.
func (m Mechanism) form(k Kind) Kind {
	if !m.Flagged() {
		return k
	}
	return k + mechanisms[m].put - LLPut
}

// Mechanism is the one whose packets an operation sends or takes, of several the first; false
// where it has none.
func (k Kind) Mechanism() (Mechanism, bool) {
	i := slices.IndexFunc(mechanisms[:], func(m mechanism) bool { return m.room > 0 && (k == m.put || k == m.put+1) })
	return Mechanism(max(i, 0)), i >= 0
}

// puts reports whether an operation sends packets only.
func (k Kind) puts() bool {
	m, ok := k.Mechanism()
	return ok && k == mechanisms[m].put
}

// takes reports whether an operation takes packets.
func (k Kind) takes() bool {
	_, ok := k.Mechanism()
	return ok && !k.puts()
}

// Shape is how many blocks of how many threads move so many bytes of data that show themselves
// that they have arrived: at most one block a multiprocessor and, up to 4 MiB, 128, into which
// powers of two divide evenly.
func (m Mechanism) Shape(bytes int64, multiprocessors int) (blocks, threads int) {
	most := int64(multiprocessors)
	if bytes <= 4<<20 {
		most = min(most, 128)
	}
	x := &mechanisms[m]
	all := max(bytes*x.threads/x.bytes, 1)
	threads = 512
	for _, s := range slices.Backward(x.blocks) {
		if all <= s.all {
			threads = s.one
		}
	}
	return int(min((all+int64(threads)-1)/int64(threads), most)), threads
}
