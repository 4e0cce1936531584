package cluster

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestMain is the tests, or, told so by its environment, one rank of a run that a test has started.
func TestMain(m *testing.M) {
	if os.Getenv("RAILYARD_TEST_RANK") == "" {
		os.Exit(m.Run())
	}
	if err := rankMain(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// rankMain joins, says so, works until it is told to end, and leaves.
func rankMain() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	w, err := Detect(os.Getenv)
	if err != nil || w.Launcher == "" {
		return fmt.Errorf("no rank: %w", err)
	}
	w.Host = "n" + strconv.Itoa(w.Rank)
	opt := Options{Dead: testDuration("RAILYARD_TEST_DEAD"), Wait: testDuration("RAILYARD_TEST_WAIT")}
	if file := os.Getenv("RAILYARD_SECRET_FILE"); file != "" {
		if opt.Secret, err = ReadSecret(file); err != nil {
			return err
		}
	}
	h := Hello{Version: "1", Plan: "p", GPUs: 1, Sizes: "1K"}
	for name, field := range map[string]*string{"VERSION": &h.Version, "PLAN": &h.Plan, "SIZES": &h.Sizes} {
		if v := os.Getenv("RAILYARD_TEST_" + name); v != "" {
			*field = v
		}
	}
	if why := os.Getenv("RAILYARD_TEST_FAILED"); why != "" {
		Decline(ctx, w, errors.New(why), opt)
		return fmt.Errorf("rank %d on n%[1]d: %s", w.Rank, why)
	}
	g, err := Join(ctx, w, h, opt)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	ends := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // the test hangs up when it has seen enough
		close(ends)
	}()
	for round := 0; ; round++ {
		over, err := workTogether(g, round, ends)
		if err != nil {
			g.Abort(err)
		}
		if over || err != nil {
			return g.Close()
		}
	}
}

func testDuration(name string) time.Duration {
	d, err := time.ParseDuration(os.Getenv(name))
	if err != nil {
		return 0
	}
	return d
}

// workTogether checks what all ranks tell one another; over when all have been told to end.
func workTogether(g *Group, round int, ends <-chan struct{}) (over bool, err error) {
	rank, size := g.World().Rank, g.World().Size
	mine := fmt.Sprintf("%d of round %d", rank, round)
	select {
	case <-ends:
		mine += ", last"
	case <-time.After(time.Millisecond):
	}
	all, err := g.Exchange(g.Context(), []byte(mine))
	if err != nil {
		return false, err
	}
	gathered, err := g.Gather(g.Context(), []byte(mine))
	if err != nil {
		return false, err
	}
	over = true
	for r, text := range all {
		begins := fmt.Sprintf("%d of round %d", r, round)
		if !strings.HasPrefix(string(text), begins) || rank == 0 && !bytes.Equal(text, gathered[r]) {
			return false, fmt.Errorf("rank %d said %q", r, text)
		}
		over = over && strings.HasSuffix(string(text), "last")
	}
	if g.Local() != size || size > 1 && g.Address() != "127.0.0.1" {
		return false, fmt.Errorf("%d on this node, at %s", g.Local(), g.Address())
	}
	if len(all) != size || (gathered != nil) != (rank == 0) || g.Host(size-1) != fmt.Sprintf("n%d", size-1) {
		return false, fmt.Errorf("%d messages, %d gathered, %s", len(all), len(gathered), g.Host(size-1))
	}
	return over, g.Barrier(g.Context())
}

// run is processes that a test has started.
type run struct {
	t    *testing.T
	env  []string
	root string
	all  []*process
}

type process struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	lines  *bufio.Reader
	errors bytes.Buffer
	code   int
	once   sync.Once
}

// newRun is a run of so many ranks with a secret of its own.
func newRun(t *testing.T, size int, env ...string) *run {
	t.Helper()
	return &run{t: t, root: freeAddress(t), env: append([]string{"RAILYARD_TEST_RANK=1", "RAILYARD_SIZE=" + strconv.Itoa(size),
		"RAILYARD_TEST_DEAD=20s",
		"RAILYARD_TEST_WAIT=40s", "RAILYARD_SECRET_FILE=" + secretFile(t, "a")}, env...)}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func secretFile(t *testing.T, letter string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte(strings.Repeat(letter, 2*secretSize)), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// start starts ranks, each a process.
func (r *run) start(ranks ...int) []*process {
	r.t.Helper()
	var out []*process
	for _, rank := range ranks {
		out = append(out, r.startWith(rank))
	}
	return out
}

func (r *run) startWith(rank int, env ...string) *process {
	r.t.Helper()
	p := &process{cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(append(append(os.Environ(), r.env...), "RAILYARD_ROOT="+r.root, "RAILYARD_RANK="+strconv.Itoa(rank)), env...)
	p.cmd.Stderr = &p.errors
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	p.stdin, p.lines = stdin, bufio.NewReader(stdout)
	if err := p.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.all = append(r.all, p)
	r.t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		p.wait()
	})
	return p
}

// ready waits until all have joined.
func (r *run) ready(all []*process) {
	r.t.Helper()
	for i, p := range all {
		if line, err := p.lines.ReadString('\n'); line != "ready\n" {
			r.t.Fatalf("process %d said %q, %v: %s", i, line, err, p.errors.String())
		}
	}
}

// wait is its exit code, -1 for one that a signal has ended.
func (p *process) wait() int {
	p.once.Do(func() {
		var exit *exec.ExitError
		p.code = 0
		if err := p.cmd.Wait(); errors.As(err, &exit) {
			p.code = exit.ExitCode()
		} else if err != nil {
			p.code = -2
		}
	})
	return p.code
}

func (p *process) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// allSay checks that processes end with exit code 1 and one line, that one of all.
func (r *run) allSay(all []*process, want ...string) {
	r.t.Helper()
	for i, p := range all {
		code := p.wait()
		said := p.errors.String()
		if code != 1 || strings.Count(said, "\n") != 1 {
			r.t.Errorf("process %d: exit code %d, %q", i, code, said)
		}
		for _, w := range want {
			if !strings.Contains(said, w) {
				r.t.Errorf("process %d: %q, want %q", i, said, w)
			}
		}
		if said != all[0].errors.String() {
			r.t.Errorf("process %d says %q, the first %q", i, said, all[0].errors.String())
		}
	}
}
