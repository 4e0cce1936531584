package cost

import _ "embed"

//go:embed parameters.yaml
var shippedParameters []byte

// parameters are what profiles say beside curves and kernels.
type parameters struct {
	protocols []Protocol
	engines   []Engine
	steps     Steps
}

// defaults are used where a profile says nothing.
var defaults = mustParameters()

func mustParameters() parameters {
	var d struct {
		Protocols []protocolInFile `yaml:"protocols"`
		Engines   []engineInFile   `yaml:"engines"`
	}
	if err := strictly(shippedParameters, &d); err != nil {
		panic(err) // part of the program
	}
	r := reader{file: "parameters.yaml"}
	out := parameters{protocols: r.protocols(d.Protocols), engines: r.engines(d.Engines)}
	if len(r.errs) > 0 {
		panic(r.errs[0])
	}
	var err error
	if out.steps, err = parseSteps("steps.yaml", shippedSteps); err != nil {
		panic(err)
	}
	return out
}

// Complete is the profile with everything that it leaves to the shipped parameters
// written out: what predictions really use.
func (p *Profile) Complete() *Profile {
	out := *p
	out.MessageProtocols, out.Engines, out.Steps = nil, nil, p.Crossing()
	for _, x := range defaults.protocols {
		out.MessageProtocols = append(out.MessageProtocols, *p.Protocol(x.Name))
	}
	for _, x := range defaults.engines {
		out.Engines = append(out.Engines, *p.Engine(x.Name))
	}
	return &out
}
