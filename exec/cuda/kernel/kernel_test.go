package kernel

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"railyard/internal/long"
	"railyard/model/block"
	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/planner"
	"railyard/topologies"
)

// raced is the simulator under ThreadSanitizer, compiled once for all tests.
var raced = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "simulate")
	return filepath.Join(dir, "simulate"), err
})

// taken reports whether a case is among those of the default tier, every eighth; the long tier takes all.
func taken(number int) bool { return long.Every(8, number) }

func TestMain(m *testing.M) {
	code := m.Run()
	if bin, err := raced(); err == nil {
		os.RemoveAll(filepath.Dir(bin))
	}
	os.Exit(code)
}

// racing compiles it where that has not been done.
func racing(t *testing.T) string {
	t.Helper()
	bin, err := raced()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(bin); err == nil {
		return bin
	}
	return simulator(t, bin, "-fsanitize=thread", "-DT_FLOAT32")
}

// simulator compiles the kernels' bodies for the CPU.
func simulator(t *testing.T, bin string, flags ...string) string {
	t.Helper()
	gxx, err := exec.LookPath("g++")
	if err != nil {
		t.Skip("no g++: the kernels' bodies are not run here")
	}
	dir := t.TempDir() // what is embedded, so that a test's result is not one of older sources
	if err := os.CopyFS(dir, files); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-std=c++20", "-O1", "-g", "-Wall", "-Wno-unknown-pragmas", "-pthread", "-o", bin,
		filepath.Join(dir, "src", "simulate.cc")}, flags...)
	if out, err := exec.Command(gxx, args...).CombinedOutput(); err != nil || len(out) > 0 {
		if strings.Contains(string(out), "tsan") {
			t.Skip("g++ without ThreadSanitizer")
		}
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// head is simulate.cc's Job.
type head struct {
	Ranks, Lanes, Instances, Threads, Epochs, JitterNS uint32
	FirstEpoch, DeadlineNS, PacketHalf                 uint64
	Bytes                                              [6]uint64
	Shared, InputShift, OutputShift                    uint64
	PacketFill, LaneBytes, Ones                        uint64
}

type run struct {
	s          *schedule.Schedule
	o          block.Options
	p          *block.Program
	epochs     int
	firstEpoch uint64
	jitter     uint32
	deadline   uint64
	ones       bool           // rank 0's first element is not a number
	forms      []*block.Forms // what interpreters know, by rank, with as many references; nil: nothing
}

// threads of a block: a few, or for lines two warps of the simulator's.
func (x run) threads() uint32 {
	if x.o.Mechanism >= block.Lines {
		return 32
	}
	if x.s.Spec.Ranks > 4 {
		return 8 // a thread a peer raises and awaits flags
	}
	return 4
}

// patience is how long a wait lasts, in ns, longer than a busy machine lets threads stand: a kernel whose wait
// gives up runs on, and what ThreadSanitizer then calls a race hides that.
const patience = 300e9

// head says what the simulator is to run, but for the plans' size.
func (x run) head() head {
	layout := schedule.NewLayout(x.s, x.o.Count, 1)
	h := head{Ranks: uint32(x.s.Spec.Ranks), Lanes: uint32(len(x.p.Lanes[0])), Instances: uint32(x.p.Instances), Threads: x.threads(),
		Epochs:   uint32(x.epochs),
		JitterNS: x.jitter, FirstEpoch: x.firstEpoch, DeadlineNS: x.deadline, PacketHalf: uint64(x.p.PacketHalf)}
	if h.DeadlineNS == 0 {
		h.DeadlineNS = patience
	}
	for _, b := range []schedule.Buffer{schedule.Input, schedule.Output} {
		for r := range x.s.Spec.Ranks {
			h.Bytes[b] = max(h.Bytes[b], uint64(layout.Elements(r, b))*uint64(x.o.Size))
		}
	}
	h.Bytes[schedule.Scratch], h.Bytes[block.PacketBuffer], h.Bytes[block.ControlBuffer] = uint64(x.p.Scratch), uint64(2*x.p.PacketHalf),
		uint64(x.p.ControlBytes())
	if x.o.InPlace {
		h.Shared, h.Bytes[5] = 1, max(h.Bytes[0], h.Bytes[1])
		_, n := layout.Block(0, schedule.Output, 0)
		switch x.s.Spec.Kind {
		case collective.AllGather:
			h.InputShift = uint64(n) * uint64(x.o.Size)
		case collective.ReduceScatter:
			h.OutputShift = uint64(n) * uint64(x.o.Size)
		}
	}
	h.PacketFill = uint64(x.o.Mechanism.Empty())
	if x.ones {
		h.Ones = 1
	}
	return h
}

// input is what the simulator reads of it, and the bytes of a rank's output.
func (x run) input() (in bytes.Buffer, output int) {
	n := x.s.Spec.Ranks
	h := x.head()
	if x.forms == nil {
		x.forms = slices.Repeat([]*block.Forms{{Refs: 24}}, n)
	}
	encoding := block.Encoding{Forms: x.forms[0], Instances: x.p.Instances}
	laneBytes := encoding.LaneBytes(slices.Concat(x.p.Lanes...)...)
	h.LaneBytes = uint64(laneBytes)
	binary.Write(&in, binary.LittleEndian, h)
	for r := range n {
		encoding.Forms = x.forms[r]
		plan := encoding.Encode(r, x.p.Lanes[r], laneBytes)
		binary.Write(&in, binary.LittleEndian, uint32(len(plan)))
		in.Write(plan)
	}
	return in, int(h.Bytes[schedule.Output])
}

// execute runs programs in one process, for ThreadSanitizer's fibers take longer to make than most programs to run, and returns their
// outputs, [program][epoch][rank]: of all before the first that fails.
func execute(t *testing.T, bin string, runs ...run) (out [][][][]byte, failed error) {
	t.Helper()
	var in bytes.Buffer
	sizes := make([]int, len(runs))
	for i, x := range runs {
		one, size := x.input()
		in.Write(one.Bytes())
		sizes[i] = size
	}
	file := filepath.Join(t.TempDir(), "plan")
	if err := os.WriteFile(file, in.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(bin, file)
	cmd.Env = append(os.Environ(), "TSAN_OPTIONS=halt_on_error=1 exitcode=66")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		failed = fmt.Errorf("%w: %.3000s", err, stderr.String())
	}
	for i, x := range runs {
		if failed != nil && stdout.Len() < x.epochs*x.s.Spec.Ranks*sizes[i] {
			break
		}
		outputs := make([][][]byte, x.epochs)
		for e := range outputs {
			for range x.s.Spec.Ranks {
				outputs[e] = append(outputs[e], stdout.Next(sizes[i]))
			}
		}
		out = append(out, outputs)
	}
	return out, failed
}

// series are programs that one process of the simulator runs.
type series struct {
	bin   string
	names []string
	runs  []run
}

func (c *series) add(name string, x run) { c.names, c.runs = append(c.names, name), append(c.runs, x) }

// verify runs them and compares the outputs of each with their definition.
func (c *series) verify(t *testing.T) {
	t.Helper()
	out, err := execute(t, c.bin, c.runs...)
	if err != nil && len(out) == len(c.runs) {
		t.Error(err)
	}
	for i, x := range c.runs {
		t.Run(c.names[i], func(t *testing.T) {
			switch {
			case i < len(out):
				x.verify(t, out[i])
			case i == len(out):
				t.Fatal(err)
			default:
				t.Skip("another failed before")
			}
		})
	}
}

func mix32(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x7feb352d
	x ^= x >> 15
	x *= 0x846ca68b
	return x ^ x>>16
}

// value is simulate.cc's: what a rank's input holds at a place.
func value(rank, epoch, i int) float64 {
	return float64(mix32(uint32(rank)*0x9e3779b9^mix32(uint32(epoch)*0x85ebca6b^uint32(i))) % 5)
}

// verify compares outputs with their definition.
func (x run) verify(t *testing.T, out [][][]byte) {
	t.Helper()
	spec := x.s.Spec
	layout := schedule.NewLayout(x.s, x.o.Count, 1)
	for e := range out {
		for rank := range out[e] {
			for b := range spec.Blocks() {
				if !spec.Wants(rank, b) {
					continue
				}
				off, n := layout.Block(rank, schedule.Output, b)
				for i := range n {
					var want float64
					for r := range spec.Ranks {
						src, sb := r, b
						if !spec.Kind.Reduces() {
							src, sb = spec.Origin(rank, b)
						}
						at, _ := layout.Block(src, schedule.Input, sb)
						v := value(src, e, int(at+i))
						if want += v; !spec.Kind.Reduces() {
							want = v
							break
						}
					}
					if x.o.Op == collective.Avg {
						want /= float64(spec.Ranks)
					}
					got := decode(out[e][rank][(off+i)*int64(x.o.Size):], x.o.Size)
					if !(math.Abs(got-want) <= want/128) { // what was never written is not a number
						t.Fatalf("epoch %d rank %d block %d element %d: %v instead of %v", e, rank, b, i, got, want)
					}
				}
			}
		}
	}
}

func decode(b []byte, size int) float64 {
	if size == 2 {
		return float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16))
	}
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
}

func plan(t *testing.T, gpus int, kind collective.Kind, algo string, slices int) *schedule.Schedule {
	t.Helper()
	topo, err := topology.Load(topologies.Source, "hgx-h200-4", topology.Options{GPUs: gpus})
	if err != nil {
		t.Fatal(err)
	}
	spec := collective.Spec{Kind: kind, Ranks: gpus}
	if kind.Rooted() {
		spec.Root = gpus - 1
	}
	s, err := planner.Build(topo, spec, algo, planner.Options{Slices: slices})
	if err != nil {
		if planner.NotApplicable(err) {
			return nil
		}
		t.Fatal(err)
	}
	return s
}

var cases = []struct {
	kind   collective.Kind
	algo   string
	gpus   int
	slices int
}{
	{collective.AllReduce, "direct", 4, 1}, {collective.AllReduce, "direct", 2, 1},
	{collective.AllReduce, "two_shot", 4, 1}, {collective.AllReduce, "two_shot", 3, 2},
	{collective.AllReduce, "ring", 3, 1}, {collective.AllReduce, "ring", 4, 2},
	{collective.AllReduce, "knomial", 4, 3}, {collective.AllReduce, "double_binary_tree", 3, 2},
	{collective.AllReduce, "halving_doubling", 4, 1}, {collective.AllReduce, "doubling", 4, 1},
	{collective.AllReduce, "quadrinomial", 4, 2},
	{collective.AllGather, "direct", 4, 1}, {collective.AllGather, "bruck", 3, 1}, {collective.AllGather, "ring", 4, 1},
	{collective.ReduceScatter, "direct", 4, 1}, {collective.ReduceScatter, "ring", 3, 2},
	{collective.ReduceScatter, "halving_doubling", 4, 1},
	{collective.AllToAll, "direct", 4, 1}, {collective.AllToAll, "bruck", 3, 1},
	{collective.Broadcast, "direct", 3, 1}, {collective.Broadcast, "ring", 3, 4},
	{collective.Broadcast, "scatter_exchange", 4, 1}, {collective.Broadcast, "scatter_exchange", 3, 2},
	{collective.Broadcast, "scatter_exchange", 4, 3},
	{collective.Broadcast, "knomial", 4, 2}, {collective.Reduce, "knomial", 4, 2}, {collective.Reduce, "direct", 3, 1},
	{collective.Gather, "direct", 3, 1}, {collective.Scatter, "knomial", 4, 1}, {collective.SendRecv, "direct", 3, 1},
	{collective.Barrier, "direct", 3, 1},
}

// TestBodiesOnTheCPU runs schedules through the kernels' own code, a fiber for each GPU
// thread, under ThreadSanitizer: odd sizes, more blocks than one, launches that overlap
// between ranks, random delays.
func TestBodiesOnTheCPU(t *testing.T) {
	all := series{bin: racing(t)}
	for i, c := range cases {
		s := plan(t, c.gpus, c.kind, c.algo, c.slices)
		if s == nil {
			t.Errorf("%s does not make %v here: not a case", c.algo, c.kind)
			continue
		}
		for m := block.Pull; m <= block.WordsPush; m++ {
			if m.InWords() && c.kind != collective.AllReduce && c.kind != collective.ReduceScatter {
				continue // refused
			}
			if m >= block.Lines && (c.gpus > 3 || c.algo == "double_binary_tree" || c.kind == collective.Barrier) {
				continue // eight times the threads
			}
			if c.kind != collective.AllReduce && m != block.Pull && (i+int(m))%2 == 0 {
				continue // of the others, one more: by turns
			}
			if !taken(i + int(m)) {
				continue
			}
			for _, inPlace := range []bool{false, true} {
				if inPlace && (i+int(m))%2 == 0 && c.kind != collective.AllGather || inPlace && c.kind != collective.AllReduce &&
					c.kind != collective.AllGather && c.kind != collective.ReduceScatter {
					continue
				}
				name := fmt.Sprintf("%v %s %d gpus %v in place %v", c.kind, c.algo, c.gpus, m, inPlace)
				blocks := int64(s.Spec.Blocks())
				o := block.Options{Count: int64(16*c.gpus+7*(1+i%3)) / blocks * blocks, Size: 4, Instances: 1 + i%2, Mechanism: m,
					InPlace: inPlace}
				if m >= block.Lines {
					o.Count = int64(260*c.gpus+7*i) / blocks * blocks
				}
				p, err := block.Compile(s, o)
				if err != nil {
					if !inPlace || !strings.Contains(err.Error(), "in place") {
						t.Errorf("%s: %v", name, err)
					}
					continue
				}
				all.add(name, run{s: s, o: o, p: p, epochs: 3, firstEpoch: 1, jitter: uint32(i%2) * 20000})
			}
		}
	}
	all.verify(t)
}

func TestLimits(t *testing.T) {
	bin := simulator(t, filepath.Join(t.TempDir(), "simulate"), "-O0", "-DT_BFLOAT16", "-DSPECIALISED") // references are not resolved ahead
	t.Run("launch numbers wrap", func(t *testing.T) { launchNumbersWrap(t, bin) })
	t.Run("words that are all ones arrive", func(t *testing.T) { onesArrive(t, bin) })
	t.Run("deadline names who waits", func(t *testing.T) { deadlineNamesWhoWaits(t, bin) })
}

// launchNumbersWrap: packets' flags hold the low bits of a launch's number.
func launchNumbersWrap(t *testing.T, bin string) {
	all := series{bin: bin}
	for _, c := range []struct {
		algo  string
		m     block.Mechanism
		first uint64
	}{{"direct", block.Packets, 1<<31 - 2}, {"direct", block.Lines, 1<<31 - 2}, {"direct", block.Words, 1<<31 - 2},
		{"two_shot", block.WordsPush, 1<<31 - 2}, {"two_shot", block.Packets, 1<<32 - 2}, {"two_shot", block.Push, 1<<40 - 2},
		{"ring", block.Pull, 1<<43 - 2}} {
		s := plan(t, 4, collective.AllReduce, c.algo, 1)
		o := block.Options{Count: 101, Size: 2, Op: collective.Avg, Instances: 2, Mechanism: c.m}
		p, err := block.Compile(s, o)
		if err != nil {
			t.Fatal(err)
		}
		all.add(fmt.Sprintf("%s %v from launch %d on", c.algo, c.m, c.first), run{s: s, o: o, p: p, epochs: 5, firstEpoch: c.first})
	}
	all.verify(t)
}

// onesArrive: what words hold where nothing has arrived may be data as well.
func onesArrive(t *testing.T, bin string) {
	for _, c := range []struct {
		algo string
		m    block.Mechanism
	}{{"direct", block.Words}, {"two_shot", block.Words}, {"two_shot", block.WordsPush}} {
		o := block.Options{Count: 101, Size: 2, Instances: 2, Mechanism: c.m}
		s := plan(t, 3, collective.AllReduce, c.algo, 1)
		p, err := block.Compile(s, o)
		if err != nil {
			t.Fatal(err)
		}
		x := run{s: s, o: o, p: p, epochs: 4, firstEpoch: 1, ones: true}
		out, err := execute(t, bin, x)
		if err != nil {
			t.Fatal(err)
		}
		for e := range out[0] {
			for rank := range out[0][e] {
				if got := decode(out[0][e][rank], o.Size); !math.IsNaN(got) {
					t.Errorf("%s %v: epoch %d, rank %d: %v", c.algo, c.m, e, rank, got)
				}
			}
		}
	}
}

// deadlineNamesWhoWaits: a rank never signals; all blocks end and the report says where.
func deadlineNamesWhoWaits(t *testing.T, bin string) {
	s := plan(t, 3, collective.AllReduce, "two_shot", 1)
	o := block.Options{Count: 300, Size: 2, Instances: 2, Mechanism: block.Push}
	p, err := block.Compile(s, o)
	if err != nil {
		t.Fatal(err)
	}
	p.Lanes[1][0].Body = slices.DeleteFunc(p.Lanes[1][0].Body, func(op block.Op) bool { return op.Kind == block.Signal })
	x := run{s: s, o: o, p: p, epochs: 2, firstEpoch: 1, deadline: 100e6}
	_, err = execute(t, bin, x)
	// Any of the three may be first to give up: two wait for rank 1, it for their next step.
	who := regexp.MustCompile(`deadline: rank \d block \d operation \d slice 0 peer \d kind 2 line 0 want \d+ got \d+`)
	if err == nil || !who.MatchString(err.Error()) {
		t.Errorf("%v", err)
	}
}
