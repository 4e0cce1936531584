package workload

import (
	"embed"
	"fmt"
	"os"
	"path"
	"strings"

	"railyard/model/yamlfile"
)

//go:embed shipped/*.yaml
var shipped embed.FS

// Names are the shipped workloads, sorted.
func Names() []string {
	entries, _ := shipped.ReadDir("shipped") // embedded: it is there
	var out []string
	for _, e := range entries {
		out = append(out, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return out
}

// Get is a shipped workload by name, or one from a YAML file where the name is a path
// (has a slash or ends in .yaml or .yml), with values of the file changed:
// "transformer.sequence=4096".
func Get(name string, set ...string) (*Workload, error) {
	if strings.Contains(name, "/") || strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") {
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		if info.Size() > yamlfile.MaxFile {
			return nil, fmt.Errorf("%s: larger than %d MiB: no workload is", name, yamlfile.MaxFile>>20)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		return Parse(name, data, set...)
	}
	data, err := shipped.ReadFile(path.Join("shipped", name+".yaml"))
	if err != nil {
		return nil, fmt.Errorf("there is no workload %q: name a file, or one of %s", name, strings.Join(Names(), ", "))
	}
	return Parse(name+".yaml", data, set...)
}
