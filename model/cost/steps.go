package cost

import (
	_ "embed"
	"os"

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

// Steps are the constants of the steps of a transfer between nodes.
type Steps struct {
	Convert     Step `file:"convert,need"`    // pack or unpack; Rate counts bytes read and written
	HostCopy    Step `file:"host_copy,need"`  // GPU to host memory or back
	PostGPU     Step `file:"post_gpu,need"`   // a message handed to the NIC by the GPU itself
	PostProxy   Step `file:"post_proxy,need"` // by a CPU thread
	QueuePair   Step `file:"queue_pair,need"` // what one carries
	Synchronise Step `file:"synchronise,need"`
}

//go:embed steps.yaml
var shippedSteps []byte

// ReadSteps reads the constants from a YAML file.
func ReadSteps(file string) (*Steps, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return parseSteps(file, data)
}

var stepsFormat = yamlfile.Format{Schema: "railyard.steps/v1", Noun: "list of steps", Repeat: "steps"}

func parseSteps(file string, data []byte) (*Steps, error) {
	var list struct {
		Steps Steps `file:"steps"`
	}
	err := stepsFormat.Read(file, data, &list)
	return &list.Steps, err
}

// Crossing is what the steps of a transfer between nodes cost: the profile's constants,
// else the shipped ones. They apply where a transfer is predicted step by step (package
// sim/crossing); the library's kernels have them inside what a hop across a network costs.
func (h *Hardware) Crossing() *Steps {
	if h.Steps != nil {
		return h.Steps
	}
	return defaults.Steps
}
