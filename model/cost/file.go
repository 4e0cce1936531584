package cost

import (
	"cmp"
	"fmt"
	"io"

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
		var f machineFile
		o.Read(&f)
		m = Machine{Name: f.Name, Hardware: f.Hardware, nccl: (*Profile)(f.NCCL), own: (*Profile)(f.Own), fastest: f.Fastest}
	case profileSchema:
		m.readProfile(o)
	case "":
	default:
		d.AddAt(o.Where("schema"), "schema %q is not known to this version: it reads %s", schema, Schema)
	}
	return &m, d.Err()
}

// Encode writes a machine as YAML; the same machine gives the same bytes.
func Encode(w io.Writer, m *Machine) error {
	return format.Encode(w, machineFile{m.Name, m.Hardware, (*ncclPart)(m.nccl), (*ownPart)(m.own), m.fastest})
}

// machineFile is a machine as written.
type machineFile struct {
	Name     string `file:"name,need"`
	Hardware `file:",inline="`
	NCCL     *ncclPart `file:"nccl"`
	Own      *ownPart  `file:"railyard"`
	Fastest  *Fastest  `file:"fastest"`
}

type (
	ncclPart Profile
	ownPart  Profile
)

// Check reports what does not go together in NCCL's part.
func (p *ncclPart) Check(o *yamlfile.Object) {
	(*Profile)(p).check(o, func(m *Machine) *Profile { return m.nccl })
}

// Check reports what does not go together in railyard's part.
func (p *ownPart) Check(o *yamlfile.Object) {
	(*Profile)(p).check(o, func(m *Machine) *Profile { return m.own })
}

// profileFile is a file of an earlier version.
type profileFile struct {
	Name      string   `file:"name,need"`
	Execution string   `file:"execution"`
	GPU       string   `file:"gpu"`
	Methods   []Method `file:"methods"`
	Hardware  `file:",inline="`
	Profile   `file:",inline="`
}

// readProfile reads a file of an earlier version: with kernels it is of NCCL's, without it is what plans
// cost.
func (m *Machine) readProfile(o *yamlfile.Object) {
	var f profileFile
	o.Read(&f)
	p := &f.Profile
	m.Name, m.Hardware = f.Name, f.Hardware
	p.check(o, func(m *Machine) *Profile { return m.nccl })
	if p.Kind == "" {
		p.Kind = Measured
	}
	if len(p.Kernels) > 0 || p.borrows() {
		m.nccl = p
	} else {
		m.own = p
	}
	if len(f.Methods) > 0 {
		if f.GPU == "" {
			o.AddAt(o.Where("methods"), "methods without gpu: on which GPUs were they measured?")
		}
		m.fastest = &Fastest{f.GPU, Origin{Measured, "", "measured on " + f.GPU, p.Date, ""}, f.Methods}
	}
}

// check reports what does not go together in a part; of finds the same part of another machine.
func (p *Profile) check(o *yamlfile.Object, of func(*Machine) *Profile) {
	fail := func(key, format string, args ...any) {
		o.AddAt(o.Where(key), "%s", fmt.Sprintf(format, args...))
	}
	if len(p.Memory) > 0 && !p.Serial {
		fail("memory", "memory says what cores reach: serial must be true")
	}
	if p.Serial && p.Blocking {
		fail("blocking", "blocking and serial: receivers fetch where ranks are serial, and senders put where they are blocking")
	}
	if len(p.Memory) > 0 && (p.Reduce > 0 || p.Copy > 0 || p.Sum > 0) {
		fail("memory", "memory says what copying and combining cost: leave reduce, copy and sum out")
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
