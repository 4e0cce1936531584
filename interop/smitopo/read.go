package smitopo

import (
	"errors"
	"io"
	"strings"

	"railyard/internal/lazy"
	"railyard/interop/foreign"
)

// Bounds of a machine.
const (
	maxDevices = 256
	maxMiB     = 4
)

var (
	// escapes underline the header on terminals.
	escapes = lazy.Regexp("\x1b\\[[0-9;]*[A-Za-z]")
	gpuName = lazy.Regexp(`^GPU\d+$`)
	legend  = lazy.Regexp(`^(NIC\d+):\s+(\S+)$`)
)

// Read reads a matrix and validates it. What stands before its header, such as the command, is passed over.
func Read(r io.Reader) (*Matrix, error) {
	data, err := foreign.Read(r, maxMiB)
	if err != nil {
		return nil, err
	}
	p := &parser{}
	for i, line := range strings.Split(escapes().ReplaceAllString(string(data), ""), "\n") {
		if err := p.line(strings.Fields(line), strings.TrimSpace(line), i+1); err != nil {
			return nil, foreign.At(i+1, "%w", err)
		}
	}
	if len(p.m.Devices) == 0 {
		return nil, errors.New("no line that begins with GPU0: this is no output of nvidia-smi topo -m")
	}
	return &p.m, p.m.validate()
}

type parser struct {
	m      Matrix
	byName map[string]int
	ended  bool // the rows have
}

func (p *parser) line(fields []string, text string, line int) error {
	switch {
	case len(p.m.Devices) == 0:
		if len(fields) > 1 && fields[0] == "GPU0" {
			return p.header(fields)
		}
	case strings.HasPrefix(text, "NV#"):
		p.m.nvlinks = true
	case legend().MatchString(text):
		m := legend().FindStringSubmatch(text)
		i, ok := p.byName[m[1]]
		if !ok {
			return errors.New("the legend names " + m[1] + ", which has no column")
		}
		p.m.Devices[i].Adapter = m[2]
	case len(fields) > 1 && fields[0] == "GPU0" && (fields[1] == "GPU1" || fields[1] == "CPU"):
		return errors.New("another matrix: a file describes one machine, so remove all but one")
	case len(fields) == 0:
		p.ended = len(p.m.Cells) > 0
	case !p.ended:
		return p.row(fields, line)
	}
	return nil
}

// header takes the columns of devices, up to those of affinities.
func (p *parser) header(fields []string) error {
	p.byName = map[string]int{}
	for i, name := range fields {
		if name == "CPU" || name == "NUMA" {
			break
		}
		if _, twice := p.byName[name]; twice {
			return errors.New("two columns are called " + name)
		}
		if i == maxDevices {
			return errors.New("more GPUs and adapters than a machine has")
		}
		d := Device{Name: name, GPU: gpuName().MatchString(name)}
		if d.GPU && i > 0 && !p.m.Devices[i-1].GPU {
			return errors.New(name + " comes after an adapter: GPUs come first")
		}
		if !d.GPU && !strings.HasPrefix(name, "NIC") { // older versions write the adapter's own name
			d.Adapter = name
		}
		p.byName[name] = i
		p.m.Devices = append(p.m.Devices, d)
	}
	return nil
}

func (p *parser) row(fields []string, line int) error {
	n, at := len(p.m.Devices), len(p.m.Cells)
	if fields[0] != p.m.Devices[at].Name {
		return errors.New("unexpected row " + fields[0] + ": rows have the order of the columns")
	}
	if len(fields) < n+1 {
		return errors.New("row " + fields[0] + " has fewer cells than there are columns")
	}
	var cells []Cell
	for _, text := range fields[1 : n+1] {
		c, err := parseCell(text)
		if err != nil {
			return err
		}
		cells = append(cells, c)
	}
	p.m.Cells = append(p.m.Cells, cells)
	p.ended = at+1 == n
	d := &p.m.Devices[at]
	d.line = line
	if rest := fields[n+1:]; d.GPU && len(rest) > 0 {
		d.CPUs = known(rest[0])
		if len(rest) > 1 {
			d.NUMA = known(rest[1])
		}
	}
	return nil
}

// known is a value that the driver may not know.
func known(text string) string {
	if text == "N/A" {
		return ""
	}
	return text
}

// validate checks that the cells fit one another.
func (m *Matrix) validate() error {
	var v foreign.Mistakes
	if len(m.Cells) != len(m.Devices) {
		v.Add(0, "%d rows, but %d columns of GPUs and adapters: the text is cut off", len(m.Cells), len(m.Devices))
		return v.Err()
	}
	for i, row := range m.Cells {
		d := &m.Devices[i]
		for j, c := range row {
			o := &m.Devices[j]
			switch {
			case (i == j) != (c.Kind == Same):
				v.Add(d.line, "%s to %s: %v", d.Name, o.Name, c)
			case c.Kind == NV && !(d.GPU && o.GPU):
				v.Add(d.line, "%s to %s: %v joins GPUs only", d.Name, o.Name, c)
			case j < i && c != m.Cells[j][i]:
				v.Add(d.line, "%s to %s: %v, but %v the other way", d.Name, o.Name, c, m.Cells[j][i])
			}
		}
	}
	return v.Err()
}
