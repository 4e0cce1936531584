package ncclras

import (
	"bytes"
	"os"
	"reflect"
	"strings"
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/model/observed"
)

// testdata/ras_missing.*: answers of NCCL 2.28.9's RAS in both formats, asked while three of four ranks waited for the last in an
// all-reduce; ras_mismatch.*: while one gathered and the others reduced (one H200, driver 580.159.04, 2026-11-23).
func read(t *testing.T, name string) *observed.Roll {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if !IsJSON(data) && !IsText(data) {
		t.Errorf("%s is not known for what it is", name)
	}
	rolls, err := Parse(bytes.NewReader(data), name)
	if err != nil || len(rolls) != 1 {
		t.Fatal(rolls, err)
	}
	return rolls[0]
}

func TestFormatsAgree(t *testing.T) {
	j, x := read(t, "ras_missing.json"), read(t, "ras_missing.txt")
	if j.Version != "2.28.9" || x.Version != "2.28.9" || len(j.Comms) != 2 || len(x.Comms) != 1 {
		t.Fatalf("%+v, %+v", j, x)
	}
	big := j.Comms[1]
	if big.Comm != x.Comms[0].Comm || big.Ranks != 4 || x.Comms[0].Ranks != 4 {
		t.Errorf("%+v, %+v", big, x.Comms[0])
	}
	behind := []observed.Member{{Rank: 3, Host: "127.0.0.1", PID: 797}}
	for _, s := range []observed.Progress{big, x.Comms[0]} {
		var reduces []observed.Count
		for _, c := range s.Counts {
			if c.Op == "AllReduce" {
				reduces = append(reduces, c)
			}
		}
		if len(reduces) != 2 || reduces[0].Upto != 3 || reduces[0].Ranks != 3 || reduces[1].Upto != 2 || reduces[1].Ranks != 1 ||
			!reflect.DeepEqual(reduces[1].Members, behind) {
			t.Errorf("%+v", reduces)
		}
	}
}

// What the text says where processes are gone and ranks report errors, as client_support.cc writes it.
const withErrors = `NCCL version 2.28.9 compiled with CUDA 13.0
CUDA runtime version 13000, driver version 13000

Job summary
===========

  Nodes  Processes         GPUs  Processes     GPUs
(total)   per node  per process    (total)  (total)
      4          2            1          8        8

Communicators... (5.003s)
=============

Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
    0         1         4         2         8         8   RUNNING  INCOMPLETE

Errors
======

INCOMPLETE
  Missing communicator data from 2 job processes
  Process 41 on node 10.0.0.3 managing GPU 4
  Process 42 on node 10.0.0.3 managing GPU 5

DEAD
  1 job process is considered dead (unreachable via the RAS network)
  Process 42 on node 10.0.0.3 managing GPU 5

#0-0 (00ff00ff00ff00ff) INCOMPLETE
  Missing communicator data from 2 ranks
  Rank 4 -- GPU 4 managed by process 41 on node 10.0.0.3
  Rank 5 -- GPU 5 managed by process 42 on node 10.0.0.3

#0-0 (00ff00ff00ff00ff) ERROR
  Asynchronous errors on 3 ranks
  2 ranks reported Remote process error
  Rank 0 -- GPU 0 managed by process 11 on node 10.0.0.1
  Rank 1 -- GPU 1 managed by process 12 on node 10.0.0.1
  Rank 2 reported System error -- GPU 2 (NVML 3) managed by process 21 on node 10.0.0.2

Warnings
========

TIMEOUT
  Encountered 2 communication timeouts while gathering communicator data

`

func TestErrors(t *testing.T) {
	rolls, err := Parse(strings.NewReader(withErrors), "ras.txt")
	if err != nil || len(rolls) != 1 {
		t.Fatal(rolls, err)
	}
	roll := rolls[0]
	want := []observed.Progress{
		{Place: observed.Place{File: "ras.txt", Line: 30}, Comm: "0x00ff00ff00ff00ff", Ranks: 8, Missing: []observed.Absence{
			{Member: observed.Member{Rank: 4, Host: "10.0.0.3", PID: 41, GPU: 4}},
			{Member: observed.Member{Rank: 5, Host: "10.0.0.3", PID: 42, GPU: 5}, Dead: true}}},
		{Place: observed.Place{File: "ras.txt", Line: 35}, Comm: "0x00ff00ff00ff00ff", Ranks: 8, Errors: []observed.Failure{
			{Text: "Remote process error", Ranks: 2, Members: []observed.Member{{Rank: 0, Host: "10.0.0.1", PID: 11},
				{Rank: 1, Host: "10.0.0.1", PID: 12, GPU: 1}}},
			{Text: "System error", Ranks: 1, Members: []observed.Member{{Rank: 2, Host: "10.0.0.2", PID: 21, GPU: 2}}}}}}
	if !reflect.DeepEqual(roll.Comms, want) {
		t.Errorf("%+v", roll.Comms)
	}
}

// A job that asks RAS again and again prints the answers among its own words.
func TestAnswersInALog(t *testing.T) {
	log := "[rank0] step 7\n" + withErrors + "[rank0] step 8\nNCCL version 2.28.9+cuda13.0\n" + withErrors
	if !IsText([]byte(log)) || IsText([]byte("NCCL version 2.28.9+cuda13.0\nJob summary\n")) {
		t.Error("answers in a log are not known, or others are")
	}
	rolls, err := Parse(strings.NewReader(log), "log")
	if err != nil || len(rolls) != 2 {
		t.Fatal(rolls, err)
	}
	for i, line := range []int{31, 80} {
		if c := rolls[i].Comms; len(c) != 2 || c[0].Line != line || !c[0].Missing[1].Dead || c[0].Missing[0].Dead {
			t.Errorf("%+v", c)
		}
	}
}

func TestMistakes(t *testing.T) {
	for _, c := range []struct{ data, want string }{
		{"", `ras: it has no line "NCCL version … compiled with CUDA"`},
		{"{}", `ras: it has no "nccl_version"`},
		{"{\n\"communicators\": 3}", "ras: line 2: communicators: number does not belong there"},
		{`{"nccl_version":"2","communicators":[{"size":-1}]}`, "ras: communicator : size -1"},
		{"NCCL version 2 compiled with CUDA 12\n#0-0 (ab) INCOMPLETE\n  Rank 99999999999 -- GPU 1 managed by process 1 on node a\n", "ras: line 3: "},
	} {
		if _, err := Parse(strings.NewReader(c.data), "ras"); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.data, err, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(withErrors))
	for _, name := range []string{"ras_missing.json", "ras_missing.txt"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rolls, err := Parse(bytes.NewReader(data), "f")
		if err != nil {
			return
		}
		for _, roll := range rolls {
			for _, c := range roll.Comms {
				for _, n := range c.Counts {
					if n.Ranks < 0 || n.Ranks < len(n.Members) && strings.HasPrefix(strings.TrimSpace(string(data)), "{") {
						t.Fatalf("%+v", n)
					}
				}
			}
		}
	})
}
