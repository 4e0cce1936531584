// Package ibnet reads what ibnetdiscover (with -p, too) and iblinkinfo of rdma-core print of an InfiniBand network: its switches, and
// what each of their ports leads to.
package ibnet

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"railyard/interop/foreign"
	"railyard/model/units"

	"railyard/internal/lazy"
)

// Fabric is a network.
type Fabric struct {
	Switches []Switch
}

// Switch is a switch with its ports that are up, in order.
type Switch struct {
	ID, Name string
	Ports    []Port
	line     int
	lines    int // of iblinkinfo -l that are about it
}

// Port is a port that is up.
type Port struct {
	Number   int
	Peer     string     // id of the device at the other end
	PeerName string     // such as "node1 mlx5_0"
	Switch   bool       // the peer is one; where only its id says so, once all are read
	Rate     units.Rate // a direction
}

var errNoSwitch = errors.New("no switch in it: this is no output of ibnetdiscover or iblinkinfo")

// Begins reports whether a text is from ibnetdiscover.
func Begins(data []byte) bool { return discovered().Match(data) }

// BeginsLinks reports whether a text is from iblinkinfo.
func BeginsLinks(data []byte) bool { return linked().Match(data) }

var (
	discovered = lazy.Regexp(`(?m)^(?:Switch\s+\d+\s+"S-|(?:SW|CA)\s+\d+\s+\d+\s+0x[0-9a-fA-F]+\s+\d+x\s)`)
	linked     = lazy.Regexp(`(?m)==\(.*\)==>`)

	switchLine = lazy.Regexp(`^Switch\s+\d+\s+"(S-[0-9a-fA-F]+)"\s*#\s*"([^"]*)"`)
	portLine   = lazy.Regexp(`^\[(\d+)\](?:\[ext \d+\])?\s+"([SHR]-[0-9a-fA-F]+)"\[\d+\]` +
		`(?:\([0-9a-fA-F]+\))?\s*#\s*"([^"]*)"\s+lid\s+\d+\s+(\d+)x(\w+)`)
	// pairLine is a port of ibnetdiscover -p: a line of its own, which says whose it is. Where nothing is plugged in there is no other end.
	pairLine = lazy.Regexp(`^SW\s+\d+\s+(\d+)\s+0x([0-9a-fA-F]+)\s+(\d+)x\s+(\w+)\s+-\s+(SW|CA|RT)\s+\d+\s+\d+\s+` +
		`0x([0-9a-fA-F]+)\s+\(\s*'(.*)'\s+-\s+'(.*)'\s*\)$`)
	otherLine = lazy.Regexp(`^(#|$|\w+=|Ca\s|Rt\s|DR path|\[\d+\]\(|(CA|RT)\s+\d|` +
		`SW\s+\d+\s+\d+\s+0x[0-9a-fA-F]+\s+\d+x\s+\S+\s+[^-\s])`)
)

// lane is what a lane carries by the name of its speed: Gb/s of data.
var lane = map[string]float64{"SDR": 2, "DDR": 4, "QDR": 8, "FDR10": 10, "FDR": 13.64, "EDR": 25, "HDR": 50, "NDR": 100, "XDR": 200}

// signalled is the same by what a lane signals, as iblinkinfo prints it.
var signalled = map[string]string{"2.5": "SDR", "5.0": "DDR", "10.0": "QDR", "10.3125": "FDR10", "14.0625": "FDR", "25.78125": "EDR",
	"53.125": "HDR", "106.25": "NDR", "212.5": "XDR"}

func rateOf(width, speed string) (units.Rate, bool) {
	n, err := strconv.Atoi(width)
	gbps := lane[speed]
	return units.Rate(float64(n) * gbps * 1e9 / 8), err == nil && n > 0 && n <= 12 && gbps > 0
}

// ReadDiscover reads the output of ibnetdiscover: the ports of switches, which tell of adapters what their own lines repeat.
func ReadDiscover(r io.Reader) (*Fabric, error) {
	return read(r, func(f *Fabric, line string, number int, m *foreign.Mistakes) {
		if s := switchLine().FindStringSubmatch(line); s != nil {
			f.Switches = append(f.Switches, Switch{ID: s[1], Name: s[2], line: number})
			return
		}
		if p := pairLine().FindStringSubmatch(line); p != nil {
			f.pair(p, number, m)
			return
		}
		p := portLine().FindStringSubmatch(line)
		switch {
		case p != nil && len(f.Switches) > 0:
			rate, ok := rateOf(p[4], p[5])
			if !ok {
				m.Add(number, "speed %sx%s is not known", p[4], p[5])
			}
			port, _ := strconv.Atoi(p[1])
			f.add(Port{Number: port, Peer: p[2], PeerName: p[3], Switch: p[2][0] == 'S', Rate: rate})
		case !otherLine().MatchString(line):
			m.Add(number, "unexpected line %.40q", line)
		}
	})
}

// pair takes a port of a line of its own.
func (f *Fabric) pair(p []string, number int, m *foreign.Mistakes) {
	if n, id := len(f.Switches), "S-"+p[2]; n == 0 || f.Switches[n-1].ID != id {
		f.Switches = append(f.Switches, Switch{ID: id, Name: strings.TrimSpace(p[7]), line: number})
	}
	rate, ok := rateOf(p[3], p[4])
	if !ok {
		m.Add(number, "speed %sx %s is not known", p[3], p[4])
	}
	port, _ := strconv.Atoi(p[1])
	f.add(Port{Number: port, Peer: p[5][:1] + "-" + p[6], PeerName: strings.TrimSpace(p[8]), Switch: p[5] == "SW", Rate: rate})
}

var (
	infoSwitch = lazy.Regexp(`^Switch:?\s+(?:0x[0-9a-fA-F]+\s+)?(.*?):?$`)
	infoCA     = lazy.Regexp(`^CA:\s`)
	infoPort   = lazy.Regexp(`^(?:0x[0-9a-fA-F]+\s+)?(?:"\s*([^"]*?)"\s+)?(\d+)\s+(\d+)\[\s*\d*\s*\]\s*` +
		`==\(\s*(.*?)\)==>\s*(?:0x[0-9a-fA-F]+\s+)?(?:(\d+)\s+\d+)?(?:\s*\[\s*\d*\s*\])?\s*"([^"]*)"`)
	infoLine = lazy.Regexp(`^0x[0-9a-fA-F]+\s+"[^"]*"\s+\d`) // -l: each line says whose it is
	infoRate = lazy.Regexp(`^(\d+)X\s+([0-9.]+) Gbps(?: \((FDR10)\))?\s+Active`)
)

// ReadLinks reads the output of iblinkinfo, where local identifiers (LIDs) say which device is which. A line for each link (-l) does not
// say whether its device is a switch: a switch has one LID for all of its ports, an adapter one for each.
func ReadLinks(r io.Reader) (*Fabric, error) {
	inSwitch := false
	f, err := read(r, func(f *Fabric, line string, number int, m *foreign.Mistakes) {
		if s := infoSwitch().FindStringSubmatch(line); s != nil && !strings.Contains(line, "==>") {
			inSwitch = true
			f.Switches = append(f.Switches, Switch{Name: s[1], line: number})
			return
		}
		if infoCA().MatchString(line) {
			inSwitch = false
			return
		}
		p := infoPort().FindStringSubmatch(line)
		alone := p != nil && infoLine().MatchString(line)
		switch {
		case line == "" || p != nil && !inSwitch && !alone:
		case p == nil:
			m.Add(number, "unexpected line %.40q", line)
		default:
			if n := len(f.Switches); alone && (n == 0 || f.Switches[n-1].ID != p[2]) {
				f.Switches = append(f.Switches, Switch{ID: p[2], Name: p[1], line: number})
			}
			f.linkInfo(p, alone, number, m)
		}
	})
	if err != nil {
		return nil, err
	}
	f.Switches = slices.DeleteFunc(f.Switches, func(s Switch) bool { return s.lines == 1 })
	if len(f.Switches) == 0 {
		return nil, errNoSwitch
	}
	known := map[string]bool{}
	for _, s := range f.Switches {
		known[s.ID] = true
	}
	for i := range f.Switches {
		for j := range f.Switches[i].Ports {
			p := &f.Switches[i].Ports[j]
			p.Switch = known[p.Peer]
		}
	}
	return f, nil
}

// linkInfo takes a switch's port.
func (f *Fabric) linkInfo(p []string, alone bool, number int, m *foreign.Mistakes) {
	s := &f.Switches[len(f.Switches)-1]
	if s.ID == "" {
		s.ID = p[2]
	}
	if alone {
		s.lines++
	}
	rate := infoRate().FindStringSubmatch(p[4])
	if rate == nil || p[5] == "" { // down, or not active
		return
	}
	r, ok := rateOf(rate[1], cmp.Or(rate[3], signalled[rate[2]]))
	if !ok {
		m.Add(number, "speed %sX %s Gbps is not known", rate[1], rate[2])
	}
	port, _ := strconv.Atoi(p[3])
	f.add(Port{Number: port, Peer: p[5], PeerName: p[6], Rate: r})
}

func (f *Fabric) add(p Port) {
	s := &f.Switches[len(f.Switches)-1]
	s.Ports = append(s.Ports, p)
}

func read(r io.Reader, take func(f *Fabric, line string, number int, m *foreign.Mistakes)) (*Fabric, error) {
	data, err := foreign.Read(r, 256)
	if err != nil {
		return nil, err
	}
	f := &Fabric{}
	var m foreign.Mistakes
	for i, line := range strings.Split(string(data), "\n") {
		take(f, strings.TrimSpace(line), i+1, &m)
	}
	if len(f.Switches) == 0 {
		m.Add(0, "%v", errNoSwitch)
	}
	return f, m.Err()
}
