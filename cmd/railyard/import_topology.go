package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"time"

	"railyard/cmd/internal/cli"
	"railyard/interop/nccltopo"
	"railyard/interop/smitopo"
	"railyard/model/survey"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/topologies"
)

// topologyFormat is a format of other tools that becomes a topology file.
type topologyFormat struct {
	name    string
	begins  *regexp.Regexp // what only such files hold
	network bool           // it is of several nodes, whose type -t names
	gpu     bool           // it does not say which GPUs they are
	read    func(r io.Reader, f *importFlags) (found, error)
}

// found is what another program has found out, which can be written as a topology file.
type found interface {
	Write(w io.Writer, date time.Time) error
}

var topologyFormats = []topologyFormat{
	{name: "nccl-topo", begins: regexp.MustCompile(`(?m)^\s*<system\b`), read: importNCCL},
	{name: "topo-m", begins: regexp.MustCompile(`(?m)^(\x1b\[[0-9;]*m|\s)*GPU0\s`), gpu: true, read: importMatrix},
}

func topologyFormatNames() (names []string) {
	for _, f := range topologyFormats {
		names = append(names, f.name)
	}
	return names
}

func topologyFormatNamed(name string) *topologyFormat {
	return &topologyFormats[slices.IndexFunc(topologyFormats, func(f topologyFormat) bool { return f.name == name })]
}

// importNCCL reads NCCL's topology file.
func importNCCL(r io.Reader, _ *importFlags) (found, error) {
	s, err := nccltopo.Read(r)
	if err != nil {
		return nil, err
	}
	return s.Node()
}

// importMatrix reads what nvidia-smi topo -m prints.
func importMatrix(r io.Reader, f *importFlags) (found, error) {
	var product survey.Product
	if f.GPU != "" {
		var err error
		if product, err = survey.ProductNamed(f.GPU); err != nil {
			return nil, cli.Usagef("--how gpu: %v", err)
		}
	}
	m, err := smitopo.Read(r)
	if err != nil {
		return nil, err
	}
	return m.Node(product)
}

// importedTopology reads a topology file that was made, and says what it holds.
func importedTopology(data []byte) (string, error) {
	t, err := topology.Parse("imported.yaml", data, topologies.Source, topology.Options{})
	if err != nil {
		return "", err
	}
	nics := 0
	for _, d := range t.Devices() {
		if d.Kind == topology.NIC {
			nics++
		}
	}
	return fmt.Sprintf("%s, %s, %s", units.Counted(t.NumNodes(), "node"), units.Counted(t.NumRanks(), "GPU"),
		units.Counted(nics, "adapter")), nil
}
