package gpu

import (
	"cmp"
	_ "embed" // gpus.yaml
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"railyard/model/units"
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

// Names are the shipped GPUs, sorted.
func Names() []string { return slices.Sorted(maps.Keys(catalogue())) }

// Get is a shipped GPU by name, or the only one of a YAML file where the name is a path
// (has a slash or ends in .yaml).
func Get(name string) (*GPU, error) {
	if strings.Contains(name, "/") || strings.HasSuffix(name, ".yaml") {
		return read(name)
	}
	if g := catalogue()[strings.ToLower(name)]; g != nil {
		return g, nil
	}
	return nil, fmt.Errorf("%q is not one of %s", name, strings.Join(Names(), ", "))
}

func read(path string) (*GPU, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return ParseOne(path, data)
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
	d := &yamlfile.Diagnostics{File: file}
	root := format.Parse(d, data)
	if root == nil {
		return nil, d.Err()
	}
	o := yamlfile.NewObject(d, root, "list of GPUs")
	format.CheckSchema(o)
	list := map[string]*GPU{}
	streams := decodeStreams(o)
	if streams == nil {
		streams = shippedStreams(known)
	}
	o.Mapping("gpus", func(name string, n *yaml.Node) { list[name] = decode(d, list, known, name, n, streams) })
	o.Done()
	if len(list) == 0 {
		d.Add(0, 0, "it describes no GPU")
	}
	return list, d.Err()
}

// shippedStreams are those of the shipped list.
func shippedStreams(known map[string]*GPU) Streams {
	for _, g := range known {
		return g.Streams
	}
	return nil
}

func decode(d *yamlfile.Diagnostics, before, known map[string]*GPU, name string, n *yaml.Node, streams Streams) *GPU {
	o := yamlfile.NewObject(d, n, "gpu "+name)
	g := &GPU{Name: name, Title: o.Text("title", true), Streams: streams, Peak: map[Precision]float64{}, Products: map[Precision]Product{}}
	g.Memory, g.Bandwidth = o.Bytes("memory"), o.Rate("bandwidth", 1e15)
	g.SMs = o.Integer("sms", 0, 1, 1<<16)
	if p := o.Value("tflops"); p != nil {
		rates := yamlfile.NewObject(d, p, o.What+" tflops")
		for _, q := range Precisions() {
			if v := rates.Number(string(q), 0); v > 0 {
				g.Peak[q] = v * 1e12
			}
		}
		rates.Done()
	}
	if len(g.Peak) == 0 {
		d.AddAt(o.Where("tflops"), "%s: tflops gives no peak rate", o.What)
	}
	decodeFits(o, g)
	named := func(key string, use func(*GPU)) {
		name := o.Text(key, false)
		other := cmp.Or(before[name], known[name])
		switch {
		case other != nil:
			use(other)
		case name != "":
			d.AddAt(o.Where(key), "%s: there is no GPU %q before it or shipped", o.What, name)
		}
	}
	named("steady_like", g.slowAs)
	g.borrow(g) // for other precisions than the measured
	named("like", g.borrow)
	g.noteBursts()
	g.capPower(o, known)
	g.Source, g.Date = o.Provenance()
	o.Done()
	g.check(o)
	return g
}

// decodeFits reads what was fitted.
func decodeFits(o *yamlfile.Object, g *GPU) {
	if n := o.Value("products"); n != nil {
		list := yamlfile.NewObject(o.Diagnostics, n, o.What+" products")
		for _, p := range Precisions() {
			if n := list.Value(string(p)); n != nil {
				g.Products[p] = decodeProduct(o.Diagnostics, n, list.What+" "+string(p))
			}
		}
		list.Done()
	}
	if n := o.Value("attention"); n != nil {
		g.Attention = decodeAttention(o.Diagnostics, n, o.What+" attention")
	}
	if n := o.Value("flash_attention_2"); n != nil {
		g.Flash = decodeAttention(o.Diagnostics, n, o.What+" flash_attention_2")
	}
}

func decodeAttention(d *yamlfile.Diagnostics, n *yaml.Node, what string) Attention {
	o := yamlfile.NewObject(d, n, what)
	a := Attention{Launch: o.Duration("launch", units.Second), Efficiency: o.Share("efficiency", 1), HalfLength: o.Number("half_length", 1),
		Backward: o.Share("backward", 1), Error: o.Number("error", 1), Source: o.Text("source", true)}
	o.Done()
	return a
}

func decodeProduct(d *yamlfile.Diagnostics, n *yaml.Node, what string) Product {
	o := yamlfile.NewObject(d, n, what)
	p := Product{Launch: o.Duration("launch", units.Second), Efficiency: o.Share("efficiency", 1), Steady: o.Share("steady", 1),
		Traffic: o.Number("traffic", 1), Converts: o.Boolean("converts", false), Error: o.Number("error", 1),
		Source: o.Text("source", true)}
	o.Done()
	return p
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
	if g.Flash == (Attention{}) && (other != g || g.Attention != (Attention{})) {
		g.Flash = g.Attention
	}
}

// watts is a power limit in a title.
var watts = regexp.MustCompile(`(\d+) W\b`)

// capPower lowers or raises the clock where a GPU has another power limit than the shipped one
// whose peak rate is nearest, on which its kernels were measured. Power goes with the cube of
// the clock: with its square by the voltage, which follows it (arXiv 1905.11012, section 2).
func (g *GPU) capPower(o *yamlfile.Object, known map[string]*GPU) {
	g.Clock = 1
	if m := watts.FindStringSubmatch(g.Title); m != nil {
		g.Power, _ = strconv.ParseFloat(m[1], 64) // digits, by the pattern
	}
	if o.Has("power") {
		g.Power = o.Number("power", 1)
	}
	near := math.Inf(1)
	for _, name := range slices.Sorted(maps.Keys(known)) {
		k := known[name]
		d := math.Abs(math.Log(k.Peak[FP16] / g.Peak[FP16]))
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
