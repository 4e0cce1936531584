package cost

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"gopkg.in/yaml.v3"

	"railyard/model/units"
)

// Schema is the version of the profile files.
const Schema = "railyard.profile/v1"

// maxFile bounds a profile file.
const maxFile = 1 << 20

// document is a profile as written: quantities with their units.
type document struct {
	Schema    string                `yaml:"schema"`
	Name      string                `yaml:"name"`
	Source    string                `yaml:"source"`
	Date      string                `yaml:"date"`
	Latencies bool                  `yaml:"latencies"`
	Serial    bool                  `yaml:"serial,omitempty"`
	From      string                `yaml:"from,omitempty"`
	Launch    string                `yaml:"launch,omitempty"`
	Reduce    string                `yaml:"reduce,omitempty"`
	Copy      string                `yaml:"copy,omitempty"`
	Window    string                `yaml:"window,omitempty"`
	MinSize   string                `yaml:"min_size,omitempty"`
	MaxSize   string                `yaml:"max_size,omitempty"`
	Error     string                `yaml:"error,omitempty"`
	Protocols []protocolInFile      `yaml:"protocols,omitempty"`
	Engines   []engineInFile        `yaml:"engines,omitempty"`
	Steps     map[string]stepInFile `yaml:"steps,omitempty"`
	Memory    []levelInFile         `yaml:"memory,omitempty"`
	Curves    []curveInFile         `yaml:"curves,omitempty"`
	Kernels   []kernelInFile        `yaml:"kernels,omitempty"`
	Execution string                `yaml:"execution,omitempty"`
	GPU       string                `yaml:"gpu,omitempty"`
	Methods   []methodInFile        `yaml:"methods,omitempty"`
}

type curveInFile struct {
	Medium   string          `yaml:"medium"`
	Protocol string          `yaml:"protocol"`
	Smooth   bool            `yaml:"smooth,omitempty"`
	Launch   string          `yaml:"launch,omitempty"`
	Peer     string          `yaml:"peer,omitempty"`
	Segments []segmentInFile `yaml:"segments"`
}

type segmentInFile struct {
	From       string  `yaml:"from"`
	Alpha      string  `yaml:"alpha"`
	AlphaCI    string  `yaml:"alpha_ci,omitempty"`
	Rate       string  `yaml:"rate,omitempty"`
	RateCI     string  `yaml:"rate_ci,omitempty"`
	Efficiency float64 `yaml:"efficiency,omitempty"`
}

// Parse reads a profile. Unknown keys, missing sources and impossible values are
// errors with the file's name (and the line, where the YAML library knows it).
func Parse(file string, data []byte) (*Profile, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("%s: larger than %d MiB", file, maxFile>>20)
	}
	var d document
	if err := strictly(data, &d); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s: the file is empty", file)
		}
		if d.Schema != "" && d.Schema != Schema { // another kind of file, whose keys are all unknown
			return nil, unknownSchema(file, d.Schema)
		}
		return nil, fmt.Errorf("%s: %s", file, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	r := reader{file: file}
	p := r.profile(&d)
	if len(r.errs) > 0 {
		return nil, errors.Join(r.errs...)
	}
	return p, nil
}

// strictly decodes YAML without unknown keys.
func strictly(data []byte, into any) error {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	return dec.Decode(into)
}

func unknownSchema(file, schema string) error {
	return fmt.Errorf("%s: schema %q is not known to this version: it reads %s", file, schema, Schema)
}

type reader struct {
	file string
	errs []error
}

func (r *reader) fail(format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf("%s: %s", r.file, fmt.Sprintf(format, args...)))
}

// optional parses a quantity where it is given; negative ones are errors.
func optional[T ~int64](r *reader, what, text string, parse func(string) (T, error)) T {
	if text == "" {
		return 0
	}
	v, err := parse(text)
	if err != nil {
		r.fail("%s: %v", what, err)
	} else if v < 0 {
		r.fail("%s: %s must not be negative", what, text)
	}
	return v
}

func (r *reader) profile(d *document) *Profile {
	if d.Schema != Schema {
		r.errs = append(r.errs, unknownSchema(r.file, d.Schema))
	}
	for _, x := range []struct{ key, value string }{{"name", d.Name}, {"source", d.Source}, {"date", d.Date}} {
		if strings.TrimSpace(x.value) == "" {
			r.fail("%q is missing", x.key)
		}
	}
	p := &Profile{Name: d.Name, Source: d.Source, Date: d.Date, Latencies: d.Latencies, Serial: d.Serial, Error: d.Error, From: d.From,
		Launch:  optional(r, "launch", d.Launch, units.ParseTime),
		Reduce:  optional(r, "reduce", d.Reduce, units.ParseRate),
		Copy:    optional(r, "copy", d.Copy, units.ParseRate),
		Window:  optional(r, "window", d.Window, units.ParseBytes),
		MinSize: optional(r, "min_size", d.MinSize, units.ParseBytes),
		MaxSize: optional(r, "max_size", d.MaxSize, units.ParseBytes)}
	p.MessageProtocols, p.Engines = r.protocols(d.Protocols), r.engines(d.Engines)
	if d.Steps != nil {
		p.Steps = r.steps(d.Steps)
	}
	if p.Memory = r.memory(d.Memory); len(p.Memory) > 0 && !p.Serial {
		r.fail("memory says what cores reach: serial must be true")
	}
	if len(p.Memory) > 0 && (p.Reduce > 0 || p.Copy > 0) {
		r.fail("memory says what copying and combining cost: leave reduce and copy out")
	}
	for i, c := range d.Curves {
		p.Curves = append(p.Curves, r.curve(fmt.Sprintf("curve %d", i), c))
	}
	p.Execution = d.Execution
	p.GPU, p.Methods = d.GPU, r.methods(d.Methods)
	if len(p.Methods) > 0 && p.GPU == "" {
		r.fail("methods without gpu: on which GPUs were they measured?")
	}
	for i, k := range d.Kernels {
		p.Kernels = append(p.Kernels, r.kernel(fmt.Sprintf("kernel %d", i), k))
	}
	return p
}

func (r *reader) curve(what string, c curveInFile) Curve {
	out := Curve{Medium: c.Medium, Protocol: c.Protocol, Smooth: c.Smooth, Launch: optional(r, what+" launch", c.Launch, units.ParseTime),
		Peer: optional(r, what+" peer", c.Peer, units.ParseTime)}
	if c.Medium == "" || c.Protocol == "" {
		r.fail("%s: medium and protocol must be given (or any)", what)
	}
	if len(c.Segments) == 0 {
		r.fail("%s: has no segments", what)
	}
	for i, s := range c.Segments {
		at := fmt.Sprintf("%s segment %d", what, i)
		seg := Segment{
			From:       optional(r, at+" from", s.From, units.ParseBytes),
			Alpha:      optional(r, at+" alpha", s.Alpha, units.ParseTime),
			AlphaCI:    optional(r, at+" alpha_ci", s.AlphaCI, units.ParseTime),
			Rate:       optional(r, at+" rate", s.Rate, units.ParseRate),
			RateCI:     optional(r, at+" rate_ci", s.RateCI, units.ParseRate),
			Efficiency: s.Efficiency,
		}
		if !(s.Efficiency >= 0 && s.Efficiency <= 1) {
			r.fail("%s: efficiency %v must be from 0 to 1", at, s.Efficiency)
		}
		if i > 0 && seg.From <= out.Segments[i-1].From {
			r.fail("%s: from %v must be larger than the segment before", at, seg.From)
		}
		out.Segments = append(out.Segments, seg)
	}
	return out
}

// Encode writes a profile as YAML; the same profile gives the same bytes.
func Encode(w io.Writer, p *Profile) error {
	d := document{Schema: Schema, Name: p.Name, Source: p.Source, Date: p.Date, Latencies: p.Latencies, Serial: p.Serial, Error: p.Error, From: p.From,
		Launch: timeText(p.Launch), Reduce: rateText(p.Reduce), Copy: rateText(p.Copy)}
	if p.Window > 0 {
		d.Window = p.Window.String()
	}
	if p.MinSize > 0 {
		d.MinSize = p.MinSize.String()
	}
	if p.MaxSize > 0 {
		d.MaxSize = p.MaxSize.String()
	}
	for i := range p.MessageProtocols {
		d.Protocols = append(d.Protocols, protocolText(&p.MessageProtocols[i]))
	}
	for i := range p.Engines {
		d.Engines = append(d.Engines, engineText(&p.Engines[i]))
	}
	d.Steps, d.Memory = stepsText(p.Steps), memoryText(p.Memory)
	for _, c := range p.Curves {
		out := curveInFile{Medium: c.Medium, Protocol: c.Protocol, Smooth: c.Smooth, Launch: timeText(c.Launch), Peer: timeText(c.Peer)}
		for _, s := range c.Segments {
			out.Segments = append(out.Segments, segmentInFile{From: s.From.String(), Alpha: exactTime(s.Alpha),
				AlphaCI: timeText(s.AlphaCI), Rate: rateText(s.Rate), RateCI: rateText(s.RateCI), Efficiency: s.Efficiency})
		}
		d.Curves = append(d.Curves, out)
	}
	for i := range p.Kernels {
		if p.From != "" {
			break // they are another profile's
		}
		d.Kernels = append(d.Kernels, kernelText(&p.Kernels[i]))
	}
	d.Execution, d.GPU = p.Execution, p.GPU
	for i := range p.Methods {
		d.Methods = append(d.Methods, methodText(&p.Methods[i]))
	}
	enc := yaml.NewEncoder(w)
	enc.SetIndent(2)
	if err := enc.Encode(d); err != nil {
		return err
	}
	return enc.Close()
}

func exactTime(t units.Time) string { return fmt.Sprintf("%gns", float64(t)/1e3) }

func timeText(t units.Time) string {
	if t == 0 {
		return ""
	}
	return exactTime(t)
}

func rateText(r units.Rate) string {
	if r == 0 {
		return ""
	}
	return fmt.Sprintf("%gMB/s", float64(r)/1e6)
}
