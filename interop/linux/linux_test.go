package linux

import (
	"math"
	"strings"
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/model/health"
)

// TestRead: each kind is told from the others and read; ulimit and meminfo as a virtual machine with an H200 wrote them.
func TestRead(t *testing.T) {
	kinds := []struct {
		is   func([]byte) bool
		read func(*health.State, string, []byte) error
	}{{IsLimits, ReadLimits}, {IsMemory, ReadMemory}, {IsModules, ReadModules}, {IsCommandLine, ReadCommandLine},
		{IsEnvironment, ReadEnvironment}, {IsDriver, ReadDriver}, {IsAffinity, ReadAffinity}}
	for i, c := range []struct {
		kind int
		text string
		fact string
		is   any
	}{
		{0, "core file size              (blocks, -c) 0\nmax locked memory           (kbytes, -l) 8192\n", "memlock", 8192.0 * 1024},
		{0, "Limit                     Soft Limit           Hard Limit           Units     \n" +
			"Max locked memory         unlimited            unlimited            bytes     \n", "memlock", float64(math.MaxInt64)},
		{1, "MemTotal:       131893836 kB\nHugePages_Total:       4\nHugePages_Free:        1\nHugepagesize:       2048 kB\n", "hugepages",
			8388608.0},
		{2, "Module                  Size  Used by\nnvidia_peermem         16384  0\n", "peermem", true},
		{2, "nvidia 56713216 100 nvidia_uvm, Live 0x0\n", "peermem", false},
		{3, "BOOT_IMAGE=/vmlinuz root=/dev/sda1 intel_iommu=on\n", "iommu", "on"},
		{3, "console=ttyS0 quiet panic=1 console=ttyS0 root=/dev/vda\n", "iommu", "off"},
		{5, "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04\n", "driver_open", true},
	} {
		for k, kind := range kinds {
			if kind.is([]byte(c.text)) != (k == c.kind) {
				t.Errorf("%d: kind %d", i, k)
			}
		}
		s := new(health.State)
		if err := kinds[c.kind].read(s, "f", []byte(c.text)); err != nil {
			t.Fatal(err)
		}
		if v, _ := s.Host().Fact(c.fact); v.Is != c.is {
			t.Errorf("%d: %v, want %v", i, v.Is, c.is)
		}
	}
}

// TestAffinity: the processors of each process, and a line where there are none.
func TestAffinity(t *testing.T) {
	s := new(health.State)
	text := "pid 4711's current affinity list: 0-15,64-79\npid 4712's current affinity list: 3\n"
	if err := ReadAffinity(s, "f", []byte(text)); !IsAffinity([]byte(text)) || err != nil {
		t.Fatal(err)
	}
	if got := s.Part(health.Process, "4711").Text("cpus") + " " + s.Part(health.Process, "4712").Text("cpus"); got != "0-15,64-79 3" {
		t.Error(got)
	}
	for _, wrong := range []string{"pid 1's current affinity list: 0-7,\n", "pid 1's current affinity list: 0-99999999\n", "taskset: failed\n"} {
		if err := ReadAffinity(s, "f", []byte(text+wrong)); err == nil || !strings.Contains(err.Error(), "line 3") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

// TestSecretsAreNotKept: of the environment only what says how GPUs communicate.
func TestSecretsAreNotKept(t *testing.T) {
	s := new(health.State)
	if err := ReadEnvironment(s, "f", []byte("TOKEN=secret\nNCCL_ALGO=Ring\nPATH=/bin\n")); err != nil {
		t.Fatal(err)
	}
	if list := s.Parts(health.Variable); len(list) != 1 || list[0].Text("value") != "Ring" {
		t.Errorf("%v", list)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("MemTotal: 5 kB\nmax locked memory (kbytes, -l) 5\nA=b\nnvidia 5 5\n"))
	f.Fuzz(func(_ *testing.T, data []byte) {
		for _, read := range []func(*health.State, string, []byte) error{ReadLimits, ReadMemory, ReadModules, ReadCommandLine,
			ReadEnvironment, ReadDriver, ReadAffinity} {
			_ = read(new(health.State), "f", data)
		}
	})
}
