package gen

import "railyard/model/topology"

// Faults are what texts say; it panics where one says nothing.
func Faults(texts ...string) []topology.Fault {
	var out []topology.Fault
	for _, s := range texts {
		f, err := topology.ParseFault(s)
		if err != nil {
			panic(err)
		}
		out = append(out, f)
	}
	return out
}
