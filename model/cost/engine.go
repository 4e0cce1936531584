package cost

import (
	"fmt"
	"slices"

	"railyard/model/units"
)

// Engine is what copies between GPUs: the copy engines, or blocks of threads on SMs.
type Engine struct {
	Name       string     // copy_engine, sm
	Alpha      units.Time // of one operation
	Efficiency float64    // of the line rate, all of it at work
	Local      units.Rate // inside a GPU; 0: not known
	Block      units.Rate // of one block of threads; 0: it has none
	Source     string
	Date       string
}

// Engine is the profile's engine with a name, else the shipped one; nil where neither is
// known.
func (p *Profile) Engine(name string) *Engine {
	for _, list := range [][]Engine{p.Engines, defaults.engines} {
		if i := slices.IndexFunc(list, func(x Engine) bool { return x.Name == name }); i >= 0 {
			return &list[i]
		}
	}
	return nil
}

// Engines may have these names.
var engineNames = []string{"copy_engine", "sm"}

type engineInFile struct {
	Name       string  `yaml:"name"`
	Alpha      string  `yaml:"alpha"`
	Efficiency float64 `yaml:"efficiency"`
	Local      string  `yaml:"local,omitempty"`
	Block      string  `yaml:"block,omitempty"`
	Source     string  `yaml:"source"`
	Date       string  `yaml:"date"`
}

func (r *reader) engines(list []engineInFile) []Engine {
	var out []Engine
	for i, f := range list {
		what := fmt.Sprintf("engine %d", i)
		x := Engine{f.Name, optional(r, what+" alpha", f.Alpha, units.ParseTime), f.Efficiency,
			optional(r, what+" local", f.Local, units.ParseRate), optional(r, what+" block", f.Block, units.ParseRate), f.Source, f.Date}
		switch {
		case !slices.Contains(engineNames, x.Name):
			r.fail("%s: %q must be one of %v", what, x.Name, engineNames)
		case x.Source == "" || x.Date == "":
			r.fail("%s: source and date must be given", what)
		case !(x.Efficiency > 0 && x.Efficiency <= 1):
			r.fail("%s: efficiency %v must be above 0 and at most 1", what, x.Efficiency)
		case slices.ContainsFunc(out, func(y Engine) bool { return y.Name == x.Name }):
			r.fail("%s: %s is given twice", what, x.Name)
		}
		out = append(out, x)
	}
	return out
}

func engineText(x *Engine) engineInFile {
	return engineInFile{x.Name, timeText(x.Alpha), x.Efficiency, rateText(x.Local), rateText(x.Block), x.Source, x.Date}
}
