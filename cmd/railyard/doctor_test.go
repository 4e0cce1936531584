package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"railyard/internal/long"
	"railyard/report"
)

// collected is a healthy machine of eight H100 as its files say: nvidia-smi's text in the form that an H200 gave (driver 580.159.04,
// interop/nvidiasmi/testdata), its values after leptonai/gpud's dump of eight H100 (driver 535.161.08, components/accelerator/nvidia/
// query/testdata), topo -m after NVIDIA/nccl#1453, ibstat after imbue-ai/cluster-health#4.
func collected(t *testing.T) map[string]string {
	t.Helper()
	text := func(path string) string {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	head, gpu, _ := strings.Cut(text("../../interop/nvidiasmi/testdata/h200-580.txt"), "GPU 00000000:00:06.0\n")
	gpu = strings.NewReplacer("NVIDIA H200", "NVIDIA H100 80GB HBM3", "143771 MiB", "81559 MiB").Replace(gpu)
	smi, rates, errors, ib := strings.Replace(head, ": 1", ": 8", 1), "", "", ""
	for i, bus := range []string{"19", "3B", "4C", "5D", "9B", "BB", "CB", "DB"} {
		smi += "GPU 00000000:" + bus + ":00.0\n" + strings.ReplaceAll(gpu, "00:06.0", bus+":00.0")
		line := fmt.Sprintf("GPU %d: NVIDIA H100 80GB HBM3 (UUID: GPU-%d)\n", i, i)
		rates, errors = rates+line, errors+line
		for link := range 18 {
			rates += fmt.Sprintf("\t Link %d: 26.562 GB/s\n", link)
			errors += fmt.Sprintf("\t Link %d: Replay Errors: 0\n\t Link %d: Recovery Errors: 0\n\t Link %d: CRC Errors: 0\n",
				link, link, link)
		}
		ib += adapter(fmt.Sprintf("mlx5_%d", i), "MT4129", "Active", "LinkUp", 400, "InfiniBand")
	}
	ib += adapter("mlx5_8", "MT4125", "Down", "Disabled", 40, "Ethernet")
	access := "\x1b[4m \tGPU0\tGPU1\tGPU2\tGPU3\tGPU4\tGPU5\tGPU6\tGPU7\t\x1b[0m\n" // after stas00/ml-engineering, network/debug
	for i := range 8 {
		cells := slices.Repeat([]string{"OK"}, 8)
		cells[i] = "X"
		access += fmt.Sprintf(" GPU%d\t%s\n", i, strings.Join(cells, "\t"))
	}
	return map[string]string{"smi.txt": smi, "p2p.txt": access, "rates.txt": rates, "errors.txt": errors, "ibstat.txt": ib,
		"topo.txt": text("../../interop/smitopo/testdata/h100-8.txt"),
		"lspci.txt": "15:01.0 PCI bridge: Broadcom / LSI PEX890xx PCIe Gen 5 Switch (rev b0)\n" +
			"\tLnkCap: Port #1, Speed 32GT/s, Width x16, ASPM not supported\n\tLnkSta: Speed 32GT/s, Width x16\n" +
			"\tACSCtl: SrcValid- TransBlk- ReqRedir- CmpltRedir- UpstreamFwd- EgressCtrl- DirectTrans-\n\n" +
			"1a:00.0 Infiniband controller: Mellanox Technologies MT2910 Family [ConnectX-7]\n\tNUMA node: 0\n" +
			"\tLnkCap: Port #0, Speed 32GT/s, Width x16, ASPM not supported\n\tLnkSta: Speed 32GT/s, Width x16\n",
		"lsmod.txt":   "Module                  Size  Used by\nnvidia_peermem         16384  0\nnvidia              56713216  100\n",
		"ulimit.txt":  "max locked memory           (kbytes, -l) unlimited\nopen files                          (-n) 1048576\n",
		"env.txt":     "HOME=/root\nNCCL_DEBUG=WARN\n",
		"meminfo.txt": "MemTotal:       2113549312 kB\nHugePages_Total:       0\nHugePages_Free:        0\nHugepagesize:       2048 kB\n",
		"cmdline.txt": "BOOT_IMAGE=/vmlinuz root=/dev/nvme0n1p2 ro iommu=pt intel_iommu=on\n",
		"driver.txt":  "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.161.08\n"}
}

func adapter(name, kind, state, physical string, rate int, layer string) string {
	return fmt.Sprintf("CA '%s'\n\tCA type: %s\n\tNumber of ports: 1\n\tFirmware version: 28.39.2048\n\tPort 1:\n\t\tState: %s\n"+
		"\t\tPhysical state: %s\n\t\tRate: %d\n\t\tLink layer: %s\n", name, kind, state, physical, rate, layer)
}

// plantedText is a fault in what a file says.
type plantedText struct{ file, behind, old, new, rule, says string }

// in plants the fault.
func (p *plantedText) in(t *testing.T, files map[string]string) {
	t.Helper()
	at := max(strings.Index(files[p.file], p.behind), 0)
	before, after := files[p.file][:at], files[p.file][at:]
	where := regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(p.old), " : ", `\s+: `)).FindStringIndex(after)
	if where == nil {
		t.Fatalf("%s: %q is not in %s behind %q", p.rule, p.old, p.file, p.behind)
	}
	files[p.file] = before + after[:where[0]] + p.new + after[where[1]:]
}

// plantedTexts are faults in what the files say: the file, what comes before (a GPU, an adapter), what is replaced by what, and the
// rule that finds it.
var plantedTexts = []plantedText{
	{"p2p.txt", " GPU4\t", "OK\tOK", "CNS\tOK", "p2p-off", "GPU 4 reaches 6 of 7 other GPUs"},
	{"smi.txt", "GPU 00000000:BB:00.0", "Current : 16x", "Current : 8x", "pcie-width", "GPU 5 has 8 of 16 PCIe lanes"},
	{"smi.txt", "GPU 00000000:3B:00.0", "Max : 5", "Max : 4", "pcie-generation", "GPU 1 runs PCIe 4.0 at most"},
	{"smi.txt", "GPU 00000000:3B:00.0", "DRAM Uncorrectable : 0", "DRAM Uncorrectable : 3", "ecc-uncorrected", "GPU 1 has 3 memory errors"},
	{"smi.txt", "GPU 00000000:19:00.0", "Remapping Failure Occurred : No", "Remapping Failure Occurred : Yes", "rows-failed",
		"GPU 0 could not"},
	{"smi.txt", "Uncorrectable Error  ", "Pending : No", "Pending : Yes", "rows-pending", "GPU 0 has a row"},
	{"smi.txt", "GPU 00000000:4C:00.0", "HW Power Brake Slowdown : Not Active", "HW Power Brake Slowdown : Active",
		"throttle-brake", "GPU 2 is slowed by a power brake, at 345 MHz of 1980 MHz"},
	{"smi.txt", "GPU 00000000:4C:00.0", "SW Thermal Slowdown : Not Active", "SW Thermal Slowdown : Active", "throttle-thermal",
		"GPU 2 is slowed by heat"},
	{"smi.txt", "GPU 00000000:5D:00.0", "Current Power Limit : 700.00 W", "Current Power Limit : 450.00 W", "power-cap",
		"GPU 3 may draw 450 W of 700 W"},
	{"smi.txt", "GPU 00000000:5D:00.0", "Graphics : 1980 MHz", "Graphics : 1410 MHz", "clock-set", "GPU 3 is set to 1410 MHz"},
	{"smi.txt", "GPU 00000000:9B:00.0", "GPU Recovery Action : None", "GPU Recovery Action : Reset", "recovery",
		`GPU 4 wants the action "Reset"`},
	{"smi.txt", "GPU 00000000:9B:00.0", "Replays Since Reset : 0", "Replays Since Reset : 9000", "pcie-replays", "GPU 4 sent 9000"},
	{"rates.txt", "GPU 3:", "Link 17: 26.562 GB/s", "Link 17: <inactive>", "links-missing", "GPU 3 has 17 of 18 NVLinks"},
	{"rates.txt", "GPU 2:", "Link 7: 26.562 GB/s", "Link 7: 13.281 GB/s", "nvlink-slow", "GPU 2 link 7 runs at 13.3 GB/s"},
	{"errors.txt", "GPU 6:", "Link 4: Recovery Errors: 0", "Link 4: Recovery Errors: 2", "nvlink-recoveries",
		"GPU 6 link 4 was retrained 2 times"},
	{"errors.txt", "GPU 6:", "Link 4: Replay Errors: 0", "Link 4: Replay Errors: 70000", "nvlink-replays", "GPU 6 link 4 sent 70000"},
	{"ibstat.txt", "CA 'mlx5_3'", "State: Active", "State: Down", "nic-down", "mlx5_3 is down"},
	{"ibstat.txt", "CA 'mlx5_3'", "State: Active", "State: Initializing", "nic-unmanaged", "mlx5_3 has a link, but no address"},
	{"ibstat.txt", "CA 'mlx5_4'", "Physical state: LinkUp", "Physical state: Polling", "nic-training", "mlx5_4 does not come up"},
	{"ibstat.txt", "CA 'mlx5_5'", "Rate: 400", "Rate: 200", "nic-rate", "mlx5_5 runs at 200 of 400 Gb/s"},
	{"ibstat.txt", "CA 'mlx5_6'", "Firmware version: 28.39.2048", "Firmware version: 28.35.1012", "nic-firmware",
		"mlx5_6 has firmware 28.35.1012"},
	{"lspci.txt", "15:01.0", "SrcValid-", "SrcValid+", "acs", "0000:15:01.0 redirects peer-to-peer"},
	{"lspci.txt", "1a:00.0", "LnkSta: Speed 32GT/s, Width x16", "LnkSta: Speed 32GT/s (ok), Width x8 (downgraded)", "pci-width",
		"0000:1a:00.0 (Infiniband"},
	{"lsmod.txt", "", "nvidia_peermem", "nvidia_drm", "gpudirect", "this machine lets no adapter reach GPU memory"},
	{"ulimit.txt", "", "unlimited", "64", "memlock", "this machine lets processes lock 64 KiB"},
	{"cmdline.txt", "", "iommu=pt ", "", "iommu", "this machine translates addresses"},
	{"env.txt", "", "NCCL_DEBUG=WARN", "NCCL_P2P_DISABLE=1", "nccl-p2p-disable", "NCCL_P2P_DISABLE is 1"},
	{"env.txt", "", "NCCL_DEBUG=WARN", "NCCL_PROTO=LL", "nccl-proto", "NCCL_PROTO is LL"},
	{"env.txt", "", "NCCL_DEBUG=WARN", "NCCL_IB_DISABLE=1", "nccl-ib-disable", "NCCL_IB_DISABLE is 1"},
	{"meminfo.txt", "", "HugePages_Total:       0\nHugePages_Free:        0", "HugePages_Total: 500000\nHugePages_Free: 500000",
		"hugepages", "this machine sets 977 GiB aside"},
}

// examine runs doctor on files as a bundle.
func examine(t *testing.T, files map[string]string) *report.DoctorDocument {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var e evidence
	if err := e.bundle(dir); err != nil {
		t.Fatal(err)
	}
	if len(e.read) != len(files) {
		t.Errorf("%d of %d files were read: %v", len(e.read), len(files), e.state.Notes)
	}
	d, err := e.diagnose("dgx-h100", "")
	if err != nil {
		t.Fatal(err)
	}
	return doctorDocument(d, &e)
}

// TestFaultsInFiles: nothing is found in what a healthy machine says, and each fault that is planted there is found by its rule.
func TestFaultsInFiles(t *testing.T) {
	if d := examine(t, collected(t)); len(d.Findings) > 0 || !d.Healthy {
		t.Fatalf("healthy: %+v %v", d.Findings, d.Notes)
	}
	for i, p := range plantedTexts {
		if !long.Given() && i%3 != 0 {
			continue
		}
		files := collected(t)
		p.in(t, files)
		d := examine(t, files)
		if len(d.Findings) != 1 || d.Findings[0].Rule != p.rule || !strings.HasPrefix(d.Findings[0].Part+" "+d.Findings[0].Says, p.says) {
			t.Errorf("%s: %+v %v", p.rule, d.Findings, d.Notes)
		}
	}
}

// TestAdapterTaken: NCCL's log says over which adapter a GPU sends, by its number or its PCI address; that another is nearer is found, but
// not where another GPU does it for this one (PXN), of messages, or where the near one's port is down.
func TestAdapterTaken(t *testing.T) {
	log := func(gpu, via string) string {
		return "a:1:2 [5] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [2]mlx5_3:1/IB [RO]; OOB eth0:10.0.0.1<0>\n" +
			"a:1:2 [5] NCCL INFO ncclCommInitRank comm 0x1 rank 5 nranks 16 cudaDev 5 nvmlDev 5 busId bb000 commId 0x9 - Init START\n" +
			"a:1:2 [5] NCCL INFO Channel 00/" + gpu + " [send] via NET/IB/" + via + "\n"
	}
	for _, x := range []struct{ gpu, via, rule, says, do string }{
		{"0 : 5[5] -> 13[5]", "0", "nic-other", "sends over mlx5_0, which is on another socket: host-staged, 37 of 43 GB/s; mlx5_3 is",
			"let NCCL see that mlx5_3 is nearer"},
		{"0 : 5[bb000] -> 13[bb000]", "1/GDRDMA", "nic-detour", "sends over mlx5_1, which is across its CPU; mlx5_3 is on its PCIe switch",
			"let NCCL see"},
		{"0 : 5[5] -> 13[5]", "2/GDRDMA", "", "", ""},
		{"0 : 5[5] -> 13[5]", "0(4)/GDRDMA", "", "", ""},
		{"1 : 5[5] -> 13[5]", "0/GDRDMA/Shared", "", "", ""},
	} {
		files := collected(t)
		files["nccl.log"] = log(x.gpu, x.via)
		d := examine(t, files)
		i := slices.IndexFunc(d.Findings, func(f report.DoctorFinding) bool { return strings.HasPrefix(f.Rule, "nic-") })
		if x.rule == "" && i >= 0 || x.rule != "" && (i < 0 || d.Findings[i].Rule != x.rule || d.Findings[i].Part != "GPU 5" ||
			!strings.HasPrefix(d.Findings[i].Says, x.says) || !strings.HasPrefix(d.Findings[i].Do, x.do)) {
			t.Errorf("%s over %s: %+v", x.gpu, x.via, d.Findings)
		}
	}
	files := collected(t)
	files["nccl.log"] = log("0 : 5[5] -> 13[5]", "1/GDRDMA")
	files["ibstat.txt"] = strings.Replace(files["ibstat.txt"], "CA 'mlx5_3'", "CA 'mlx5_9'", 1)
	files["ibstat.txt"] += adapter("mlx5_3", "MT4129", "Down", "Disabled", 400, "InfiniBand")
	for _, f := range examine(t, files).Findings {
		if f.Rule == "nic-detour" {
			t.Errorf("the near adapter's port is down: %+v", f)
		}
	}
}

// TestPackedFiles: files that gzip has packed say the same.
func TestPackedFiles(t *testing.T) {
	files, packed := collected(t), map[string]string{}
	trace, err := os.ReadFile("../../interop/kineto/testdata/rank0.json")
	if err != nil {
		t.Fatal(err)
	}
	files["rank0.pt.trace.json"] = string(trace)
	for name, text := range files {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write([]byte(text)); err != nil || z.Close() != nil {
			t.Fatal(err)
		}
		packed[name] = b.String()
	}
	want, got := examine(t, files), examine(t, packed)
	if len(want.Series) == 0 || !reflect.DeepEqual(want.Series, got.Series) || want.Judged != got.Judged {
		t.Errorf("%d rules and %v unpacked, %d and %v packed", want.Judged, want.Series, got.Judged, got.Series)
	}
}

// TestVariablesThatDiffer between hosts are named, but for the one that tells hosts apart.
func TestVariablesThatDiffer(t *testing.T) {
	files := collected(t)
	for host, value := range map[string]string{"a": "1", "b": "2"} {
		for _, name := range []string{"NCCL_HOSTID", "NCCL_NTHREADS"} {
			files["nccl.log"] += fmt.Sprintf("%s:1:2 [0] NCCL INFO %s set by environment to %s.\n", host, name, value)
		}
	}
	notes := strings.Join(examine(t, files).Notes, "\n")
	if !strings.Contains(notes, "processes differ in NCCL_NTHREADS") || strings.Contains(notes, "NCCL_HOSTID") {
		t.Error(notes)
	}
}

// TestDocumentedDiagnosis: docs/service.md shows what doctor says of such files with three faults.
func TestDocumentedDiagnosis(t *testing.T) {
	files, dir := collected(t), t.TempDir()
	for _, p := range []plantedText{
		{file: "smi.txt", behind: "GPU 00000000:3B:00.0", old: "DRAM Uncorrectable : 0", new: "DRAM Uncorrectable : 2"},
		{file: "rates.txt", behind: "GPU 3:", old: "Link 17: 26.562 GB/s", new: "Link 17: <inactive>"},
		{file: "env.txt", old: "NCCL_DEBUG=WARN", new: "NCCL_NVLS_ENABLE=0"},
	} {
		p.in(t, files)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile("../../docs/service.md")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd := newRoot()
	cmd.SetArgs([]string{"doctor", dir, "-t", "dgx-h100"})
	cmd.SetOut(&out)
	if err := cmd.Execute(); err == nil {
		t.Error("no fault was found")
	}
	said, _, _ := strings.Cut(out.String(), "\n\n")
	if !strings.HasPrefix(said, "3 things are wrong") || !strings.Contains(string(page), "```text\n"+said+"\n```") {
		t.Errorf("docs/service.md does not show\n%s", said)
	}
}

// TestTwoMachines: a bundle with files of two machines says so; one of a single machine does not.
func TestTwoMachines(t *testing.T) {
	for _, x := range []struct{ file, old, new, says string }{
		{"rates.txt", "", "", ""},
		{"errors.txt", "UUID: GPU-3", "UUID: GPU-9", "are of two machines, by the uuid of their GPUs"},
		{"smi.txt", "GPU 00000000:4C:00.0", "GPU 00000000:4D:00.0",
			"GPU 2 is at 0000:4d:00.0, where the list of PCI devices has other GPUs"},
	} {
		files := collected(t)
		for _, bus := range []string{"19", "3b", "4c", "5d", "9b", "bb", "cb", "db"} {
			files["lspci.txt"] += "\n" + bus + ":00.0 3D controller: NVIDIA Corporation GH100 [H100 SXM5 80GB] (rev a1)\n"
		}
		files[x.file] = strings.Replace(files[x.file], x.old, x.new, 1)
		notes := strings.Join(examine(t, files).Notes, "\n")
		if strings.Contains(notes, "two machines") != (x.says != "") || !strings.Contains(notes, x.says) {
			t.Errorf("%s: %q, want %q", x.file, notes, x.says)
		}
	}
}

// machines are dumps of real machines, with what is wrong with each: our own of four H200, of two, of one and of two H100 (virtual
// machines; NCCL's topology file, discover, nvidia-smi -q, a whole bundle), and of a host without GPUs; of others what their owners published (READMEs of testdata
// name them).
var machines = []struct {
	name, topology string
	files          []string
	judged         int      // rules at least
	rules          []string // that find something
}{
	{"four H200", "hgx-h200-4", []string{"../../interop/nccltopo/testdata/h200-4-virtual.xml",
		"../../docs/measured/h200-4/discovered.yaml"}, 5, nil},
	{"one H200", "", []string{"../../interop/nvidiasmi/testdata/h200-580.xml", "../../docs/measured/h200-1/access.csv"}, 18, nil},
	{"two H100 of a virtual machine", "", []string{"../../interop/nvidiasmi/testdata/h100-2-580.xml",
		"../../interop/nccltopo/testdata/h100-2-virtual.xml", "../../interop/smitopo/testdata/h100-2.txt"}, 22, nil},
	{"two H100 where eight should be", "dgx-h100", []string{"../../interop/nvidiasmi/testdata/h100-2-580.xml"}, 22,
		[]string{"gpus-missing"}},
	{"one H200 where four should be", "hgx-h200-4", []string{"../../interop/nvidiasmi/testdata/h200-580.txt"}, 19,
		[]string{"gpus-missing"}},
	{"two H200, whose job turns NVLS off", "", []string{"testdata/h200-2"}, 44, []string{"nccl-nvls"}},
	{"two H200, measured", "dgx-h200", []string{"../../docs/measured/h200-2/links.csv", "../../docs/measured/h200-2/access.csv"}, 1, nil},
	{"a DGX A100", "dgx-a100", []string{"../../interop/nccltopo/testdata/dgx-a100.xml"}, 3, nil},
	{"a DGX A100 taken for a DGX H100", "dgx-h100", []string{"../../interop/nccltopo/testdata/dgx-a100.xml"}, 3,
		[]string{"links-missing"}},
	{"eight H100 of a virtual machine", "dgx-h100", []string{"../../interop/nccltopo/testdata/h100-8-virtual.xml",
		"../../interop/smitopo/testdata/h100-8.txt"}, 3, nil},
	{"a DGX-1", "dgx1-v100", []string{"../../interop/nccltopo/testdata/dgx1-v100.xml", "../../interop/smitopo/testdata/dgx1-v100.txt"}, 3,
		nil},
	{"a DGX-2", "dgx2", []string{"../../interop/smitopo/testdata/dgx2.txt"}, 2, nil},
	{"eight MI300X", "mi300x-node", []string{"../../interop/amdsmi/testdata/mi300x-8.txt"}, 2, nil},
	{"eight MI300X, one at work", "mi300x-node", []string{"../../interop/amdsmi/testdata/metric-mi300x.txt",
		"../../interop/amdsmi/testdata/mi300x-8.txt"}, 6, nil},
	{"an MI300A where eight MI300X should be", "mi300x-node", []string{"../../interop/amdsmi/testdata/static-mi300a.txt"}, 1,
		[]string{"gpus-missing"}},
	{"two RX 7900 XTX of eight GPUs", "mi300x-node", []string{"../../interop/amdsmi/testdata/rx7900-2.txt"}, 2,
		[]string{"gpus-missing", "p2p-off"}},
	{"a host without GPUs", "", []string{"testdata/cpu-host/ulimit.txt", "testdata/cpu-host/meminfo.txt"}, 2, nil},
}

// TestRealMachines: what is found in dumps of real machines is what is wrong with them, and nothing else.
func TestRealMachines(t *testing.T) {
	for _, m := range machines {
		var e evidence
		for _, file := range m.files {
			take := e.take
			if info, err := os.Stat(file); err == nil && info.IsDir() {
				take = e.bundle
			}
			if err := take(file); err != nil {
				t.Fatal(err)
			}
		}
		d, err := e.diagnose(m.topology, "")
		if err != nil {
			t.Fatal(err)
		}
		doc := doctorDocument(d, &e)
		var found []string
		for _, f := range doc.Findings {
			found = append(found, f.Rule)
		}
		if !slices.Equal(found, m.rules) || doc.Judged < m.judged || doc.Healthy != (m.rules == nil) {
			t.Errorf("%s: %q, want %q; healthy %v, %d rules judged, %q", m.name, found, m.rules, doc.Healthy, doc.Judged, doc.Notes)
		}
	}
}

// FuzzEvidence: whatever a file holds, it is read, named as unknown, or refused in one line.
func FuzzEvidence(f *testing.F) {
	for _, text := range []string{"GPU 0: x\n Link 0: 25 GB/s\n", "CA 'mlx5_0'\n State: Active\n",
		"00:00.0 x\n\tLnkSta: Speed 8GT/s, Width x8\n",
		"A=b\nNCCL_DEBUG=x\n", "NCCL_MAX_CTAS=x\n", "MemTotal: 5 kB\n", "<nvidia_smi_log><gpu id=\"0:0:0.0\"></gpu></nvidia_smi_log>",
		"\tGPU0\tCPU Affinity\nGPU0\t X \n",
		"==============NVSMI LOG==============\nGPU 00000000:00:06.0\n    FB Memory Usage\n        Total : 5 MiB\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var e evidence
		err := e.takeText("f", data)
		if err != nil && bytes.ContainsRune([]byte(err.Error()), '\n') {
			t.Errorf("several lines: %q", err)
		}
		if err == nil {
			if _, err := e.diagnose("", ""); err != nil {
				t.Errorf("%v", err)
			}
		}
	})
}
