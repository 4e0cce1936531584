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

// slots are a card in a slot that is wired x8, one in a full slot that came up with half its lanes, and one whose port is not listed.
const slots = `40:01.1 PCI bridge: Advanced Micro Devices, Inc. [AMD] Starship/Matisse GPP Bridge
	Bus: primary=40, secondary=41, subordinate=41, sec-latency=0
		LnkCap:	Port #0, Speed 16GT/s, Width x8, ASPM L1, Exit Latency L1 <64us
		LnkSta:	Speed 16GT/s, Width x8
41:00.0 VGA compatible controller: NVIDIA Corporation GA102GL [RTX A6000]
		LnkCap:	Port #0, Speed 16GT/s, Width x16, ASPM L1, Exit Latency L1 <4us
		LnkSta:	Speed 16GT/s, Width x8 (downgraded)
80:03.1 PCI bridge: Advanced Micro Devices, Inc. [AMD] Starship/Matisse GPP Bridge
	Bus: primary=80, secondary=81, subordinate=81, sec-latency=0
		LnkCap:	Port #0, Speed 16GT/s, Width x16, ASPM L1, Exit Latency L1 <64us
81:00.0 VGA compatible controller: NVIDIA Corporation GA102GL [RTX A6000]
		LnkCap:	Port #0, Speed 16GT/s, Width x16, ASPM L1, Exit Latency L1 <4us
		LnkSta:	Speed 16GT/s, Width x8 (downgraded)
c1:00.0 Ethernet controller: Mellanox Technologies MT2892 Family [ConnectX-6 Dx]
		LnkCap:	Port #0, Speed 16GT/s, Width x16, ASPM not supported
`

// TestSlots: a device's slot is the port above it.
func TestSlots(t *testing.T) {
	s := new(health.State)
	if err := Read(s, "f", []byte(slots)); err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]float64{"0000:41:00.0": 8, "0000:81:00.0": 16, "0000:c1:00.0": 0, "0000:40:01.1": 0} {
		if got := s.Part(health.PCI, address).Number("pcie_width_slot"); got != want {
			t.Errorf("%s: slot of %v lanes, want %v", address, got, want)
		}
	}
	if v, _ := s.Part(health.PCI, "0000:41:00.0").Fact("pcie_gen_slot"); v.Is != 4.0 || v.From != "f:3" {
		t.Errorf("%+v", v)
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
	f.Add([]byte(slots))
	f.Fuzz(func(_ *testing.T, data []byte) { _ = Read(new(health.State), "f", data) })
}
