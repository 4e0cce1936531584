package cost

import (
	_ "embed"
	"fmt"
	"os"
	"slices"

	"railyard/model/units"
)

// Step is what one step of a transfer between nodes costs: Alpha and bytes at Rate; or
// the share of the line rate that it reaches.
type Step struct {
	Alpha      units.Time
	Rate       units.Rate
	Efficiency float64
	Source     string
	Date       string
}

// Steps are the constants of the five steps of a transfer between nodes: convert (pack
// or unpack; Rate counts bytes read and written), host_copy (GPU to host memory or
// back), post_proxy and post_gpu (a message handed to the NIC by a CPU thread or by the
// GPU itself), queue_pair (what one carries) and synchronise.
type Steps map[string]Step

//go:embed steps.yaml
var shippedSteps []byte

// stepNames are all that a file must have.
var stepNames = []string{"convert", "host_copy", "post_proxy", "post_gpu", "queue_pair", "synchronise"}

// ReadSteps reads the constants from a YAML file.
func ReadSteps(file string) (Steps, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return parseSteps(file, data)
}

// Crossing is what the steps of a transfer between nodes cost: the profile's constants,
// else the shipped ones. They apply where a transfer is predicted step by step (package
// sim/crossing); the library's kernels have them inside what a hop across a network costs.
func (p *Profile) Crossing() Steps {
	if p.Steps != nil {
		return p.Steps
	}
	return defaults.steps
}

// stepInFile is a step as written.
type stepInFile struct {
	Alpha      string  `yaml:"alpha,omitempty"`
	Rate       string  `yaml:"rate,omitempty"`
	Efficiency float64 `yaml:"efficiency,omitempty"`
	Source     string  `yaml:"source"`
	Date       string  `yaml:"date"`
}

func parseSteps(file string, data []byte) (Steps, error) {
	var d struct {
		Schema string                `yaml:"schema"`
		Steps  map[string]stepInFile `yaml:"steps"`
	}
	if err := strictly(data, &d); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if d.Schema != "railyard.steps/v1" {
		return nil, fmt.Errorf("%s: schema %q is not known to this version: it reads railyard.steps/v1", file, d.Schema)
	}
	r := reader{file: file}
	out := r.steps(d.Steps)
	if len(r.errs) > 0 {
		return nil, r.errs[0]
	}
	return out, nil
}

// steps must be complete.
func (r *reader) steps(in map[string]stepInFile) Steps {
	out := Steps{}
	for _, name := range stepNames {
		s, ok := in[name]
		if !ok || s.Source == "" || s.Date == "" {
			r.fail("step %s: is missing, or has no source and date", name)
		}
		out[name] = Step{optional(r, name+" alpha", s.Alpha, units.ParseTime), optional(r, name+" rate", s.Rate, units.ParseRate), s.Efficiency, s.Source, s.Date}
		if !(s.Efficiency >= 0 && s.Efficiency <= 1) {
			r.fail("step %s: efficiency %v must be from 0 to 1", name, s.Efficiency)
		}
	}
	for name := range in {
		if !slices.Contains(stepNames, name) {
			r.fail("step %s is not known: must be one of %v", name, stepNames)
		}
	}
	return out
}

func stepsText(in Steps) map[string]stepInFile {
	if in == nil {
		return nil
	}
	out := map[string]stepInFile{}
	for name, s := range in {
		out[name] = stepInFile{timeText(s.Alpha), rateText(s.Rate), s.Efficiency, s.Source, s.Date}
	}
	return out
}
