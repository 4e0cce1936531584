package chosen

import (
	"fmt"
	"slices"

	"railyard/model/health"
	"railyard/model/observed"
	"railyard/model/units"
	"railyard/report"
	"railyard/report/table"
	"railyard/sim/nccl"
)

const choiceRule = "nccl/choice"

// choices puts each choice beside the one that is expected: those that are slower by more than normal runs differ are findings.
func (j *judge) choices(c *observed.Comm, at *place) {
	found := nccl.Options{} // the tuner chooses by what NCCL found: what is wrong with that is said elsewhere
	if slices.ContainsFunc(c.Connections, func(w observed.Connection) bool { return w.Transport() == "NET/Socket" }) {
		found.Fabric = "tcp"
	}
	if c.Channels > 0 && c.NVLSChannels == 0 {
		found.NVLS = nccl.Off
	}
	var rows []*choice
	for i := range j.log.Choices {
		x := &j.log.Choices[i]
		if x.Comm != c.ID {
			continue
		}
		expected, longer := "", 0.
		should, ok1 := j.predict(at, found, nccl.Ask{Kind: x.Kind, Size: x.Size})
		does, ok2 := j.predict(at, found, nccl.Ask{Kind: x.Kind, Size: x.Size, Algorithm: x.Algorithm, Protocol: x.Protocol})
		if ok1 && ok2 && x.Algorithm != "symmetric" {
			expected, longer = should.Algorithm+"/"+should.Protocol, float64(does.Time)/float64(should.Time)-1
		}
		rows = join(rows, x, c.Ranks, expected, longer)
	}
	for _, r := range rows {
		j.row(r)
		if r.slow() {
			j.add(c, j.deviation(c, r, at), r.first)
		}
	}
}

// choice are sizes of a collective for which NCCL chose one way, where another may have been expected.
type choice struct {
	report.DoctorChoice
	low, high, of units.Bytes // of: with the largest loss
	longer        float64
	first         observed.Place
}

// slow reports whether the choice takes longer than the expected one by more than normal runs differ.
func (r *choice) slow() bool { return r.longer > tolerated }

func join(rows []*choice, x *observed.Choice, ranks int, expected string, longer float64) []*choice {
	row := &choice{low: x.Size, high: x.Size, of: x.Size, longer: longer, first: x.Place}
	row.DoctorChoice = report.DoctorChoice{Collective: x.Kind.String(), Ranks: ranks, Calls: x.Times, Chose: x.Algorithm + "/" + x.Protocol,
		Expected: expected}
	for _, r := range rows {
		if r.differsInSizeOnly(row) {
			r.add(row)
			return rows
		}
	}
	return append(rows, row)
}

// differsInSizeOnly reports whether two rows differ in sizes alone.
func (r *choice) differsInSizeOnly(x *choice) bool {
	return r.Collective == x.Collective && r.Ranks == x.Ranks && r.Chose == x.Chose && r.Expected == x.Expected && r.slow() == x.slow()
}

// add joins a row that is alike.
func (r *choice) add(x *choice) {
	r.low, r.high, r.Calls = min(r.low, x.low), max(r.high, x.high), r.Calls+x.Calls
	if x.longer > r.longer {
		r.longer, r.of = x.longer, x.of
	}
}

// row shows a row; of communicators that are alike, one.
func (j *judge) row(r *choice) {
	for _, known := range j.rows {
		if known.differsInSizeOnly(r) {
			known.add(r)
			return
		}
	}
	own := *r
	j.rows = append(j.rows, &own)
}

// shown are the rows as documents have them.
func (j *judge) shown() (out []report.DoctorChoice) {
	for _, r := range j.rows {
		d := r.DoctorChoice
		if d.From = int64(r.low); r.high > r.low {
			high := int64(r.high)
			d.To = &high
		}
		if longer := max(r.longer, 0); d.Expected != "" {
			d.Longer = &longer
		}
		out = append(out, d)
	}
	return out
}

// deviation is the finding that a choice takes longer than the expected one.
func (j *judge) deviation(c *observed.Comm, r *choice, at *place) health.Finding {
	sizes := table.Bytes(float64(r.low))
	if r.high > r.low {
		sizes += " to " + table.Bytes(float64(r.high))
	}
	return health.Finding{Rule: choiceRule, Level: health.Slow, Source: variables,
		Says: fmt.Sprintf("runs %s of %s as %s where %s was expected", r.Collective, sizes, r.Chose, r.Expected),
		Why:  "the tuner chooses by the links that it found, by variables and by plugins; the other takes less time on this machine",
		Do: j.unset("compare what NCCL found with the topology (NCCL_TOPO_DUMP_FILE), and look for a tuner plugin",
			"NCCL_ALGO", "NCCL_PROTO", "NCCL_TUNER_PLUGIN", "NCCL_TUNER_CONFIG_FILE", "NCCL_NVLS_ENABLE", "NCCL_LL128_BUFFSIZE"),
		Cost: health.Cost{Known: true, Share: r.longer, Best: r.longer, How: "NCCL's kernels of profile " + at.machine.Name,
			Of: fmt.Sprintf("%s of %s on %s", r.Collective, table.Bytes(float64(r.of)), units.Counted(c.Ranks, "GPU"))}}
}
