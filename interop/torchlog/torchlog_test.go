package torchlog

import (
	"fmt"
	"io"
	"strings"
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/interop/interoptest"
	"railyard/study/hang"
)

// said is what a rank's watchdog says, as PyTorch 2.7 does.
func said(rank, place int, group, op string, seq int64) string {
	return fmt.Sprintf("[rank%d]:[E626 06:24:44.903881913 ProcessGroupNCCL.cpp:616] [Rank %d] Watchdog caught collective operation timeout: "+
		"WorkNCCL(SeqNum=%d, OpType=%s, NumelIn=9801523, NumelOut=9801523, Timeout(ms)=600000) ran for 600020 milliseconds before timing "+
		"out.\n[rank%[1]d]:[E626 06:24:44.906457629 ProcessGroupNCCL.cpp:1785] [PG %[5]s Rank %[2]d] Exception (either an error or timeout) "+
		"detected by watchdog at work: %[3]d, last enqueued NCCL work: %[6]d, last completed NCCL work: %[7]d.\n", rank, place, seq, op, group,
		seq+3, seq-1)
}

func TestVerdicts(t *testing.T) {
	const all = "ID 0 PG GUID 0(default_pg)"
	for _, c := range []struct{ name, log, want string }{
		{"one is not there", said(0, 0, all, "ALLREDUCE", 808) + "Epoch 3\n" + said(3, 3, all, "ALLREDUCE", 808) + said(1, 1, all, "ALLREDUCE", 808),
			"group default_pg, ranks 0-3 hangs in all_reduce 808: nothing was heard of rank 2"},
		{"all are", said(0, 0, all, "_ALLGATHER_BASE", 7) + said(1, 1, all, "_ALLGATHER_BASE", 7),
			"timed out in all_gather 7 though all 2 ranks had joined"},
		{"at odds", said(0, 0, all, "ALLREDUCE", 7) + said(1, 1, all, "BROADCAST", 7),
			"ran different collectives under number 7: rank 0: all_reduce of 9801523 elements; rank 1: broadcast of 9801523 elements"},
		{"a group of some", said(4, 0, "1", "ALLREDUCE", 7) + said(6, 2, "1", "ALLREDUCE", 7), "group 1 timed out in all_reduce 7"},
		{"groups of one name", said(4, 0, "1", "ALLREDUCE", 7) + said(6, 0, "1", "ALLREDUCE", 9), "several groups of ranks \"1\""},
		{"without the collective", said(0, 0, all, "ALLREDUCE", 7) + strings.SplitAfter(said(1, 1, all, "ALLREDUCE", 7), "\n")[1],
			"all 2 ranks had joined"},
		{"later words", said(0, 0, all, "ALLREDUCE", 7) + "[rank1]:[E1 a.cpp:1] [PG ID 0 PG GUID 0(default_pg) Rank 1] failure detected by " +
			"watchdog at work sequence id: 7 PG status: last enqueued work: 9, last completed work: 6\n", "all 2 ranks had joined"},
	} {
		var l Log
		if err := l.Read(strings.NewReader(c.log), "f"); err != nil || !Is([]byte(c.log)) {
			t.Errorf("%s: %v", c.name, err)
		}
		list, notes := l.Recordings()
		got := strings.Join(notes, "\n")
		for _, f := range hang.OfRecordings(list) {
			got += f.Part + " " + f.Says + "\n"
		}
		if !strings.Contains(got, c.want) || strings.Count(got, "\n") > 1 {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// Before 2.3 lines do not name the rank of the job, and no line names the group: what was given up is known, not who waits for whom.
func TestWithoutGroups(t *testing.T) {
	log := "Epoch 0: 6%|##  [6:28:43<94:39:17][E ProcessGroupNCCL.cpp:458] [Rank 7] Watchdog caught collective operation timeout: " +
		"WorkNCCL(SeqNum=64088, OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 1825251 milliseconds before timing out.\n" +
		"[E ProcessGroupNCCL.cpp:458] [Rank 0] Watchdog caught collective operation timeout: " +
		"WorkNCCL(SeqNum=96117, OpType=_ALLGATHER_BASE, Timeout(ms)=1800000) ran for 1825613 milliseconds before timing out.\n" +
		strings.SplitAfter(said(2, 1, "1", "ALLREDUCE", 7), "\n")[0]
	var l Log
	if err := l.Read(strings.NewReader(log), "f"); err != nil || !Is([]byte(log)) {
		t.Error(err)
	}
	if list, notes := l.Recordings(); len(list) > 0 || len(notes) > 0 {
		t.Error(list, notes)
	}
	got := hang.OfTimeouts(l.Timeouts())
	const want = "gave up collectives: rank 0 of a group all_gather 96117 after 30m26s; rank 7 of a group all_reduce 64088 after 30m25s; " +
		"rank 2 all_reduce 7 after 10m0s"
	if len(got) != 1 || got[0].Says != want || got[0].From[0] != "f:1" {
		t.Errorf("%+v", got)
	}
	if hang.OfTimeouts(nil) != nil {
		t.Error("something of nothing")
	}
}

func FuzzRead(f *testing.F) {
	interoptest.Fuzz(f, said(0, 0, "1", "ALLREDUCE", 7)+said(1, 1, "1", "_REDUCE_SCATTER_BASE", 8), nil, func(t *testing.T, r io.Reader) {
		var l Log
		if l.Read(r, "f") != nil {
			return
		}
		list, _ := l.Recordings()
		hang.OfRecordings(list)
		hang.OfTimeouts(l.Timeouts())
	})
}
