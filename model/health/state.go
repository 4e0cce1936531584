package health

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"railyard/model/survey"
)

// Value is a known fact: a float64, a string or a bool, and where it came from.
type Value struct {
	Is   any
	From string // a file with its line, "NVML", a path in sysfs
}

// Part is a part of a machine with what is known of it.
type Part struct {
	Kind  Kind
	Name  string
	facts map[string]Value
}

// String is how people call it: "GPU 3", "GPU 3 link 17", "mlx5_0".
func (p *Part) String() string {
	switch p.Kind {
	case GPU:
		return "GPU " + p.Name
	case NVLink:
		_, link, _ := strings.Cut(p.Name, "/")
		return "GPU " + OfLink(p.Name) + " link " + link
	case Path:
		return "GPU " + OfLink(p.Name)
	case Host:
		return "this machine"
	case Process:
		return "process " + p.Name
	case Graph:
		return "NCCL's " + p.Name + " graph"
	}
	return p.Name
}

// LinkName is the name of an NVLink of a GPU, by their numbers.
func LinkName(gpu, link int) string { return fmt.Sprintf("%d/%d", gpu, link) }

// PathTo is the way from a GPU to an adapter; it is added where it is not there.
func (s *State) PathTo(gpu int, adapter string) *Part {
	return s.Part(Path, fmt.Sprintf("%d/%s", gpu, adapter))
}

// Adapter is that of a way, by its name.
func (p *Part) Adapter() string {
	_, adapter, _ := strings.Cut(p.Name, "/")
	return adapter
}

// OfLink is the GPU of an NVLink, or of a way, by its name.
func OfLink(link string) string {
	gpu, _, _ := strings.Cut(link, "/")
	return gpu
}

// State is what is known of a machine. The zero State knows nothing.
type State struct {
	parts    map[partKey]*Part
	Findings []Finding // that readers of logs made themselves
	Notes    []string  // what readers disagree about, or could not read
}

type partKey struct {
	kind Kind
	name string
}

// Part is a part by its name; it is added where it is not there.
func (s *State) Part(k Kind, name string) *Part {
	key := partKey{k, name}
	p := s.parts[key]
	if p == nil {
		p = &Part{Kind: k, Name: name, facts: map[string]Value{}}
		if s.parts == nil {
			s.parts = map[partKey]*Part{}
		}
		s.parts[key] = p
	}
	return p
}

// Has reports whether there is a part of a name.
func (s *State) Has(k Kind, name string) bool { return s.parts[partKey{k, name}] != nil }

// The makers of GPUs.
const (
	NVIDIA = "NVIDIA"
	AMD    = "AMD"
)

// Host is the machine itself.
func (s *State) Host() *Part { return s.Part(Host, "") }

// GPU is a GPU by its number.
func (s *State) GPU(n int) *Part { return s.Part(GPU, strconv.Itoa(n)) }

// Parts are those of a kind in the order of their names, numbers as numbers.
func (s *State) Parts(k Kind) []*Part {
	var out []*Part
	for key, p := range s.parts {
		if key.kind == k {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b *Part) int { return survey.Natural(a.Name, b.Name) })
	return out
}

// Note adds a remark for whoever reads the findings, once.
func (s *State) Note(format string, args ...any) {
	if n := fmt.Sprintf(format, args...); !slices.Contains(s.Notes, n) {
		s.Notes = append(s.Notes, n)
	}
}

// Say notes a fact of a part: a float64, string or bool as facts.yaml has it; what it does not have is a programmer's mistake. What
// another source said before stays, and that they differ is noted.
func (s *State) Say(p *Part, fact string, is any, from string) {
	if err := Valid(p.Kind, fact, is); err != nil {
		panic(fmt.Sprintf("health: %v", err))
	}
	f, _ := FactOf(p.Kind, fact)
	old, known := p.facts[fact]
	switch {
	case !known:
		p.facts[fact] = Value{is, from}
	case old.Is == is || f.Moves:
	case f.Identity:
		s.Note("%s and %s are of two machines, by the %s of their %s: give what one machine says alone", fileOf(old.From), fileOf(from),
			fact, p.Kind.Plural())
	default:
		s.Note("%v: %s is %v in %s and %v in %s: the first is believed", p, fact, old.Is, old.From, is, from)
	}
}

// fileOf is where a fact comes from without the line.
func fileOf(from string) string {
	if i := strings.LastIndexByte(from, ':'); i > 0 {
		if _, err := strconv.Atoi(from[i+1:]); err == nil {
			return from[:i]
		}
	}
	return from
}

// Valid is why parts of a kind have no such fact, nil where they do.
func Valid(k Kind, fact string, is any) error {
	f, ok := FactOf(k, fact)
	if !ok {
		return fmt.Errorf("facts.yaml has no %.40q of %.40q", fact, k)
	}
	if typeOf(is) != f.Type {
		return fmt.Errorf("%s of %s is a %s, not %.40v", fact, k, f.Type, is)
	}
	return nil
}

func typeOf(is any) Type {
	switch is.(type) {
	case float64:
		return Number
	case string:
		return Text
	case bool:
		return YesNo
	}
	return ""
}

// Set replaces what is known of a fact, as when something is worked out from others.
func (s *State) Set(p *Part, fact string, is any, from string) {
	delete(p.facts, fact)
	s.Say(p, fact, is, from)
}

// Remove removes a fact.
func (p *Part) Remove(fact string) { delete(p.facts, fact) }

// Fact is a fact.
func (p *Part) Fact(fact string) (Value, bool) {
	v, ok := p.facts[fact]
	return v, ok
}

// Fact is a fact of a part by its name; false where there is no such part as well.
func (s *State) Fact(k Kind, name, fact string) (Value, bool) {
	if !s.Has(k, name) {
		return Value{}, false
	}
	return s.Part(k, name).Fact(fact)
}

// Facts are the names of what is known, sorted.
func (p *Part) Facts() []string { return slices.Sorted(maps.Keys(p.facts)) }

// Text is a fact that is a text, "" where it is not known.
func (p *Part) Text(fact string) string { return is[string](p, fact) }

// Number is a fact that is a number, 0 where it is not known.
func (p *Part) Number(fact string) float64 { return is[float64](p, fact) }

// Yes is a fact that is yes or no, no where it is not known.
func (p *Part) Yes(fact string) bool { return is[bool](p, fact) }

func is[T any](p *Part, fact string) T {
	v, _ := p.facts[fact].Is.(T)
	return v
}
