package amdsmi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/lazy"
)

// json reads what the tools write with --json, one value or several: records of GPUs, wherever they stand, and rocm-smi's "system" and
// "cardN". What a record says below names is taken as the text's headings are.
func (r *reader) json(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	for {
		var v any
		switch err := d.Decode(&v); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("behind byte %d: %w", d.InputOffset(), err)
		}
		if err := r.walk(v); err != nil {
			return err
		}
	}
}

// walk looks for records of GPUs.
func (r *reader) walk(v any) error {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			if err := r.walk(x); err != nil {
				return err
			}
		}
	case map[string]any:
		if n, ok := v["gpu"].(json.Number); ok {
			return r.record(n, v)
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if err := r.named(name, v[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

var (
	card = lazy.Regexp(`^card(\d+)$`)
	pair = lazy.Regexp(`^\(Topology\) (Weight|Hops|Link type|Link accessibility) between DRM devices (\d+) and (\d+)$`)
)

// named reads what has a name: a card of rocm-smi's, what it says of pairs, or something that has records in it.
func (r *reader) named(name string, v any) error {
	m := card().FindStringSubmatch(name)
	of, ok := v.(map[string]any)
	switch {
	case !ok || m == nil && name != "system":
		return r.walk(v)
	case m == nil:
		return r.pairs(of)
	}
	gpu, err := r.numbered(m[1])
	for _, key := range slices.Sorted(maps.Keys(of)) {
		if text, ok := of[key].(string); ok && err == nil && text != "N/A" {
			err = r.card(&r.m.GPUs[gpu], strings.TrimPrefix(key, "(Topology) "), text)
		}
	}
	return err
}

// pairs reads what rocm-smi says of each pair, once.
func (r *reader) pairs(of map[string]any) error {
	for _, key := range slices.Sorted(maps.Keys(of)) {
		m := pair().FindStringSubmatch(key)
		if m == nil {
			continue
		}
		a, err := r.numbered(m[2])
		if err != nil {
			return err
		}
		b, err := r.numbered(m[3])
		if err != nil {
			return err
		}
		for _, c := range []*Cell{r.m.cell(a, b), r.m.cell(b, a)} {
			if err := r.said(c, m[1], of[key]); err != nil {
				return fmt.Errorf("GPU %d to GPU %d: %w", a, b, err)
			}
		}
	}
	return nil
}

// ofPair is how what is said of a pair is read, by its names in the formats of JSON.
var ofPair = map[string]func(*Cell, string) bool{
	"weight": number(func(c *Cell) *int { return &c.Weight }), "hops": number(func(c *Cell) *int { return &c.Hops }),
	"num_hops": number(func(c *Cell) *int { return &c.Hops }), "link type": kind, "link_type": kind, "link accessibility": access,
	"link_accessibility": access, "link_status": access, "bandwidth": rates, "numa_bandwidth": rates,
}

// said reads a value of a pair.
func (r *reader) said(c *Cell, name string, v any) error {
	take, text := ofPair[strings.ToLower(name)], flat(v)
	if take == nil {
		return nil
	}
	if !take(c, text) {
		return fmt.Errorf("%s: %.40q is not understood", name, text)
	}
	r.m.took(c)
	return nil
}

// record reads what is said of a GPU.
func (r *reader) record(n json.Number, of map[string]any) error {
	gpu, err := r.numbered(n.String())
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if err == nil {
			err = r.member(gpu, name, of[name])
		}
	}
	if err != nil {
		err = fmt.Errorf("gpu %.40s: %w", n, err)
	}
	return err
}

// member reads one thing that is said of a GPU.
func (r *reader) member(gpu int, name string, v any) error {
	list, _ := v.([]any)
	switch {
	case name == "links":
		return r.peers(gpu, list)
	case name == "link_status" && slices.Contains(list, any("SELF")): // another list of that name is of ports
		var cells []string
		for _, x := range list {
			cells = append(cells, flat(x))
		}
		return r.states(gpu, cells)
	case ofPair[name] != nil:
		return r.matrixRow(gpu, name, v)
	}
	return r.below(gpu, strings.ToUpper(name), v)
}

// peers reads the links of a GPU as amd-smi topology lists them.
func (r *reader) peers(gpu int, list []any) error {
	for _, x := range list {
		of, _ := x.(map[string]any)
		n, ok := of["gpu"].(json.Number)
		if !ok {
			return errors.New("a link leads to no GPU")
		}
		to, err := r.numbered(n.String())
		if err != nil {
			return err
		}
		if text := flat(of["bdf"]); text != "" && !bus(&r.m.GPUs[to], text) {
			return fmt.Errorf("GPU %d is %s and %.40s: a file describes one machine", to, r.m.GPUs[to].Bus, text)
		}
		c := r.m.cell(gpu, to)
		for _, name := range slices.Sorted(maps.Keys(of)) {
			if err := r.said(c, name, of[name]); err != nil && to != gpu {
				return fmt.Errorf("to GPU %d: %w", to, err)
			}
		}
	}
	return nil
}

// matrixRow reads a row as amd-smi before 6.2 wrote it: {"gpu_0": 0, "gpu_1": 40}.
func (r *reader) matrixRow(gpu int, name string, v any) error {
	of, _ := v.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(of)) {
		to, err := r.numbered(strings.TrimPrefix(key, "gpu_"))
		if err != nil {
			return err
		}
		if err := r.said(r.m.cell(gpu, to), name, of[key]); err != nil {
			return fmt.Errorf("to GPU %d: %w", to, err)
		}
	}
	return nil
}

// below reads what stands below names. Lists are of parts of a GPU, such as its partitions.
func (r *reader) below(gpu int, path string, v any) error {
	if len(path) > maxPath {
		return nil
	}
	of, ok := v.(map[string]any)
	if _, quantity := of["unit"]; !ok || quantity {
		return r.headed(gpu, path, flat(v))
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if err := r.below(gpu, path+"/"+strings.ToUpper(name), of[name]); err != nil {
			return err
		}
	}
	return nil
}

// maxPath is how long names above a value are together at most, that are read.
const maxPath = 200

// flat is a value as text: a number with its unit behind it; "[" for lists.
func flat(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	case []any:
		return "["
	case map[string]any:
		return strings.TrimSpace(flat(v["value"]) + " " + flat(v["unit"]))
	}
	return ""
}
