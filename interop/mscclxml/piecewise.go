package mscclxml

// slots is how many chunks a connection holds before its sender waits: NCCL's buffers have eight
// steps (NCCL_STEPS), of which a chunk takes four by Simple (MSCCL_CHUNKSTEPS) and one by LL and
// LL128 (src/include/msccl.h, src/collectives/device/msccl_interpreter.h).
func (f *File) slots() int {
	if f.Proto == "Simple" {
		return 2
	}
	return 8
}

// piecewise plays chunk by chunk with connections that hold few, as the executors do
// with large buffers.
func piecewise(f *File) error { return (&runner{f: f}).run() }

// piece receives a chunk or passes one on.
func (r *runner) piece(g int, tb *Block, pos *position, s *Step, k kind) bool {
	moved := false
	if k.recv && pos.recvd < s.Count && (!k.send || pos.recvd == pos.sent) {
		if q := r.queue(tb.Channel, tb.Recv, g); q.chunks > 0 {
			q.chunks--
			pos.recvd++
			moved = true
		}
	}
	if k.send && pos.sent < s.Count && (!k.recv || pos.sent < pos.recvd) {
		if q := r.queue(tb.Channel, g, tb.Send); q.chunks < r.f.slots() {
			q.chunks++
			pos.sent++
			moved = true
		}
	}
	if (!k.recv || pos.recvd == s.Count) && (!k.send || pos.sent == s.Count) {
		*pos = position{step: pos.step + 1}
		return true
	}
	return moved
}
