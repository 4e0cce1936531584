package cost

import (
	_ "embed"
	"os"
	"slices"

	"railyard/model/units"
	"railyard/model/yamlfile"
)

// Step is what one step of a transfer between nodes costs: Alpha and bytes at Rate; or
// the share of the line rate that it reaches.
type Step struct {
	Alpha      units.Time `file:"alpha"`
	Rate       units.Rate `file:"rate"`
	Efficiency float64    `file:"efficiency,lo=0,hi=1"`
	Source     string     `file:"source,need"`
	Date       string     `file:"date,date"`
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

var stepsFormat = yamlfile.Format{Schema: "railyard.steps/v1", Noun: "list of steps", Repeat: "steps"}

func parseSteps(file string, data []byte) (Steps, error) {
	var list struct {
		Steps Steps `file:"steps"`
	}
	err := stepsFormat.Read(file, data, &list)
	return list.Steps, err
}

// Check wants all steps, where there are any.
func (s *Steps) Check(o *yamlfile.Object) {
	for _, name := range stepNames {
		if _, ok := (*s)[name]; !ok {
			o.AddAt(o.Where("steps"), "step %s: is missing", name)
		}
	}
	for name := range *s {
		if !slices.Contains(stepNames, name) {
			o.AddAt(o.Where("steps"), "step %s is not known: must be one of %v", name, stepNames)
		}
	}
}

// Crossing is what the steps of a transfer between nodes cost: the profile's constants,
// else the shipped ones. They apply where a transfer is predicted step by step (package
// sim/crossing); the library's kernels have them inside what a hop across a network costs.
func (h *Hardware) Crossing() Steps {
	if h.Steps != nil {
		return h.Steps
	}
	return defaults.Steps
}
