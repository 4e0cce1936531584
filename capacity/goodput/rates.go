package goodput

// Llama 3's pre-training: causes of the 419 unexpected interruptions in 54 days on 16,384
// H100 (Grattafiori et al., "The Llama 3 Herd of Models", arXiv 2407.21783v3, table 5).
const (
	llamaDays = 54
	llamaGPUs = 16384
)

// part is what the interruptions of table 5 are counted by.
type part uint8

const (
	perGPU part = iota
	perNode
	perNIC
)

var llamaCauses = []struct {
	name  string
	count int
	per   part
}{
	{"GPU", 148, perGPU},
	{"GPU memory (HBM3)", 72, perGPU},
	{"software", 54, perNode},
	{"network switch or cable", 35, perNIC},
	{"host maintenance", 32, perNode},
	{"GPU SRAM", 19, perGPU},
	{"GPU system processor", 17, perGPU},
	{"NIC", 7, perNIC},
	{"NCCL watchdog", 7, perNode},
	{"silent data corruption", 6, perGPU},
	{"GPU thermal interface and sensor", 6, perGPU},
	{"SSD", 3, perNode},
	{"power supply", 3, perNode},
	{"chassis", 2, perNode},
	{"I/O expansion board", 2, perNode},
	{"dependency", 2, perNode},
	{"CPU", 2, perNode},
	{"system memory", 2, perNode},
}

// Cluster is what can fail.
type Cluster struct{ GPUs, Nodes, NICs int }

// LlamaRates are the causes of Llama 3's table 5 for a cluster, every one of which
// stops the job; a GPU's, node's or NIC's rate is that of that run (8 GPUs and 8 NICs a
// node there).
func LlamaRates(c Cluster) []Cause {
	parts := [...]int{perGPU: c.GPUs, perNode: c.Nodes, perNIC: c.NICs}
	there := [...]float64{perGPU: llamaGPUs, perNode: llamaGPUs / 8, perNIC: llamaGPUs}
	var out []Cause
	for _, l := range llamaCauses {
		out = append(out, Cause{Name: l.name, Parts: parts[l.per], PerDay: float64(l.count) / llamaDays / there[l.per]})
	}
	return out
}
