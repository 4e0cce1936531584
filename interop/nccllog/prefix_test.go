package nccllog

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"railyard/model/observed"
)

// headed is the log of four processes, each line with something else in front than host, process and GPU.
func headed(t *testing.T, front func(process, line int) string) *observed.Log {
	t.Helper()
	data, err := os.ReadFile("testdata/four_sockets.log")
	if err != nil {
		t.Fatal(err)
	}
	var processes []string
	var b bytes.Buffer
	for i, text := range strings.Split(string(data), "\n") {
		at := prefix().FindStringSubmatchIndex(text)
		if at == nil {
			fmt.Fprintln(&b, text)
			continue
		}
		pid := text[at[4]:at[5]]
		if !slices.Contains(processes, pid) {
			processes = append(processes, pid)
		}
		fmt.Fprintln(&b, front(slices.Index(processes, pid), i)+text[at[8]-len("NCCL "):])
	}
	if !Is(b.Bytes()[:4096]) {
		t.Errorf("%.80q is not known for what it is", b.String())
	}
	log, err := Parse(File{"four", &b})
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// hostless is what a log says that has no hosts.
func hostless(log *observed.Log) *observed.Log {
	out := *log
	out.Notes, out.Variables, out.Adapters, out.Sends, out.Warnings = nil, nil, nil, nil, nil
	out.Comms = slices.Clone(log.Comms)
	for i := range out.Comms {
		out.Comms[i].Hosts = nil
	}
	return &out
}

// TestOtherFronts: what launchers, clusters and people put in NCCL's front's place tells processes apart as well, timestamps aside; what
// cannot be known without it is said.
func TestOtherFronts(t *testing.T) {
	whole := headed(t, func(process, line int) string { return fmt.Sprintf("vm:%d:7 [0] ", process) })
	if len(whole.Notes) > 0 {
		t.Errorf("%q", whole.Notes)
	}
	for name, front := range map[string]func(process, line int) string{
		"mpirun": func(process, _ int) string { return fmt.Sprintf("[1,%d]<stdout>:[0] ", process) },
		"torchrun on Kubernetes": func(process, line int) string {
			return fmt.Sprintf("2026-11-29T10:%02d:07.%03dZ [rank%d]:[0] ", line/1000, line%1000, process)
		},
		"srun -l": func(process, _ int) string { return fmt.Sprintf("%d: [0] ", process) },
		"a journal": func(process, line int) string {
			return fmt.Sprintf("Nov 29 10:00:%02d vm python[%d]: ", line%60, process)
		},
		"host made away": func(process, line int) string { return fmt.Sprintf("<host>:%d:%d [0] ", process, process+9) },
	} {
		log := headed(t, front)
		if !reflect.DeepEqual(hostless(log), hostless(whole)) {
			t.Errorf("%s: %+v\nwant %+v", name, hostless(log), hostless(whole))
		}
		if len(log.Notes) != 1 || !strings.Contains(log.Notes[0], "which ranks share a host is not known") || len(log.Comms[0].Hosts) > 0 {
			t.Errorf("%s: %q, hosts %v", name, log.Notes, log.Comms[0].Hosts)
		}
	}
	// With nothing at all in front, processes are one: ranks and communicators tell themselves apart.
	for _, front := range []string{"", "[0] "} {
		log := headed(t, func(int, int) string { return front })
		if len(log.Comms) != len(whole.Comms) || !reflect.DeepEqual(log.Comms[0].Rings, whole.Comms[0].Rings) ||
			len(log.Comms[0].Trees) != len(whole.Comms[0].Trees) || len(log.Comms[0].Connections) != len(whole.Comms[0].Connections) {
			t.Errorf("%q: %+v", front, log.Comms)
		}
	}
}

// TestHeadlessCommunicators: versions up to 2.17 say no id. A process's second communicator is another one; of lines that do not say the
// process, a rank's second.
func TestHeadlessCommunicators(t *testing.T) {
	const line = "NCCL INFO comm 0x%d rank %d nranks 2 cudaDev 0 busId 1000 - Init COMPLETE\n"
	text := fmt.Sprintf(line+line+line+line, 10, 0, 11, 1, 12, 0, 13, 1)
	log, err := Parse(File{"a", strings.NewReader(text)})
	if err != nil || len(log.Comms) != 2 {
		t.Fatalf("%+v, %v", log, err)
	}
}

// TestFronts: sentences about NCCL are none of its lines; without INIT, a communicator is known by its nodes.
func TestFronts(t *testing.T) {
	for text, want := range map[string]bool{
		"NCCL INFO Using network Socket":                                        true,
		"bootstrap.cc:48 NCCL WARN Bootstrap : no socket interface":             true,
		"NCCL WARN Duplicate GPU detected":                                      true,
		"set NCCL_DEBUG so that NCCL INFO lines appear":                         false,
		"every NCCL WARN is an error here":                                      false,
		"(Worker pid=7) [0] NCCL INFO NCCL_P2P_LEVEL set by environment to PXB": true,
	} {
		if _, ok := parted(text); ok != want {
			t.Errorf("%q: %v", text, ok)
		}
	}
	log, err := Parse(File{"a", strings.NewReader("NCCL INFO comm 0x… rank 0 nRanks 24 nNodes 3 localRanks 8 localRank 0 MNNVL 0\n" +
		"NCCL INFO Channel 00/0 : 17[1] -> 0[0] [receive] via NET/Socket/0\n")})
	if err != nil || len(log.Comms) != 1 || log.Comms[0].Nodes != 3 || len(log.Comms[0].Connections) != 1 {
		t.Errorf("%+v, %v", log, err)
	}
}
