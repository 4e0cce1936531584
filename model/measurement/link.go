package measurement

import (
	"bytes"
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"railyard/model/units"
)

// Link is something measured about links, copies or launches, without a collective.
type Link struct {
	Kind   string      // what, such as flag_oneway_relaxed or ll_ring
	Src    string      // number of a GPU, "host", or "*" for all at once
	Dst    string      // the same
	Blocks int         // thread blocks of the kernel; 0: does not apply
	Bytes  units.Bytes // of a copy or message; 0: does not apply
	Value  float64
	Unit   string // us, ns, GBps
}

// Kinds of rows of a network between processes, whose numbers are sources and destinations.
const (
	NetPair    = "net_pair"           // µs of a message one way between two, while all others rest
	NetAll     = "net_all"            // µs of a message that each sends at once, all so many places on
	NetLocal   = "net_local"          // µs until a rank hears of a message of another one of its process
	NetInput   = "net_memory_input"   // GB/s that each rank reaches which copies inputs of others, all processes at once
	NetCopy    = "net_memory_copy"    // the same, of what others have just written
	NetCombine = "net_memory_combine" // the same, combined with a rank's own; bytes of all three are those of the largest collective
)

// linkHeader are the columns of a file of links, in order.
var linkHeader = []string{"kind", "src", "dst", "blocks", "bytes", "value", "unit"}

// AreLinks reports whether a text begins as WriteLinks does, comments aside.
func AreLinks(head []byte) bool {
	for line := range bytes.Lines(head) {
		if !bytes.HasPrefix(line, []byte("#")) {
			return string(bytes.TrimSpace(line)) == strings.Join(linkHeader, ",")
		}
	}
	return false
}

// ReadLinks reads what WriteLinks writes, as Lines does.
func ReadLinks(r io.Reader, file string) (out []Link, err error) {
	err = Lines(r, file, func(l *Line) {
		x := Link{Kind: l.Cell("kind"), Src: l.Cell("src"), Dst: l.Cell("dst"), Blocks: l.Whole("blocks", 0, 1<<20), Bytes: l.Size("bytes"),
			Value: l.Number("value"), Unit: l.Cell("unit")}
		l.Given("kind", "value", "unit")
		if x.Value > maxTimeUS {
			l.Fail("value", "%v is more than can be measured", x.Value)
		}
		out = append(out, x)
	}, linkHeader...)
	return out, err
}

// WriteLinks writes rows as CSV; 0 blocks and bytes are left empty.
func WriteLinks(w io.Writer, rows []Link) error {
	out := csv.NewWriter(w)
	if err := out.Write(linkHeader); err != nil {
		return err
	}
	count := func(n int64) string {
		if n == 0 {
			return ""
		}
		return strconv.FormatInt(n, 10)
	}
	for _, l := range rows {
		value := strconv.FormatFloat(l.Value, 'f', -1, 64)
		if err := out.Write([]string{l.Kind, l.Src, l.Dst, count(int64(l.Blocks)), count(int64(l.Bytes)), value, l.Unit}); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
