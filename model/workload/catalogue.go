package workload

import (
	"embed"

	"railyard/model/yamlfile"
)

//go:embed shipped/*.yaml
var shipped embed.FS

var library = yamlfile.Library{Files: shipped, Dir: "shipped", Noun: "workload"}

// Names are the shipped workloads, sorted.
func Names() []string { return library.Names() }

// Get is a shipped workload by name, or one from a YAML file where the name is a path, with values of the file changed:
// "transformer.sequence=4096".
func Get(name string, set ...string) (*Workload, error) {
	file, data, err := library.Get(name)
	if err != nil {
		return nil, err
	}
	return Parse(file, data, set...)
}
