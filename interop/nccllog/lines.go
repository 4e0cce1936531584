package nccllog

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"railyard/internal/lazy"
	"railyard/interop/foreign"
	"railyard/model/collective"
	"railyard/model/observed"
	"railyard/model/units"
)

// rule is a message that is understood: those that hold the text are matched.
type rule struct {
	text  string
	match func() *regexp.Regexp
	take  func(r *reader, p *process, m []string) error
}

// via is a transport; names of networks may have a space, as "AWS Libfabric".
const via = `(NET/[^/]+\S*|\S+)`

// rules are the messages, as src/init.cc, src/transport, src/graph and src/enqueue.cc of NCCL 2.10 to 2.30 write them.
var rules = []rule{
	{"- Init START", lazy.Regexp(`comm (0x\S+) rank (\d+) nranks (\d+) (.*)- Init START`), (*reader).starts},
	{"- Init COMPLETE", lazy.Regexp(`comm (0x\S+) rank (\d+) nranks (\d+) (.*)- Init COMPLETE`), (*reader).starts},
	{" nNodes ", lazy.Regexp(`^comm (0x\S+) rank (\d+) nRanks (\d+) (nNodes (\d+) .*)`), (*reader).nodes},
	{"Using network ", lazy.Regexp(`^Using network (.+?)\s*$`), (*reader).network},
	{" coll channels, ", lazy.Regexp(`^(\d+) coll channels, .*?(?:(\d+) nvls channels, )?(\d+) p2p channels`), (*reader).channels},
	{"NVLS multicast support is available", lazy.Regexp(`.`), (*reader).multicast},
	{"Trees ", lazy.Regexp(`^Trees ((?: *\[\d+\] \S+)+)`), (*reader).trees},
	{" via ", lazy.Regexp(`^Channel (\d+)(?:/(\d+))? : (\d+)\[([^\]]*)\] -> (\d+)\[([^\]]*)\](?: \[(send|receive)\])? via ` + via),
		(*reader).way},
	{"Channel ", lazy.Regexp(`^Channel (\d+)/\d+ : +([\d ]+)$`), (*reader).ring},
	{": opCount ", lazy.Regexp(`^(\w+): opCount .* comm (0x[0-9a-f]+) \[nranks=\d+\]`), (*reader).call},
	{" Bytes -> Algo ",
		lazy.Regexp(`^(?:(\w+): )?(\d+) Bytes -> Algo (\w+) proto (\w+)(?: time \S+)?(?: channel\{Lo\.\.Hi\}=\{(\d+)\.\.(\d+)\})?`),
		(*reader).choice},
	{"[Symmetric]: ", lazy.Regexp(`^(\w+) \[Symmetric\]: (\d+) Bytes -> Kernel (\w+) nchannels (\d+)`), (*reader).symmetric},
	{"Using [", lazy.Regexp(`^NET/(.+?) ?: Using (.*)$`), (*reader).adapters},
	{"NCCL_", lazy.Regexp(`^(NCCL_\w+) set (?:by environment )?to (.*?)\.?$`), (*reader).variable},
	{" reset to NCCL_", lazy.Regexp(` reset to (NCCL_\w+)=(\S+)`), (*reader).variable},
	{".cc:", lazy.Regexp(`^(?:\S*/)?(?:init|group|enqueue)\.cc:\d+ -> ([1-6])\b`), (*reader).fails},
	{" Thread]", lazy.Regexp(`^(?:\S*/)?proxy\.cc:\d+ -> ([1-6]) \[(?:Progress|Proxy) Thread\]`), (*reader).fails},
	{"NCCL version ", lazy.Regexp(`^NCCL version (\S+)`), (*reader).version},
}

func (r *reader) version(_ *process, m []string) error {
	if r.log.Version == "" {
		r.log.Version = m[1]
	} else if r.log.Version != m[1] {
		r.note(fmt.Sprintf("NCCL %s and %s run in one job", r.log.Version, m[1]))
	}
	return nil
}

func (r *reader) nodes(p *process, m []string) error {
	n, err := number(m[5])
	if err != nil {
		return err
	}
	if p.byPointer(m[1]) == nil { // as where NCCL_DEBUG_SUBSYS has no INIT
		if err := r.starts(p, m); err != nil {
			return err
		}
	}
	p.current = p.byPointer(m[1])
	p.current.Nodes = n
	return nil
}

func (r *reader) network(p *process, m []string) error {
	p.network = m[1]
	if p.current != nil && p.current.Network == "" {
		p.current.Network = m[1]
	}
	return nil
}

func (r *reader) channels(p *process, m []string) error {
	if p.current == nil {
		return nil
	}
	for i, to := range []*int{&p.current.Channels, &p.current.NVLSChannels, &p.current.PeerChannels} {
		if m[i+1] == "" {
			continue
		}
		n, err := number(m[i+1])
		if err != nil {
			return err
		}
		*to = n
	}
	return nil
}

func (r *reader) multicast(p *process, _ []string) error {
	p.multicast = true
	if p.current != nil {
		p.current.Multicast = true
	}
	return nil
}

var branch = lazy.Regexp(`\[(\d+)\] (-?\d+)/(-?\d+)/(-?\d+)->(-?\d+)->(-?\d+)`)

func (r *reader) trees(p *process, m []string) error {
	if p.current == nil {
		return nil
	}
	for _, b := range branch().FindAllStringSubmatch(m[1], -1) {
		var n [6]int
		for i := range n {
			var err error
			if n[i], err = strconv.Atoi(b[i+1]); err != nil || n[i] > maxRanks {
				return fmt.Errorf("tree %s: no such rank", b[0])
			}
		}
		out := observed.Branch{Channel: n[0], Rank: n[4], Up: n[5]}
		for _, d := range n[1:4] {
			if d >= 0 {
				out.Down = append(out.Down, d)
			}
		}
		p.current.Trees = append(p.current.Trees, out)
	}
	return nil
}

func (r *reader) ring(p *process, m []string) error {
	if p.current == nil {
		return nil
	}
	channel, err := number(m[1])
	if err != nil || channel != len(p.current.Rings) {
		return err // told twice
	}
	var ring []int
	for _, f := range strings.Fields(m[2]) {
		rank, err := number(f)
		if err != nil {
			return err
		}
		ring = append(ring, rank)
	}
	p.current.Rings = append(p.current.Rings, ring)
	return nil
}

func (r *reader) way(p *process, m []string) error {
	w := observed.Connection{Place: r.place(), Messages: m[2] == "1", Via: m[8]}
	for i, to := range map[int]*int{1: &w.Channel, 3: &w.From, 5: &w.To} {
		n, err := number(m[i])
		if err != nil {
			return err
		}
		*to = n
	}
	if c := p.withRank(max(w.From, w.To)); c != nil {
		c.Connections = append(c.Connections, w)
	}
	if w.Messages || m[7] == "" {
		return nil // messages go over the adapter of the other side's rail
	}
	return r.sends(p, &w, map[string]string{"send": m[4], "receive": m[6]}[m[7]])
}

// overAdapter is a way over an adapter by its number, which a rank takes by itself: behind other numbers stands the rank that does it
// for this one (PXN).
var overAdapter = lazy.Regexp(`^NET/([^/]+)/(\d+)(?:/|$)`)

// sends notes over which adapter a GPU sends or receives, which is called by its number or, up to 2.17, by its PCI address (%lx).
func (r *reader) sends(p *process, w *observed.Connection, gpu string) error {
	m := overAdapter().FindStringSubmatch(w.Via)
	if m == nil {
		return nil
	}
	name, ok := r.devices[p.id+" "+m[1]+" "+m[2]]
	if !ok { // several adapters as one, of which the log says the speed alone
		return nil
	}
	s := observed.Send{Place: w.Place, Host: p.host, GPU: -1, Adapter: name, Direct: w.GPUDirect()}
	if bus, err := strconv.ParseUint(gpu, 16, 64); err == nil && bus >= firstBus {
		s.Bus = fmt.Sprintf("%04x:%02x:%02x.%x", bus>>20, bus>>12&0xff, bus>>4&0xff, bus&0xf)
	} else if d, err := strconv.Atoi(gpu); err == nil {
		s.GPU = d
	}
	key := s
	key.Place = observed.Place{}
	if _, known := r.seen[key]; !known && (s.GPU >= 0 || s.Bus != "") {
		r.seen[key] = 0
		r.log.Sends = append(r.log.Sends, s)
	}
	return nil
}

// firstBus is that of device 16 of bus 0, where virtual machines have their first GPUs: what is less has two digits, and is a number.
const firstBus = 0x100

func (r *reader) call(p *process, m []string) error {
	if c := p.byPointer(m[2]); c != nil {
		p.current, p.called = c, true
	}
	p.kind = m[1]
	return nil
}

// called is a name that a log gives, or a number of one.
func called(names []string, text string) (string, error) {
	if n, err := strconv.Atoi(text); err == nil {
		if n < 0 || n >= len(names) {
			return "", fmt.Errorf("%d is none of %s", n, strings.Join(names, ", "))
		}
		return names[n], nil
	}
	return strings.ToLower(text), nil
}

func (r *reader) choice(p *process, m []string) (err error) {
	x := observed.Choice{Times: 1}
	if x.Algorithm, err = called(foreign.NCCLAlgorithms, m[3]); err != nil {
		return err
	}
	if x.Protocol, err = called(foreign.NCCLProtocols, m[4]); err != nil {
		return err
	}
	if m[5] != "" {
		low, err1 := number(m[5])
		high, err2 := number(m[6])
		if err1 != nil || err2 != nil || high < low {
			return fmt.Errorf("channels %s to %s", m[5], m[6])
		}
		x.Channels = high - low + 1
	}
	return r.chosen(p, m[1], m[2], x)
}

func (r *reader) symmetric(p *process, m []string) error {
	n, err := number(m[4])
	if err != nil {
		return err
	}
	return r.chosen(p, m[1], m[2], observed.Choice{Times: 1, Algorithm: "symmetric", Protocol: m[3], Channels: n})
}

// chosen notes a choice of the communicator that the process is known to be at.
func (r *reader) chosen(p *process, name, bytes string, x observed.Choice) error {
	if name == "" {
		name = p.kind
	}
	kind, err := collective.Parse(name)
	if err != nil {
		r.note("choices of versions up to 2.23 do not say of which collective they are: log NCCL_DEBUG_SUBSYS=COLL as well")
		return nil
	}
	size, err := strconv.ParseInt(bytes, 10, 64)
	if err != nil || size > maxBytes {
		return fmt.Errorf("%s bytes", bytes)
	}
	x.Place, x.Kind, x.Size = r.place(), kind, units.Bytes(size)
	if c := p.certain(); c != nil {
		x.Comm, x.Size = c.ID, observed.InTests(kind, x.Size, c.Ranks)
	}
	r.choose(x)
	return nil
}

// adapter is a number and a name; a name may have several numbers, one for each of its ports.
var adapter = lazy.Regexp(`\[(\d+)\]([^\s:={]+)`)

func (r *reader) adapters(p *process, m []string) error {
	for _, a := range adapter().FindAllStringSubmatch(m[2], -1) {
		r.addAdapter(observed.Adapter{Host: p.host, Network: m[1], Name: a[2]})
		r.devices[p.id+" "+m[1]+" "+a[1]] = a[2]
	}
	return nil
}

func (r *reader) variable(p *process, m []string) error {
	r.addVariable(observed.Variable{Place: r.place(), Host: p.host, Name: m[1], Value: m[2]})
	return nil
}

// fails takes the error that a call of the library's user ends with, or the thread that sends, behind the warning that says why.
func (r *reader) fails(p *process, m []string) error {
	if p.warned >= 0 {
		r.log.Warnings[p.warned].Failed = int(m[1][0] - '0')
	}
	return nil
}

func number(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n > maxRanks {
		return 0, fmt.Errorf("%.20s is no number up to %d", text, maxRanks)
	}
	return n, nil
}
