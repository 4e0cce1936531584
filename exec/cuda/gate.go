//go:build cgo

package cuda

import (
	"sync/atomic"

	"railyard/exec/cuda/driver"
)

// gate holds streams until the host opens it.
type gate struct {
	n    *Node
	key  string
	want uint32
}

func (n *Node) newGate() (*gate, error) {
	key, err := n.kernels(source{file: "gate.cu"})
	n.gates++
	return &gate{n: n, key: key, want: n.gates}, err
}

// hold puts the gate on the GPU's stream.
func (t *gate) hold(g *gpu) error {
	k, err := g.modules[t.key].Kernel("gate")
	if err != nil {
		return err
	}
	p := [...]uint64{uint64(t.n.set.Host.At) + gateAt, uint64(t.want), uint64(t.n.Deadline.Nanoseconds())}
	return k.Launch(g.Stream, driver.Dim{Blocks: 1, Threads: 1}, driver.Bytes(&p))
}

// open lets all streams go on.
func (t *gate) open() { atomic.StoreUint32(t.n.set.Word(gateAt), t.want) }
