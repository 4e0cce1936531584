package cost

import (
	_ "embed"

	"railyard/model/yamlfile"
)

//go:embed parameters.yaml
var shippedParameters []byte

// defaults are used where a profile says nothing.
var defaults = mustParameters()

func mustParameters() Hardware {
	var h Hardware
	format := yamlfile.Format{Schema: "railyard.parameters/v1", Noun: "list of parameters", Repeat: "parameters"}
	err := format.Read("parameters.yaml", shippedParameters, &h)
	if err == nil {
		h.Steps, err = parseSteps("steps.yaml", shippedSteps)
	}
	if err != nil {
		panic(err) // part of the program
	}
	return h
}

// complete is the hardware with everything that it leaves to the shipped parameters written out: what
// predictions really use.
func (h *Hardware) complete() Hardware {
	out := Hardware{Steps: h.Crossing(), Access: h.Access}
	for _, x := range defaults.MessageProtocols {
		out.MessageProtocols = append(out.MessageProtocols, *h.Protocol(x.Name))
	}
	for _, x := range defaults.Engines {
		out.Engines = append(out.Engines, *h.Engine(x.Name))
	}
	return out
}

// Complete is the machine with everything that it leaves to the shipped parameters written out.
func (m Machine) Complete() *Machine {
	m.Hardware = m.Hardware.complete()
	return &m
}

// Complete is the same of a profile.
func (p *Profile) Complete() *Profile {
	out := *p
	out.Hardware = p.Hardware.complete()
	return &out
}
