package gpu

import (
	_ "embed" // gpus.yaml
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"railyard/model/yamlfile"
)

// Schema is the version of the files.
const Schema = "railyard.gpus/v1"

//go:embed gpus.yaml
var shipped []byte

var catalogue = sync.OnceValue(func() map[string]*GPU {
	list, err := parse("gpus.yaml", shipped, nil)
	if err != nil {
		panic(err) // a test reads the file
	}
	return list
})

// Names are the shipped GPUs, sorted: their lines alone are looked at, for every command line has the names and few need more.
func Names() (out []string) {
	_, entries, _ := strings.Cut(string(shipped), "\ngpus:\n")
	for line := range strings.Lines(entries) {
		name, isEntry := strings.CutPrefix(line, "  ")
		if name, _, ok := strings.Cut(name, ":"); ok && isEntry && name[0] != ' ' && name[0] != '#' {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Get is a shipped GPU by name, or the only one of a YAML file where the name is a path.
func Get(name string) (*GPU, error) {
	if yamlfile.IsPath(name) {
		data, err := yamlfile.ReadFile(name)
		if err != nil {
			return nil, err
		}
		return ParseOne(name, data)
	}
	if g := catalogue()[strings.ToLower(name)]; g != nil {
		return g, nil
	}
	return nil, fmt.Errorf("%q is not one of %s", name, strings.Join(Names(), ", "))
}

// ParseOne reads a list of a single GPU.
func ParseOne(file string, data []byte) (*GPU, error) {
	list, err := Parse(file, data)
	if err != nil {
		return nil, err
	}
	if len(list) != 1 {
		return nil, fmt.Errorf("%s: it describes %d GPUs: leave one", file, len(list))
	}
	return list[slices.Collect(maps.Keys(list))[0]], nil
}

var format = yamlfile.Format{Schema: Schema, Noun: "list of GPUs", Repeat: "like: NAME"}

// Parse reads a list of GPUs, which may refer to shipped ones.
func Parse(file string, data []byte) (map[string]*GPU, error) {
	return parse(file, data, catalogue())
}

func parse(file string, data []byte, known map[string]*GPU) (map[string]*GPU, error) {
	read := list{known: known}
	if err := format.Read(file, data, &read); err != nil {
		return nil, err
	}
	out := map[string]*GPU{}
	for i := range read.GPUs {
		out[read.GPUs[i].Name] = &read.GPUs[i].GPU
	}
	return out, nil
}

// list is a file.
type list struct {
	Streams *struct {
		Shares Streams `file:",inline=,default=1,lo=0.0001,hi=1"`
		Source string  `file:"source,need"`
		Date   string  `file:"date,date"`
	} `file:"streams"` // of all its GPUs; the shipped ones where it has none
	GPUs  []entry         `file:"gpus,some,key,each=gpu"`
	known map[string]*GPU // the shipped ones, to which it may refer
}

// streams are the list's or the shipped ones.
func (l *list) streams() Streams {
	if l.Streams != nil {
		return l.Streams.Shares
	}
	for _, g := range l.known {
		return g.Streams
	}
	return nil
}

// entry is a GPU, and which others it takes after.
type entry struct {
	GPU
	Like       string `file:"like"`
	SteadyLike string `file:"steady_like"`
}

// Check completes a GPU from those before it and the shipped ones, and reports what is missing.
func (e *entry) Check(o *yamlfile.Object) {
	in := yamlfile.Within[list](o)
	e.Streams = in.streams()
	for p := range e.Peak {
		e.Peak[p] *= 1e12
	}
	if e.Products == nil {
		e.Products = map[Precision]Product{}
	}
	in.named(o, "steady_like", e.SteadyLike, e.slowAs)
	e.borrow(&e.GPU) // for other precisions than the measured
	in.named(o, "like", e.Like, e.borrow)
	e.noteBursts()
	e.capPower(in.known, e.Like)
	e.check(o)
}

// named hands over the GPU that a key names.
func (l *list) named(o *yamlfile.Object, key, name string, use func(*GPU)) {
	other := l.known[name]
	for i := range l.GPUs {
		if l.GPUs[i].Name == name {
			other = &l.GPUs[i].GPU
		}
	}
	switch {
	case other != nil:
		use(other)
	case name != "":
		o.AddAt(o.Where(key), "%s: there is no GPU %q before it or shipped", o.What, name)
	}
}

// slowAs takes the share of the efficiency that is left under load from another GPU.
func (g *GPU) slowAs(other *GPU) {
	for _, p := range Precisions() {
		c, ok := g.Products[p]
		if share := other.Products[p].Steady; ok && c.Steady == 1 && share > 0 && share < 1 {
			c.Steady = share
			g.Products[p] = c
			g.Notes = append(g.Notes, fmt.Sprintf("products of %s in %s: their rate under load was not measured, its share taken from %s",
				g.Name, p, other.Name))
		}
	}
}

// borrow takes from another GPU what was not measured on this one, and notes it.
func (g *GPU) borrow(other *GPU) {
	for _, p := range Precisions() {
		if g.Peak[p] == 0 || g.Products[p] != (Product{}) {
			continue
		}
		q, from := other.Products[p], other.Name+" in "+string(p)
		if own := g.Products[BF16]; own != (Product{}) {
			q, from = own, "itself in bf16"
		} else if q == (Product{}) {
			q, from = other.Products[BF16], other.Name+" in bf16"
		}
		if q == (Product{}) {
			continue
		}
		g.Products[p] = q
		g.Notes = append(g.Notes, fmt.Sprintf("products of %s in %s: not measured, efficiency taken from %s", g.Name, p, from))
	}
	if g.Attention == (Attention{}) && other != g {
		g.Attention = other.Attention
		g.Notes = append(g.Notes, fmt.Sprintf("attention of %s: not measured, efficiency taken from %s", g.Name, other.Name))
	}
	if g.SoftmaxHead == 0 {
		g.SoftmaxHead = other.SoftmaxHead
	}
	if g.Flash == (Attention{}) && (other != g || g.Attention != (Attention{})) {
		g.Flash = g.Attention
	}
}

// watts is a power limit in a title.
var watts = regexp.MustCompile(`(\d+) W\b`)

// capPower lowers or raises the clock where a GPU has another power limit than the shipped one that it takes after, or else the one
// whose peak rate is nearest, on which its kernels were measured.
func (g *GPU) capPower(known map[string]*GPU, like string) {
	g.Clock = 1
	if m := watts.FindStringSubmatch(g.Title); m != nil && g.Power == 0 {
		g.Power, _ = strconv.ParseFloat(m[1], 64) // digits, by the pattern
	}
	near := math.Inf(1)
	for _, name := range slices.Sorted(maps.Keys(known)) {
		k := known[name]
		d := math.Abs(math.Log(k.Peak[FP16] / g.Peak[FP16]))
		if name == like {
			d = -1
		}
		if g.Power > 0 && k.Power > 0 && d < near {
			near, g.Clock = d, math.Cbrt(g.Power/k.Power)
		}
	}
}

// noteBursts notes products that were only measured one at a time.
func (g *GPU) noteBursts() {
	for _, p := range Precisions() {
		if c := g.Products[p]; g.Peak[p] > 0 && c.Steady == 1 && !strings.Contains(c.Source, "without pause") {
			g.Notes = append(g.Notes, fmt.Sprintf("products of %s in %s: their rate under load was not measured, so steps may take longer",
				g.Name, p))
		}
	}
}

// check reports what is neither given nor borrowed.
func (g *GPU) check(o *yamlfile.Object) {
	for _, p := range Precisions() {
		if g.Peak[p] > 0 && g.Products[p] == (Product{}) {
			o.AddAt(o.Where("tflops"), "%s: it has a rate for %s but no fit under products: add one, or like: NAME", o.What, p)
		}
	}
	if g.Attention == (Attention{}) {
		o.AddAt(o.Where("title"), "%s: attention is missing: add it, or like: NAME", o.What)
	}
	if g.Streams == nil {
		o.AddAt(o.Where("title"), "%s: the file has no streams", o.What)
	}
}
