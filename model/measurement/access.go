package measurement

import (
	"fmt"
	"strconv"
	"strings"

	"railyard/model/units"
)

// Patterns of threads' accesses to memory.
const (
	Coalesced  = "coalesced"  // neighbours access neighbouring places, aligned to 16 bytes
	Misaligned = "misaligned" // the same, not aligned to 16 bytes
	Strided    = "strided"    // pieces of some bytes, at one place of eight
	Scattered  = "scattered"  // pieces of some bytes, anywhere
)

// Access is how blocks access memory.
type Access struct {
	Peer    bool        `file:"peer"`   // another GPU's memory
	Stores  bool        `file:"stores"` // else they load
	Pattern string      `file:"pattern,need,one=coalesced|misaligned|strided|scattered"`
	Piece   units.Bytes `file:"piece,some"` // that lies together; misaligned: of which stores are multiples, or that loads are off
}

// Kind is that of rows that measure it (GB/s that are copied): local_load_strided_p64.
func (a Access) Kind() string {
	return fmt.Sprintf("%s_%s_%s_p%d", choice(a.Peer, "peer", "local"), choice(a.Stores, "store", "load"), a.Pattern, int64(a.Piece))
}

// Words say it: scattered stores in a peer's memory.
func (a Access) Words() string {
	return a.Pattern + choice(a.Stores, " stores", " loads") + choice(a.Peer, " in a peer's memory", " in its own memory")
}

func choice(x bool, yes, no string) string {
	if x {
		return yes
	}
	return no
}

// Accessed reads a kind of row; false where it is none of an access.
func Accessed(kind string) (a Access, ok bool) {
	parts := strings.Split(kind, "_")
	if len(parts) != 4 {
		return a, false
	}
	n, err := strconv.ParseInt(strings.TrimPrefix(parts[3], "p"), 10, 64)
	a = Access{Peer: parts[0] == "peer", Stores: parts[1] == "store", Pattern: parts[2], Piece: units.Bytes(n)}
	return a, err == nil && n > 0 && a.Kind() == kind
}

// Allocators, and the kinds of rows that they end: µs to take so many bytes and give them back, GB/s of copies within them.
const (
	AllocBy = "alloc_"
	CopyIn  = "copy_in_"
	Plain   = "plain"  // cuMemAlloc
	Pool    = "pool"   // cuMemAllocAsync
	Mapped  = "mapped" // cuMemCreate and cuMemMap: what plans run in
)
