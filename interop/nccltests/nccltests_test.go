package nccltests

import (
	"strings"
	"testing"

	"railyard/model/collective"
	"railyard/model/units"
)

// A log as nccl-tests 2.x prints it, with a line of NCCL's own in between. The numbers
// are H200 rows measured on 2026-11-21.
const log = `# nccl-tests version 2.19.6 nccl-headers=22809 nccl-library=22809
# Collective test starting: all_reduce_perf
# nThread 1 nGpus 4 minBytes 1024 maxBytes 1048576 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
#  Rank  0 Group  0 Pid   1234 on  vm device  0 [0x01] NVIDIA H200
#  Rank  1 Group  0 Pid   1234 on  vm device  1 [0x02] NVIDIA H200
#  Rank  2 Group  0 Pid   1234 on  vm device  2 [0x03] NVIDIA H200
#  Rank  3 Group  0 Pid   1234 on  vm device  3 [0x04] NVIDIA H200
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
        1024           256     float     sum      -1    11.73    0.09    0.13      0    11.71    0.09    0.13      0
vm:1234:1240 [0] NCCL INFO Connected all rings
     1048576        262144     float     sum      -1    20.30   51.65   77.48      0    20.10   52.17   78.25      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 38.8
`

func TestParseText(t *testing.T) {
	set, err := ParseText(strings.NewReader(log), "log", "")
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Rows) != 2 {
		t.Fatalf("%d rows", len(set.Rows))
	}
	r := set.Rows[1]
	if r.Collective != collective.AllReduce || r.GPUs != 4 || r.Size != units.MiB || r.Time != 20_300_000 || r.DType != "float" || r.Line != 14 {
		t.Errorf("%+v", r)
	}
	old := "  1048576  262144  float  20.30  51.65  38.74  0e+00  20.10  52.17  39.12  0e+00\n"
	set, err = ParseText(strings.NewReader(old), "old", "all_gather")
	if err != nil || set.Rows[0].Time != 20_300_000 || set.Rows[0].Columns[8] != "20.10" {
		t.Errorf("%+v, %v", set, err)
	}
	if _, err := ParseText(strings.NewReader("nothing here\n"), "x", "all_reduce"); err == nil {
		t.Error("accepted a log without results")
	}
}

func TestParseJSON(t *testing.T) {
	const doc = `{"version":"2.19.6","results":[{"size":1024,"count":256,"type":"float","redop":"sum","root":-1,"out_of_place":{"time":11.73,"alg_bw":0.09,"bus_bw":0.13,"nwrong":0},"in_place":{"time":11.71}}]}`
	set, err := ParseJSON(strings.NewReader(doc), "j", "all_reduce", 4)
	if err != nil || len(set.Rows) != 1 || set.Rows[0].Time != 11_730_000 || set.Rows[0].GPUs != 4 {
		t.Errorf("%+v, %v", set, err)
	}
}

func FuzzParseText(f *testing.F) {
	f.Add(log)
	f.Fuzz(func(t *testing.T, s string) {
		if set, err := ParseText(strings.NewReader(s), "f", "all_reduce"); err == nil {
			for _, r := range set.Rows {
				if r.Size < 0 || r.Time < 0 || len(r.Columns) != len(header) {
					t.Fatalf("%+v", r)
				}
			}
		}
	})
}
