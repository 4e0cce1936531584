package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"time"

	"railyard/capacity/inventory"
	"railyard/cmd/internal/cli"
	"railyard/interop/amdsmi"
	"railyard/interop/ibnet"
	"railyard/interop/nccltopo"
	"railyard/interop/slurm"
	"railyard/interop/smitopo"
	"railyard/interop/topograph"
	"railyard/model/failure"
	"railyard/model/survey"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/topologies"
)

// topologyFormat is a format of other tools that becomes a topology file.
type topologyFormat struct {
	name    string
	begins  func(data []byte) bool // what only such files hold
	network bool                   // it is of several nodes, whose type -t names
	gpu     bool                   // it need not say which GPUs they are
	read    func(r io.Reader, f *importFlags) (found, error)
}

// found is what another program has found out, which can be written as a topology file.
type found interface {
	Write(w io.Writer, date time.Time) error
}

var topologyFormats = []topologyFormat{
	{name: "nccl-topo", begins: regexp.MustCompile(`(?m)^\s*<system\b`).Match, gpu: true, read: importNCCL},
	{name: "amd-topology", begins: amdsmi.Is, gpu: true, read: importAMD},
	{name: "topo-m", begins: regexp.MustCompile(`(?m)^(\x1b\[[0-9;]*m|\s)*GPU0\s`).Match, gpu: true, read: importMatrix},
	{name: "ibnetdiscover", begins: ibnet.Begins, network: true, read: importOf(ibnet.ReadDiscover, fabricOf)},
	{name: "iblinkinfo", begins: ibnet.BeginsLinks, network: true, read: importOf(ibnet.ReadLinks, fabricOf)},
	{name: "slurm", begins: slurm.Begins, network: true, read: importOf(slurm.Read, (*slurm.Layout).Network)},
	{name: "topograph", begins: topograph.Begins, network: true, read: importOf(topograph.Read, (*topograph.Model).Network)},
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
func importNCCL(r io.Reader, f *importFlags) (found, error) {
	product, err := f.product()
	if err != nil {
		return nil, err
	}
	s, err := nccltopo.Read(r)
	if err != nil {
		return nil, err
	}
	if product.Name != "" && !s.Take(product) {
		return nil, cli.Usagef("--how gpu=%s: the file names the models of all its GPUs", product.Name)
	}
	hosts, err := s.Hosts()
	switch {
	case err != nil:
		return nil, err
	case len(hosts) == 1:
		return hosts[0], nil
	}
	return &survey.Rack{Name: "imported", Source: hosts[0].Source, Hosts: hosts}, nil
}

// importMatrix reads what nvidia-smi topo -m prints.
func importMatrix(r io.Reader, f *importFlags) (found, error) {
	product, err := f.product()
	if err != nil {
		return nil, err
	}
	m, err := smitopo.Read(r)
	if err != nil {
		return nil, err
	}
	return m.Node(product)
}

// importAMD reads what rocm-smi --showtopo and amd-smi topology print.
func importAMD(r io.Reader, f *importFlags) (found, error) {
	product, err := f.product()
	if err != nil {
		return nil, err
	}
	m, err := amdsmi.Read(r)
	if err != nil {
		return nil, err
	}
	return m.Node(product)
}

// product is the GPU's model that --how names; none where it names none.
func (f *importFlags) product() (p survey.Product, err error) {
	if f.GPU == "" {
		return p, nil
	}
	if p, err = survey.ProductNamed(f.GPU); err != nil {
		return p, cli.Usagef("--how gpu: %v", err)
	}
	return p, nil
}

// importOf reads what another program knows of a network.
func importOf[T any](read func(io.Reader) (T, error), network func(T, *survey.Network, int) (*survey.Network, error)) func(io.Reader,
	*importFlags) (found, error) {
	return func(r io.Reader, f *importFlags) (found, error) {
		x, err := read(r)
		if err != nil {
			return nil, err
		}
		adapters, err := f.adapters()
		if err != nil {
			return nil, err
		}
		return network(x, f.network(), adapters)
	}
}

// fabricOf is the network that tools of InfiniBand found, which says how many adapters its nodes have.
func fabricOf(x *ibnet.Fabric, n *survey.Network, adapters int) (*survey.Network, error) {
	kind := n.Type
	n, err := x.Network(n)
	if err == nil && kind != "" && n.Adapters != adapters {
		err = fmt.Errorf("its nodes have %d adapters on the network, a %s has %d: leave -t out, or name what the nodes are", n.Adapters,
			kind, adapters)
	}
	return n, err
}

// network is what is known of any network before it is read.
func (f *importFlags) network() *survey.Network {
	n := &survey.Network{Name: "imported", Source: "railyard import --from " + f.From, Type: f.Topo.Name}
	if n.Type == "" {
		n.Notes = []string{"what the nodes are is not said: a GPU for each adapter is assumed; -t TOPOLOGY names their type"}
	}
	return n
}

// adapters are how many a node of the type that -t names has; 1 where it names none.
func (f *importFlags) adapters() (nics int, err error) {
	if f.Topo.Name == "" {
		return 1, nil
	}
	t, err := topology.Load(source, f.Topo.Name, topology.Options{})
	if err != nil {
		return 0, err
	}
	if nics = adaptersOf(t, 0); nics == 0 {
		return 0, cli.Usagef("-t %s: its nodes have no network adapters", f.Topo.Name)
	}
	return nics, nil
}

// adaptersOf counts a node's network adapters.
func adaptersOf(t *topology.Topology, node int) (n int) {
	for _, d := range t.Devices() {
		if d.Kind == topology.NIC && int(d.Node) == node {
			n++
		}
	}
	return n
}

// importedTopology reads a topology file that was made, and says what it holds.
func importedTopology(data []byte) (string, error) {
	t, err := topology.Parse("imported.yaml", data, topologies.Source, topology.Options{})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s, %s, %s", units.Counted(t.NumNodes(), "node"), units.Counted(t.NumRanks(), "GPU"),
		units.Counted(inventory.Parts(t)[failure.NIC], "adapter")), nil
}
