package smitopo

import (
	"slices"
	"strings"

	"railyard/internal/lazy"
	"railyard/interop/foreign"
	"railyard/model/health"
)

// access are the words of the matrix of peer access, which looks like that of connections: OK, or why a GPU cannot read another one's
// memory; U is not known.
var access = []string{"OK", "CNS", "GNS", "TNS", "NS", "DR", "U"}

var accessRow = lazy.Regexp(`^GPU\d+(\s+(X|` + strings.Join(access, "|") + `))+$`)

// accessOf is the cells of a row of peer access, its GPU first; nil of other lines.
func accessOf(line string) []string {
	if line = strings.TrimSpace(escapes().ReplaceAllString(line, "")); accessRow().MatchString(line) {
		return strings.Fields(line)
	}
	return nil
}

// IsAccess reports whether a text is what "nvidia-smi topo -p2p r" prints.
func IsAccess(data []byte) bool {
	for line := range strings.SplitSeq(string(data), "\n") {
		if slices.ContainsFunc(accessOf(line), func(cell string) bool { return slices.Contains(access, cell) }) {
			return true
		}
	}
	return false
}

// ReadAccess says how many other GPUs each reaches without a copy in host memory.
func ReadAccess(s *health.State, file string, data []byte) error {
	var v foreign.Mistakes
	var reached []int // by GPU; -1 where the driver does not know
	width := 0
	for i, line := range strings.Split(string(data), "\n") {
		cells := accessOf(line)
		if cells == nil {
			continue
		}
		gpu := len(reached)
		width = max(width, len(cells)-1)
		if len(cells)-1 != width || gpu >= width || gpu >= maxDevices || cells[gpu+1] != string(Same) {
			v.Add(i+1, "%s is not row %d of a matrix of %d GPUs: a file describes one machine, whole", cells[0], gpu+1, width)
			break
		}
		n := 0
		for j, cell := range cells[1:] {
			switch {
			case cell == "OK" && n >= 0:
				n++
			case cell == "U" || cell == string(Same) && j != gpu:
				n = -1
			}
		}
		reached = append(reached, n)
	}
	if len(reached) < width && v.Err() == nil {
		v.Add(0, "%d rows of %d GPUs: the text is cut off", len(reached), width)
	}
	if err := v.Err(); err != nil {
		return err
	}
	for gpu, n := range reached {
		if n >= 0 {
			s.Say(s.GPU(gpu), "peers_reached", float64(n), file)
		}
		if n >= 0 && n < width-1 {
			s.Note("%s does not say which capability its cells are of: reads are assumed, as nvidia-smi topo -p2p r prints them", file)
		}
	}
	return nil
}
