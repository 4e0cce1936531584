package cost

import (
	"slices"

	"railyard/model/units"
)

// Engine is what copies between GPUs: the copy engines, or blocks of threads on SMs.
type Engine struct {
	Name       string     `file:"name,need,unique,one=copy_engine|sm"`
	Alpha      units.Time `file:"alpha"`                     // of one operation
	Efficiency float64    `file:"efficiency,some,lo=0,hi=1"` // of the line rate, all of it at work
	Local      units.Rate `file:"local"`                     // inside a GPU; 0: not known
	Block      units.Rate `file:"block"`                     // of one block of threads; 0: it has none
	Source     string     `file:"source,need"`
	Date       string     `file:"date,date"`
}

// Engine is the machine's engine with a name, else the shipped one; nil where neither is
// known.
func (h *Hardware) Engine(name string) *Engine {
	for _, list := range [][]Engine{h.Engines, defaults.Engines} {
		if i := slices.IndexFunc(list, func(x Engine) bool { return x.Name == name }); i >= 0 {
			return &list[i]
		}
	}
	return nil
}
