// Package chosen puts what NCCL chose, by its own log, beside what it should choose on that machine: the network and whether adapters
// reach GPU memory, how GPUs of one host reach each other, whether NVLink switches reduce, how many channels there are, algorithm and
// protocol of each size. What differs is a finding with its cost, by NCCL's kernels on that machine.
package chosen

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/health"
	"railyard/model/observed"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/report"
	"railyard/report/table"
	"railyard/sim/crossing"
	"railyard/sim/nccl"
	"railyard/study"
)

// Machine is what the log's machine should be.
type Machine struct {
	Site    study.Site // without a name, nothing is expected
	Profile string     // whose costs apply; "": the topology's
}

// size is what costs are asked of where the log has no all-reduce.
const size = units.GiB

// tolerated is by how much a choice may be slower than another: normal runs of one case differ by that (sim/nccl.Prediction.Band).
const tolerated = 0.05

// rules say what NCCL's documentation has on each.
const (
	guide      = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/"
	networking = guide + "troubleshooting.html#networking-issues"
	direct     = guide + "troubleshooting.html#gpu-to-nic-communication"
	peers      = guide + "troubleshooting.html#gpu-to-gpu-communication"
	variables  = guide + "env.html"
)

// judge judges one log.
type judge struct {
	log      *observed.Log
	machine  Machine
	runtimes map[string]*nccl.Runtime
	reported map[string]int       // findings by what is wrong
	others   map[int]int          // communicators beside the one that a finding names
	setups   []report.DoctorSetup // as found has them, with orders whole
	rows     []*choice
	found    Found
}

// Found is what a log says, beside what was expected.
type Found struct {
	Findings []health.Finding
	Setups   []report.DoctorSetup
	Choices  []report.DoctorChoice
	Notes    []string // on what could not be judged
}

// Find judges a log.
func Find(log *observed.Log, m Machine) *Found {
	j := &judge{log: log, machine: m, runtimes: map[string]*nccl.Runtime{}, reported: map[string]int{}, others: map[int]int{}}
	comms := make([]*observed.Comm, len(log.Comms)) // the largest first: of those that have the same wrong, it is told
	for i := range log.Comms {
		comms[i] = &log.Comms[i]
	}
	slices.SortStableFunc(comms, func(a, b *observed.Comm) int { return -cmp.Compare(a.Ranks, b.Ranks) })
	for _, c := range comms {
		at, err := j.place(c)
		if err != nil {
			j.note("communicators of %s are not compared with what is expected: %v", units.Counted(c.Ranks, "rank"), err)
		}
		j.network(c, at)
		j.direct(c, at)
		j.peers(c)
		j.nvls(c, at)
		j.setup(c, j.channels(c, at))
		j.choices(c, at)
	}
	j.choices(&observed.Comm{}, nil) // of which the log does not say whose they are
	j.reportOthers()
	j.warnings()
	j.found.Choices = j.shown()
	j.found.Notes = append(j.found.Notes, log.Notes...)
	return &j.found
}

func (j *judge) note(format string, args ...any) {
	if n := fmt.Sprintf(format, args...); !slices.Contains(j.found.Notes, n) {
		j.found.Notes = append(j.found.Notes, n)
	}
}

// place is the part of the machine that a communicator is on; nil where that is not known.
type place struct {
	topology *topology.Topology
	machine  *cost.Machine
	nodes    int
}

func (j *judge) place(c *observed.Comm) (*place, error) {
	if j.machine.Site.Name == "" {
		return nil, fmt.Errorf("which machine this should be is not known: name its topology with -t")
	}
	nodes, err := j.nodes(c)
	if err != nil {
		return nil, err
	}
	t, err := j.machine.Site.Part(nodes, c.Ranks/nodes)
	if err != nil {
		return nil, err
	}
	if t.NumRanks() != c.Ranks {
		return nil, fmt.Errorf("%d ranks on %d nodes; %s has %d", c.Ranks, nodes, t.Name(), t.NumRanks())
	}
	m, err := cost.MachineOn(t, j.machine.Profile)
	if err != nil {
		return nil, err
	}
	return &place{t, m, nodes}, nil
}

// nodes are as NCCL says; of versions that do not, as many as the machine's nodes need.
func (j *judge) nodes(c *observed.Comm) (int, error) {
	nodes := c.Nodes
	if nodes == 0 {
		one, err := j.machine.Site.Part(1, 0)
		if err != nil {
			return 0, err
		}
		nodes = (c.Ranks + one.NumRanks() - 1) / one.NumRanks()
	}
	if c.Ranks%nodes != 0 {
		return 0, fmt.Errorf("%d ranks are spread unevenly over %d nodes", c.Ranks, nodes)
	}
	return nodes, nil
}

// predict is what NCCL takes there as it is asked; false where that is not known.
func (j *judge) predict(at *place, o nccl.Options, a nccl.Ask) (nccl.Prediction, bool) {
	if at == nil {
		return nccl.Prediction{}, false
	}
	key := fmt.Sprintf("%s %d %d %+v", at.topology.Name(), at.topology.NumRanks(), at.nodes, o)
	r, known := j.runtimes[key]
	if !known {
		r, _ = study.NCCL(at.topology, at.machine, o) // nil where NCCL cannot be modelled so
		j.runtimes[key] = r
	}
	if r == nil {
		return nccl.Prediction{}, false
	}
	p, err := r.Predict(a)
	return p, err == nil && p.Time > 0
}

// optionCost is what an all-reduce takes longer with options than without.
func (j *judge) optionCost(at *place, c *observed.Comm, o nccl.Options) health.Cost {
	ask := nccl.Ask{Kind: collective.AllReduce, Size: j.largest(c)}
	should, ok1 := j.predict(at, nccl.Options{}, ask)
	does, ok2 := j.predict(at, o, ask)
	if !ok1 || !ok2 {
		return health.Cost{}
	}
	share := max(float64(does.Time)/float64(should.Time)-1, 0)
	return health.Cost{Known: true, Share: share, Best: share, How: "NCCL's kernels of profile " + at.machine.Name,
		Of: fmt.Sprintf("all-reduce of %s on %s", table.Bytes(float64(ask.Size)), units.Counted(c.Ranks, "GPU"))}
}

// largest is the largest all-reduce that the log has of a communicator.
func (j *judge) largest(c *observed.Comm) (most units.Bytes) {
	for _, x := range j.log.Choices {
		if x.Comm == c.ID && x.Kind == collective.AllReduce {
			most = max(most, x.Size)
		}
	}
	return cmp.Or(most, size)
}

// cause are the variables that a choice may come from, as they were set.
func (j *judge) cause(names ...string) string {
	var out []string
	for _, v := range j.log.Variables {
		if text := fmt.Sprintf("%s=%s (%v)", v.Name, v.Value, v.Place); slices.Contains(names, v.Name) && len(out) < 3 {
			out = append(out, text)
		}
	}
	return strings.Join(out, ", ")
}

// unset is what to do about it: unset the variables, where there are any.
func (j *judge) unset(otherwise string, names ...string) string {
	if c := j.cause(names...); c != "" {
		return "unset " + c
	}
	return otherwise
}

// add notes a finding; of several communicators with the same wrong, the first with how many others have it.
func (j *judge) add(c *observed.Comm, f health.Finding, from observed.Place) {
	key := f.Rule
	if f.Rule == choiceRule {
		key = f.Says
	}
	if at, known := j.reported[key]; known {
		j.others[at]++
		return
	}
	j.reported[key] = len(j.found.Findings)
	f.Part = fmt.Sprintf("communicator %s of %s", c.ID, units.Counted(c.Ranks, "rank"))
	f.From = []string{from.String()}
	j.found.Findings = append(j.found.Findings, f)
}

func (j *judge) reportOthers() {
	for at, n := range j.others {
		also := "so do"
		if n == 1 {
			also = "so does"
		}
		j.found.Findings[at].Says += fmt.Sprintf("; %s %s", also, units.Counted(n, "other communicator"))
	}
}

// network finds ranks that talk over sockets where there are adapters that write to memory, or should be.
func (j *judge) network(c *observed.Comm, at *place) {
	i := slices.IndexFunc(c.Connections, func(w observed.Connection) bool { return w.Transport() == "NET/Socket" })
	if i < 0 {
		return
	}
	var adapters []string
	for _, a := range j.log.Adapters {
		if a.Network != "Socket" && !slices.Contains(adapters, a.Name) {
			adapters = append(adapters, a.Name)
		}
	}
	f := health.Finding{Rule: "nccl/socket", Level: health.Slow, Source: networking, Cost: j.optionCost(at, c, nccl.Options{Fabric: "tcp"}),
		Says: "talks over TCP sockets between nodes (NET/Socket)",
		Why:  "each byte is copied by the processors, and one connection carries a few GB/s",
		Do: j.unset("check that adapters and their driver are present (ibstat), also in the container", "NCCL_IB_DISABLE", "NCCL_NET",
			"NCCL_IB_HCA", "NCCL_NET_PLUGIN")}
	if len(adapters) > 0 {
		f.Says += " though " + strings.Join(adapters, ", ") + " are there"
	}
	if f.Cost.Known && f.Cost.Share <= tolerated {
		return // it is what the machine has
	}
	j.add(c, f, c.Connections[i].Place)
}

// direct finds ways over adapters that do not reach GPU memory.
func (j *judge) direct(c *observed.Comm, at *place) {
	all, staged, first := 0, 0, observed.Place{}
	for i := range c.Connections {
		w := &c.Connections[i]
		if t := w.Transport(); !strings.HasPrefix(t, "NET/") || t == "NET/Socket" {
			continue
		}
		all++
		if !w.GPUDirect() {
			if staged == 0 {
				first = w.Place
			}
			staged++
		}
	}
	if staged == 0 {
		return
	}
	j.add(c, health.Finding{Rule: "nccl/no-gpudirect", Level: health.Slow, Source: direct, Cost: j.stagedCost(at),
		Says: fmt.Sprintf("has %d of %d connections over adapters without GPUDirect RDMA, through host memory", staged, all),
		Why:  "each byte crosses PCIe and host memory twice more",
		Do: j.unset("load nvidia-peermem, or use the open driver with DMA-BUF; check that GPU and adapter are under one PCIe switch "+
			"(nvidia-smi topo -m) and ACS is off", "NCCL_NET_GDR_LEVEL", "NCCL_NET_GDR_READ", "NCCL_IB_DISABLE", "NCCL_DMABUF_ENABLE")},
		first)
}

// stagedCost is what a transfer between two nodes takes longer through host memory.
func (j *judge) stagedCost(at *place) health.Cost {
	if at == nil || at.nodes < 2 {
		return health.Cost{}
	}
	o := crossing.Options{Size: 64 * units.MiB, Shrink: 1, QueuePairs: 2}
	to := at.topology.NumRanks() / at.nodes
	steps := at.machine.Crossing()
	if steps == nil { // the machine does not say
		return health.Cost{}
	}
	should, err := crossing.Predict(at.topology, 0, to, steps, o)
	if err != nil {
		return health.Cost{}
	}
	o.HostStaged = true
	does, err := crossing.Predict(at.topology, 0, to, steps, o)
	if err != nil {
		return health.Cost{}
	}
	share := max(float64(does.Time)/float64(should.Time)-1, 0)
	return health.Cost{Known: true, Share: share, Best: share, Of: fmt.Sprintf("transfer of %v between two nodes", o.Size),
		How: "five overlapping steps (topo show TOPOLOGY GPU GPU -s SIZE)"}
}

// peers finds GPUs of one host that reach each other through host memory, or over the network.
func (j *judge) peers(c *observed.Comm) {
	for _, transport := range []string{"SHM", "NET/"} {
		i := slices.IndexFunc(c.Connections, func(w observed.Connection) bool {
			from, ok1 := c.Hosts[w.From]
			to, ok2 := c.Hosts[w.To]
			return strings.HasPrefix(w.Transport(), transport) && c.Nodes == 1 && (!ok1 || !ok2 || from == to)
		})
		if i < 0 {
			continue
		}
		w := &c.Connections[i]
		j.add(c, health.Finding{Rule: "nccl/no-peer", Level: health.Slow, Source: peers,
			Says: fmt.Sprintf("has ranks %d and %d of one host reach each other via %s, not GPU to GPU", w.From, w.To, w.Via),
			Why:  "each byte goes through host memory, at a fraction of NVLink's or PCIe's rate",
			Do: j.unset("see nvidia-smi topo -p2p rw; switch off ACS and the IOMMU, and give the container all GPUs",
				"NCCL_P2P_DISABLE", "NCCL_P2P_LEVEL", "NCCL_CUMEM_ENABLE")}, w.Place)
		return
	}
}

// nvls finds machines whose switches could reduce and do not.
func (j *judge) nvls(c *observed.Comm, at *place) {
	should, ok := j.predict(at, nccl.Options{}, nccl.Ask{Kind: collective.AllReduce, Size: j.largest(c)})
	if !ok || !strings.HasPrefix(should.Algorithm, "nvls") || c.Channels == 0 || c.NVLSChannels > 0 {
		return
	}
	f := health.Finding{Rule: "nccl/no-nvls", Level: health.Slow, Source: variables,
		Cost: j.optionCost(at, c, nccl.Options{NVLS: nccl.Off}),
		Says: fmt.Sprintf("has 0 NVLS channels where NVLink switches reduce: %s was expected for all-reduces", should.Algorithm),
		Why:  "with NVLS the switches reduce, and each GPU sends every byte once",
		Do: j.unset("check that nvidia-fabricmanager runs and matches the driver (nvidia-smi -q: Fabric), and that no GPU has MIG on",
			"NCCL_NVLS_ENABLE", "NCCL_ALGO", "NCCL_CUMEM_ENABLE", "NCCL_NVLS_NCHANNELS")}
	if !c.Multicast {
		f.Says += "; multicast is not available"
	}
	j.add(c, f, c.Place)
}

// channels finds fewer channels than NCCL's search gives, which are returned; nil where that is not known.
func (j *judge) channels(c *observed.Comm, at *place) *int {
	if at == nil || c.Channels == 0 {
		return nil
	}
	should, ok := j.predict(at, nccl.Options{NVLS: nccl.Off}, nccl.Ask{Kind: collective.AllReduce, Size: size})
	if !ok {
		return nil
	}
	r := j.runtimes[fmt.Sprintf("%s %d %d %+v", at.topology.Name(), at.topology.NumRanks(), at.nodes, nccl.Options{NVLS: nccl.Off})]
	want := r.Channels(collective.AllReduce, size)
	if want <= c.Channels {
		return &want
	}
	f := health.Finding{Rule: "nccl/channels", Level: health.Notice, Source: variables,
		Says: fmt.Sprintf("has %s where NCCL's search gives %d for %s", units.Counted(c.Channels, "channel"), want, should.Algorithm),
		Why:  "each channel drives a share of the links: NCCL found fewer or slower links than the machine should have, or was told to",
		Do:   "compare NCCL_TOPO_DUMP_FILE with the topology: railyard doctor topo.xml"}
	names := []string{"NCCL_MAX_NCHANNELS", "NCCL_MAX_NRINGS", "NCCL_MAX_CTAS", "NCCL_MIN_NCHANNELS"}
	if j.cause(names...) != "" {
		f.Level, f.Do = health.Slow, j.unset("", names...)
	}
	j.add(c, f, c.Place)
	return &want
}
