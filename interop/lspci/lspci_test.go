package lspci

import (
	"strings"
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/model/health"
)

// text is written after a ConnectX-7 and an A100 in other people's machines (open-mpi/hwloc#653 has the A100).
const text = `21:00.0 Ethernet controller: Mellanox Technologies MT2910 Family [ConnectX-7]
	NUMA node: 0
		LnkCap:	Port #0, Speed 32GT/s, Width x16, ASPM not supported
		LnkSta:	Speed 16GT/s (downgraded), Width x8 (downgraded)
		LnkCap2: Supported Link Speeds: 2.5-32GT/s, Crosslink- Retimer+ 2Retimers+ DRS-
		ACSCtl:	SrcValid- TransBlk- ReqRedir- CmpltRedir- UpstreamFwd- EgressCtrl- DirectTrans-

0001:da:00.0 3D controller: NVIDIA Corporation GA100 [A100 SXM4 40GB] [10de:20b0] (rev a1)
	NUMA node: 5
		LnkCap:	Port #0, Speed 16GT/s, Width x16, ASPM not supported
		LnkSta:	Speed 16GT/s (ok), Width x16 (ok)
15:01.0 PCI bridge: Broadcom / LSI PEX890xx PCIe Gen 5 Switch
		LnkSta:	Speed unknown, Width x0
		ACSCtl:	SrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-
`

func TestRead(t *testing.T) {
	s := new(health.State)
	if err := Read(s, "f", []byte(text)); err != nil || !Is([]byte(text)) {
		t.Fatal(err)
	}
	nic, gpu, bridge := s.Part(health.PCI, "0000:21:00.0"), s.Part(health.PCI, "0001:da:00.0"), s.Part(health.PCI, "0000:15:01.0")
	if nic.Number("pcie_width") != 8 || nic.Number("pcie_width_max") != 16 || nic.Number("pcie_gen") != 4 ||
		nic.Number("pcie_gen_max") != 5 ||
		nic.Yes("acs") || gpu.Number("numa") != 5 || gpu.Number("pcie_gen") != 4 || !bridge.Yes("acs") || !bridge.Yes("bridge") ||
		gpu.Yes("bridge") {
		t.Errorf("%v %v %v", nic.Facts(), gpu.Facts(), bridge.Facts())
	}
	if _, known := bridge.Fact("pcie_width"); known {
		t.Error("a link that is not trained has a width")
	}
}

func TestMistakes(t *testing.T) {
	for wrong, want := range map[string]string{
		"21:00.0 x\n\tNUMA node: here\n":                    "line 2: ",
		"21:00.0 x\n\tLnkSta: Speed 3GT/s, Width x16\n":     "line 2: ",
		"21:00.0 x\n\n\tLnkSta: Speed 8GT/s, Width x99\n":   "line 3: ",
		strings.Repeat("21:00.0 x\n", maxDevices+1) + "\tx": "line 16385: more than 16384 devices",
	} {
		if err := Read(new(health.State), "f", []byte(wrong)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.60q: %v", wrong, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(text))
	f.Fuzz(func(_ *testing.T, data []byte) { _ = Read(new(health.State), "f", data) })
}
