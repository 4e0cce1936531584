package cost

import (
	_ "embed"
	"fmt"
	"os"

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

// ReadSteps reads the constants from a YAML file; "" is those that are shipped.
func ReadSteps(file string) (Steps, error) {
	data, name := shippedSteps, "steps.yaml"
	if file != "" {
		var err error
		if data, err = os.ReadFile(file); err != nil {
			return nil, err
		}
		name = file
	}
	return parseSteps(name, data)
}

func parseSteps(file string, data []byte) (Steps, error) {
	var d struct {
		Schema string `yaml:"schema"`
		Steps  map[string]struct {
			Alpha      string  `yaml:"alpha"`
			Rate       string  `yaml:"rate"`
			Efficiency float64 `yaml:"efficiency"`
			Source     string  `yaml:"source"`
			Date       string  `yaml:"date"`
		} `yaml:"steps"`
	}
	if err := strictly(data, &d); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if d.Schema != "railyard.steps/v1" {
		return nil, fmt.Errorf("%s: schema %q is not known to this version: it reads railyard.steps/v1", file, d.Schema)
	}
	out := Steps{}
	for _, name := range stepNames {
		s, ok := d.Steps[name]
		if !ok || s.Source == "" || s.Date == "" {
			return nil, fmt.Errorf("%s: step %s: is missing, or has no source and date", file, name)
		}
		r := reader{file: file}
		out[name] = Step{optional(&r, name+" alpha", s.Alpha, units.ParseTime), optional(&r, name+" rate", s.Rate, units.ParseRate), s.Efficiency, s.Source, s.Date}
		if len(r.errs) > 0 {
			return nil, r.errs[0]
		}
		if !(s.Efficiency >= 0 && s.Efficiency <= 1) {
			return nil, fmt.Errorf("%s: step %s: efficiency %v must be from 0 to 1", file, name, s.Efficiency)
		}
	}
	return out, nil
}
