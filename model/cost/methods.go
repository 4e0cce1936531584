package cost

import (
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"

	"railyard/model/units"
)

// Method is what was fastest on a machine for a collective up to a size: a schedule's
// algorithm and how GPUs run it.
type Method struct {
	Collective string
	GPUs       int
	UpTo       units.Bytes // the largest size; 0: without end
	Algorithm  string
	Slices     int
	Mechanism  string // how messages travel: pull, push, packets, lines, words, words_push, copies
	Blocks     int    // thread blocks a lane; 0: as many as the size needs
	Threads    int    // of a block
	Streams    int    // that copies are spread over
}

// Method is the row for a collective on so many GPUs and a size; nil where none was
// measured. Rows of a collective ascend.
func (p *Profile) Method(collective string, gpus int, size units.Bytes) *Method {
	i := slices.IndexFunc(p.Methods, func(m Method) bool {
		return m.Collective == collective && m.GPUs == gpus && (m.UpTo == 0 || size <= m.UpTo)
	})
	if i < 0 {
		return nil
	}
	return &p.Methods[i]
}

// methodInFile is written on one line.
type methodInFile struct {
	Collective string `yaml:"collective"`
	GPUs       int    `yaml:"gpus"`
	UpTo       string `yaml:"up_to,omitempty"`
	Algorithm  string `yaml:"algorithm"`
	Slices     int    `yaml:"slices,omitempty"`
	Mechanism  string `yaml:"mechanism"`
	Blocks     int    `yaml:"blocks,omitempty"`
	Threads    int    `yaml:"threads,omitempty"`
	Streams    int    `yaml:"streams,omitempty"`
}

// MarshalYAML implements yaml.Marshaler.
func (m methodInFile) MarshalYAML() (any, error) {
	type plain methodInFile
	var n yaml.Node
	if err := n.Encode(plain(m)); err != nil {
		return nil, err
	}
	n.Style = yaml.FlowStyle
	return &n, nil
}

// mechanisms may be named in methods.
var mechanisms = []string{"pull", "push", "packets", "lines", "words", "words_push", "copies"}

func (r *reader) methods(list []methodInFile) (out []Method) {
	for i, f := range list {
		what := fmt.Sprintf("method %d", i)
		m := Method{f.Collective, f.GPUs, optional(r, what+" up_to", f.UpTo, units.ParseBytes), f.Algorithm, max(f.Slices, 1), f.Mechanism, f.Blocks, f.Threads, f.Streams}
		switch {
		case m.Collective == "" || m.Algorithm == "" || m.GPUs < 1:
			r.fail("%s: collective, gpus and algorithm must be given", what)
		case !slices.Contains(mechanisms, m.Mechanism):
			r.fail("%s: mechanism %q must be one of %v", what, m.Mechanism, mechanisms)
		case min(f.Slices, m.Blocks, m.Threads, m.Streams) < 0 || m.Threads%32 != 0:
			r.fail("%s: slices, blocks and streams must not be negative, threads a multiple of 32", what)
		case i > 0 && out[i-1].Collective == m.Collective && out[i-1].GPUs == m.GPUs && (out[i-1].UpTo == 0 || m.UpTo != 0 && m.UpTo <= out[i-1].UpTo):
			r.fail("%s: up_to must be larger than in the row before", what)
		}
		out = append(out, m)
	}
	return out
}

func methodText(m *Method) methodInFile {
	out := methodInFile{m.Collective, m.GPUs, "", m.Algorithm, m.Slices, m.Mechanism, m.Blocks, m.Threads, m.Streams}
	if m.Slices == 1 {
		out.Slices = 0
	}
	if m.UpTo > 0 {
		out.UpTo = fmt.Sprintf("%dB", int64(m.UpTo))
	}
	return out
}
