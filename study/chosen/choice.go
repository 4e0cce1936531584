package chosen

import (
	"fmt"
	"slices"

	"railyard/model/collective"
	"railyard/model/health"
	"railyard/model/observed"
	"railyard/model/units"
	"railyard/sim/nccl"
)

const choiceRule = "nccl/choice"

// deviation are sizes of a collective for which NCCL chose one way where another was expected.
type deviation struct {
	kind      collective.Kind
	chose     string
	expected  string
	low, high units.Bytes
	worst     float64
	of        units.Bytes // with the worst
	first     observed.Place
}

// choices puts each choice beside the one that is expected: those that are slower by more than normal runs differ are findings.
func (j *judge) choices(c *observed.Comm, at *place) {
	if at == nil {
		return
	}
	found := nccl.Options{} // the tuner chooses by what NCCL found: what is wrong with that is said elsewhere
	if slices.ContainsFunc(c.Ways, func(w observed.Way) bool { return w.Transport() == "NET/Socket" }) {
		found.Fabric = "tcp"
	}
	if c.Channels > 0 && c.NVLSChannels == 0 {
		found.NVLS = nccl.Off
	}
	var out []*deviation
	for i := range j.log.Choices {
		x := &j.log.Choices[i]
		if x.Comm != c.ID || x.Algorithm == "symmetric" {
			continue
		}
		should, ok1 := j.predict(at, found, nccl.Ask{Kind: x.Kind, Size: x.Size})
		does, ok2 := j.predict(at, found, nccl.Ask{Kind: x.Kind, Size: x.Size, Algorithm: x.Algorithm, Protocol: x.Protocol})
		if !ok1 || !ok2 {
			continue
		}
		if loss := float64(does.Time)/float64(should.Time) - 1; loss > tolerated {
			out = join(out, x, should.Algorithm+"/"+should.Protocol, loss)
		}
	}
	for _, d := range out {
		sizes := d.low.String()
		if d.high > d.low {
			sizes += " to " + d.high.String()
		}
		j.add(c, health.Finding{Rule: choiceRule, Level: health.Slow, Source: variables,
			Says: fmt.Sprintf("runs %v of %s as %s where %s was expected", d.kind, sizes, d.chose, d.expected),
			Why:  "the tuner chooses by the links that it found, by variables and by plugins; the other takes less time on this machine",
			Do: j.unset("compare what NCCL found with the topology (NCCL_TOPO_DUMP_FILE), and look for a tuner plugin",
				"NCCL_ALGO", "NCCL_PROTO", "NCCL_TUNER_PLUGIN", "NCCL_TUNER_CONFIG_FILE", "NCCL_NVLS_ENABLE", "NCCL_LL128_BUFFSIZE"),
			Cost: health.Cost{Known: true, Share: d.worst, Best: d.worst, How: "NCCL's kernels of profile " + at.machine.Name,
				Of: fmt.Sprintf("%v of %v on %s", d.kind, d.of, units.Counted(c.Ranks, "GPU"))}}, d.first)
	}
}

func join(out []*deviation, x *observed.Choice, expected string, loss float64) []*deviation {
	chose := x.Algorithm + "/" + x.Protocol
	for _, d := range out {
		if d.kind == x.Kind && d.chose == chose && d.expected == expected {
			d.low, d.high = min(d.low, x.Size), max(d.high, x.Size)
			if loss > d.worst {
				d.worst, d.of = loss, x.Size
			}
			return out
		}
	}
	return append(out, &deviation{x.Kind, chose, expected, x.Size, x.Size, loss, x.Size, x.Place})
}
