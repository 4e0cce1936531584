//go:build cgo

package driver

// #include "shim.h"
import "C"

// CaptureAll records what work puts on several streams, a graph for each: for libraries
// that serve several GPUs from one thread. No graph is made before every recording has
// ended, since making one is not allowed meanwhile.
func CaptureAll(streams []Stream, work func() error) ([]Graph, error) {
	const threadLocal = 1
	var err error
	begun := 0
	for _, s := range streams {
		if err = fail("cuStreamBeginCapture", C.rl_cuStreamBeginCapture(s.s, threadLocal)); err != nil {
			break
		}
		begun++
	}
	if err == nil {
		err = work()
	}
	raw := make([]C.handle, begun)
	for i := range raw {
		if end := fail("cuStreamEndCapture", C.rl_cuStreamEndCapture(streams[i].s, &raw[i])); err == nil {
			err = end
		}
	}
	graphs := make([]Graph, 0, begun)
	for i, r := range raw {
		if r == nil {
			continue
		}
		var g Graph
		if err == nil {
			if err = fail("cuGraphInstantiate", C.rl_cuGraphInstantiate(&g.x, r, 0)); err == nil {
				graphs = append(graphs, g)
				err = fail("cuGraphUpload", C.rl_cuGraphUpload(g.x, streams[i].s))
			}
		}
		C.rl_cuGraphDestroy(r)
	}
	return graphs, err
}
