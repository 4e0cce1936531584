package cost

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"railyard/model/yamlfile"
)

// Schema is the version of the machine files; profileSchema that of files of earlier versions, one
// of which held one part of a machine.
const (
	Schema        = "railyard.machine/v1"
	profileSchema = "railyard.profile/v1"
)

var format = yamlfile.Format{Schema: Schema, Noun: "machine", Repeat: "from: MACHINE"}

// Parse reads a machine's file, or a profile of an earlier version. All mistakes are reported at once,
// with file and line.
func Parse(file string, data []byte) (*Machine, error) {
	d := &yamlfile.Diagnostics{File: file}
	root := format.Parse(d, data)
	if root == nil {
		return nil, d.Err()
	}
	o := yamlfile.NewFile(d, root, "machine")
	var m Machine
	switch schema := o.Text("schema", true); schema {
	case Schema:
		m.record().Read(o)
	case profileSchema:
		m.readProfile(o)
	case "":
	default:
		d.AddAt(o.Where("schema"), "schema %q is not known to this version: it reads %s", schema, Schema)
	}
	return &m, d.Err()
}

// Encode writes a machine as YAML; the same machine gives the same bytes.
func Encode(w io.Writer, m *Machine) error { return m.record().Encode(w) }

func (m *Machine) record() yamlfile.Record {
	schema := Schema
	head := yamlfile.Record{yamlfile.Named("schema", &schema), yamlfile.Named("name", &m.Name)}
	parts := yamlfile.Record{
		yamlfile.Part("nccl", &m.nccl, (*Profile).record,
			func(o *yamlfile.Object, p *Profile) { p.check(o, func(m *Machine) *Profile { return m.nccl }) }),
		yamlfile.Part("railyard", &m.own, (*Profile).record,
			func(o *yamlfile.Object, p *Profile) { p.check(o, func(m *Machine) *Profile { return m.own }) }),
		yamlfile.Part("fastest", &m.fastest, (*Fastest).record, nil),
	}
	return slices.Concat(head, m.Hardware.record(), parts)
}

// readProfile reads a file of an earlier version: with kernels it is of NCCL's, without it is what plans
// cost.
func (m *Machine) readProfile(o *yamlfile.Object) {
	var p Profile
	var f Fastest
	var execution string
	fields := append(yamlfile.Record{yamlfile.Named("name", &m.Name), yamlfile.Text("execution", &execution), yamlfile.Text("gpu", &f.GPU),
		methodsField(&f)}, m.Hardware.record()...)
	o.Known("schema")
	slices.Concat(fields, p.record()).Read(o)
	p.check(o, func(m *Machine) *Profile { return m.nccl })
	if p.Kind == "" {
		p.Kind = Measured
	}
	if len(p.Kernels) > 0 || p.borrows() {
		m.nccl = &p
	} else {
		m.own = &p
	}
	if len(f.Methods) > 0 {
		if f.Origin = (Origin{Measured, "", "measured on " + f.GPU, p.Date, ""}); f.GPU == "" {
			o.AddAt(o.Where("methods"), "methods without gpu: on which GPUs were they measured?")
		}
		m.fastest = &f
	}
}

func (h *Hardware) record() yamlfile.Record {
	return yamlfile.Record{
		yamlfile.List("protocols", &h.MessageProtocols, yamlfile.Block, (*Protocol).record, checkProtocol),
		yamlfile.List("engines", &h.Engines, yamlfile.Block, (*Engine).record, checkEngine),
		stepsField(&h.Steps),
	}
}

func (p *Profile) record() yamlfile.Record {
	return yamlfile.Record{
		yamlfile.Text("from", &p.From), kindField(&p.Kind), yamlfile.Named("source", &p.Source), yamlfile.Date("date", &p.Date),
		yamlfile.Text("error", &p.Error),
		yamlfile.Bool("latencies", &p.Latencies), yamlfile.Bool("serial", &p.Serial),
		yamlfile.Duration("launch", &p.Launch), yamlfile.Rate("reduce", &p.Reduce), yamlfile.Rate("copy", &p.Copy),
		yamlfile.Bytes("window", &p.Window), yamlfile.Bytes("min_size", &p.MinSize), yamlfile.Bytes("max_size", &p.MaxSize),
		yamlfile.List("memory", &p.Memory, yamlfile.Lines, (*Level).record, checkLevel),
		yamlfile.List("curves", &p.Curves, yamlfile.Block, (*Curve).record, checkCurve),
		yamlfile.List("estimates", &p.Estimates, yamlfile.Lines, (*Estimate).record, nil),
		yamlfile.List("bands", &p.Bands, yamlfile.Lines, (*Band).record, nil),
		yamlfile.List("kernels", &p.Kernels, yamlfile.Block, (*Kernel).record, checkKernel),
	}
}

// kindField says how the costs came to be known; what another machine's are is derived.
func kindField(k *OriginKind) yamlfile.Field {
	return yamlfile.Text("origin", (*string)(k)).Checked(func(o *yamlfile.Object) {
		if known := []OriginKind{Measured, Fitted, Derived, Assumed, LineRate}; *k != "" && !slices.Contains(known, *k) {
			o.AddAt(o.Where("origin"), "%s: origin %q must be one of %v", o.What, *k, known)
		}
	})
}

// check reports what does not go together in a part; of finds the same part of another machine.
func (p *Profile) check(o *yamlfile.Object, of func(*Machine) *Profile) {
	fail := func(key, format string, args ...any) {
		o.AddAt(o.Where(key), "%s", fmt.Sprintf(format, args...))
	}
	if len(p.Memory) > 0 && !p.Serial {
		fail("memory", "memory says what cores reach: serial must be true")
	}
	if len(p.Memory) > 0 && (p.Reduce > 0 || p.Copy > 0) {
		fail("memory", "memory says what copying and combining cost: leave reduce and copy out")
	}
	switch {
	case p.borrows():
		p.Kind = cmp.Or(p.Kind, Derived)
		if other, err := GetMachine(p.From); err != nil {
			fail("from", "from: %v", err)
		} else if x := of(other); x == nil || x.borrows() {
			fail("from", "from %s, which has none of its own", p.From)
		}
	case p.Kind == "" && len(p.Kernels) > 0:
		p.Kind = Fitted
	}
}

func (f *Fastest) record() yamlfile.Record {
	return yamlfile.Record{yamlfile.Named("gpu", &f.GPU), kindField(&f.Kind), yamlfile.Named("source", &f.Source),
		yamlfile.Date("date", &f.Date), methodsField(f)}
}

func methodsField(f *Fastest) yamlfile.Field {
	return yamlfile.List("methods", &f.Methods, yamlfile.Lines, (*Method).record, checkMethod)
}
