package chosen

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"railyard/model/health"
	"railyard/model/observed"
)

// results are the errors of NCCL's calls by their codes, as ncclGetErrorString has them.
var results = []string{"", "unhandled CUDA error", "unhandled system error", "internal error", "invalid argument", "invalid usage",
	"remote process exited or network error"}

// remote is the code of a call that failed because another rank did, or the network.
const remote = 6

// completion is what an adapter says of a message that it could not send or take.
var completion = regexp.MustCompile(`^NET/IB.*Got completion .*?(?:status=|error )(?:\w+\()?(\d+)`)

// completions are such words by their number (enum ibv_wc_status of libibverbs), what is behind them and what to do (NVIDIA/nccl#426).
var completions = map[int]struct{ why, do string }{
	4: {"the adapter may not read or write the memory of this rank",
		"lsmod | grep -i -E 'peermem|dma'; without GPUDirect for a test: NCCL_NET_GDR_LEVEL=LOC"},
	5: {"the connection had failed before", "look for an earlier completion with another number"},
	10: {"the peer's adapter may not read or write the memory of its rank",
		"on the peer: lsmod | grep -i -E 'peermem|dma'; IOMMU and ACS off, or without GPUDirect for a test: NCCL_NET_GDR_LEVEL=LOC"},
	11: {"the peer's adapter could not finish the message", "on the peer: dmesg, and the first warning of its rank"},
	12: {"the peer's adapter acknowledged nothing in time: the link or its cable, a switch, or with RoCE the address between the two " +
		"that the line names",
		"on both hosts: ibstat, rdma statistic; ib_write_bw between the two adapters; with RoCE show_gids and NCCL_IB_GID_INDEX; on a " +
			"network that loses packets a larger NCCL_IB_TIMEOUT"},
	13: {"the peer had no room for the message in time", "look at the peer's rank: it hangs, or has died"},
}

// flushed is the number of what fails since something before has.
const flushed = 5

// warnings are NCCL's own: it gives one for each error that a call returns. Those with which a call of the job failed break it, but for
// those of ranks whose peers had failed before. What adapters of a host say of one kind of message is one finding.
func (j *judge) warnings() {
	all := slices.Clone(j.log.Warnings)
	elsewhere := slices.ContainsFunc(all, func(w observed.Warning) bool { return w.Failed > 0 && w.Failed != remote })
	first := map[string]*observed.Warning{} // by host and number
	for i := range all {
		w := &all[i]
		status, ok := completed(w.Text)
		key := fmt.Sprint(w.Host, " ", status)
		if x := first[key]; ok && x != nil {
			x.Times, x.Failed, w.Times = x.Times+w.Times, max(x.Failed, w.Failed), 0
		} else if ok {
			first[key] = w
		}
	}
	for _, w := range all {
		if w.Times > 0 {
			j.found.Findings = append(j.found.Findings, warning(w, elsewhere))
		}
	}
}

// warning is what a warning means; elsewhere: another rank's call failed by itself.
func warning(w observed.Warning, elsewhere bool) health.Finding {
	f := health.Finding{Rule: "nccl/warning", Level: health.Notice, Part: "NCCL on " + cmp.Or(w.Host, "this machine"),
		Says: "warned: " + w.Text,
		Why:  "NCCL warns where a call returns an error or the system is set up in a way known to hurt", Source: guide +
			"troubleshooting.html",
		Do: "look for the first warning of all ranks: later ones are often its consequences", From: []string{w.Place.String()}}
	if w.Failed > 0 {
		f.Says = fmt.Sprintf("failed (%s): %s", results[w.Failed], w.Text)
		f.Why = "a call of the job ended with this error"
	}
	if w.Failed > 0 && (w.Failed != remote || !elsewhere) {
		f.Level = health.Broken
	}
	if status, ok := completed(w.Text); ok {
		f.Why, f.Do = completions[status].why, completions[status].do
		if status != flushed {
			f.Level = health.Broken
		}
	}
	if w.Times > 1 {
		f.Says += fmt.Sprintf(" (%d times)", w.Times)
	}
	return f
}

// completed is the number of an adapter's words, if a warning has such as are known.
func completed(text string) (status int, known bool) {
	m := completion.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	status, _ = strconv.Atoi(m[1])
	_, known = completions[status]
	return status, known
}
