package batch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"railyard/capacity/journal"
	"railyard/internal/golden"
	_ "railyard/internal/long" // accepts -long
)

// work is ten points in three shards.
func work(t *testing.T) *Work {
	t.Helper()
	return &Work{Question: []string{"capacity", "size", "a b"}, Shards: 3, Dir: t.TempDir(),
		Command: []string{"railyard", "ask", "it's", "--shard", Shard + "/3", "-o", Journal}}
}

const points = 10

// answer writes the first rows of a shard's journal, as its command would.
func answer(t *testing.T, w *Work, shard, rows int) {
	t.Helper()
	h, err := journal.NewHeader("test/v1", "a test", points)
	if err != nil {
		t.Fatal(err)
	}
	had := 0
	j, err := journal.Open(w.Path(shard), "test", h, func(int, []byte) error { had++; return nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range (journal.Shard{Index: shard, Of: w.Shards}).Points(points)[had:rows] {
		if err := journal.Add(j, map[string]int{"point": p}); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// fake is an engine of which shards end as a test wants.
type fake struct {
	active    map[int]bool
	submitted []int
	asked     func(e *fake) // before it says what is active
}

func (e *fake) Script(*Work, []int) (string, string, error) { return "script", "text", nil }
func (e *fake) Every() time.Duration                        { return time.Millisecond }
func (e *fake) Leave() string                               { return "left" }
func (e *fake) Active(context.Context, *Work) (map[int]bool, error) {
	if e.asked != nil {
		e.asked(e)
	}
	return e.active, nil
}
func (e *fake) Submit(_ context.Context, _ *Work, script string, shards []int) (string, error) {
	e.submitted = append(e.submitted, shards...)
	for _, s := range shards {
		e.active[s] = true
	}
	text, err := os.ReadFile(script)
	return string(text), err
}

// TestSubmitsWhatIsOpen: neither complete shards nor those that wait or run; it ends when all are complete.
func TestSubmitsWhatIsOpen(t *testing.T) {
	w := work(t)
	answer(t, w, 1, 4) // complete
	answer(t, w, 2, 1) // waits
	e := &fake{active: map[int]bool{2: true}}
	looks := 0
	e.asked = func(e *fake) {
		if looks++; looks == 4 {
			answer(t, w, 2, 3)
			answer(t, w, 3, 3)
			e.active = map[int]bool{}
		}
	}
	var seen []string
	err := Run(context.Background(), w, e, Watcher{Rows: func(done, of int) { seen = append(seen, fmt.Sprint(done, "/", of)) },
		Submitted: func(said string) { seen = append(seen, said) }})
	if err != nil || !slices.Equal(e.submitted, []int{3}) {
		t.Errorf("submitted %v, %v", e.submitted, err)
	}
	if got := strings.Join(slices.Compact(seen), " "); got != "5/7 text 5/7 10/10" {
		t.Errorf("progress %s", got)
	}
	if m, err := w.Merge(); err != nil || m.Missing != 0 || len(m.Rows) != points {
		t.Errorf("%+v, %v", m, err)
	}
	e.submitted = nil
	if err := Run(context.Background(), w, e, Watcher{func(int, int) {}, func(string) {}}); err != nil || e.submitted != nil {
		t.Errorf("complete work was submitted again: %v, %v", e.submitted, err)
	}
}

// TestEndedTooEarly: shards that nobody runs any more are named, with what the first of them said last.
func TestEndedTooEarly(t *testing.T) {
	w := work(t)
	answer(t, w, 1, 4)
	e := &fake{active: map[int]bool{}}
	e.asked = func(e *fake) {
		if len(e.submitted) > 0 {
			e.active = map[int]bool{}
		}
	}
	if err := os.WriteFile(w.Log(2), []byte("first\nno such file\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	err := Run(context.Background(), w, e, Watcher{func(int, int) {}, func(string) {}})
	want := `shard 2-3 of 3 ended before they were complete: the same command continues them (` + w.Log(2) + ` ends in "no such file")`
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestOthersGoOn: a shard that ends too early does not end the watch over others.
func TestOthersGoOn(t *testing.T) {
	w := work(t)
	answer(t, w, 2, 3)
	e := &fake{active: map[int]bool{}}
	looks := 0
	e.asked = func(e *fake) {
		switch looks++; looks {
		case 2:
			delete(e.active, 3)
		case 5:
			answer(t, w, 1, 4)
			e.active = map[int]bool{}
		}
	}
	err := Run(context.Background(), w, e, Watcher{func(int, int) {}, func(string) {}})
	if err == nil || !strings.Contains(err.Error(), "shard 3 of 3 ended before") || looks != 5 {
		t.Errorf("after %d looks: %v", looks, err)
	}
}

// TestInterrupted: what goes on is said.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	e := &fake{active: map[int]bool{1: true, 2: true, 3: true}, asked: func(*fake) { cancel() }}
	err := Run(ctx, work(t), e, Watcher{func(int, int) {}, func(string) {}})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "left; the same command continues it") {
		t.Error(err)
	}
}

// TestClaim: a directory is of one question.
func TestClaim(t *testing.T) {
	w := work(t)
	for range 2 {
		if err := w.Claim(); err != nil {
			t.Fatal(err)
		}
	}
	for name, change := range map[string]func(x *Work){
		"question": func(x *Work) { x.Question = []string{"other"} },
		"shards":   func(x *Work) { x.Shards++ },
		"files":    func(x *Work) { x.Inputs = "x" },
		"version":  func(x *Work) { x.Version = "x" },
	} {
		x := *w
		change(&x)
		if err := x.Claim(); err == nil || !strings.Contains(err.Error(), "is of another question, files that changed") {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.Command = append(w.Command, "a\nb")
	if err := w.Claim(); err == nil {
		t.Error("a line end was accepted")
	}
}

// TestScripts: what the engines are given, whole.
func TestScripts(t *testing.T) {
	w := &Work{Question: []string{"capacity", "size", "superpod-h100", "--name=a b"}, Shards: 64, Dir: "/data/my sweep",
		Command: []string{"/bin/railyard", "capacity", "sweep", "--shard", Shard + "/64", "--output", Journal, "--", "capacity", "size",
			"superpod-h100", "--name=a b"}}
	for _, e := range []Engine{&Local{}, &Slurm{Options: []string{"--partition=short"}}, &Kubernetes{Image: "registry/railyard:1",
		Claim: "data",
		Mount: "/", CPU: "4", Memory: "8Gi"}} {
		var name, text string
		t.Run("in /", func(t *testing.T) { // the directory that scripts name
			t.Chdir("/")
			var err error
			if name, text, err = e.Script(w, []int{2, 3, 64}); err != nil {
				t.Fatal(err)
			}
		})
		golden.Equal(t, name, []byte(text))
	}
	k := &Kubernetes{Mount: "/volume", Claim: "data"}
	if _, _, err := k.Script(w, []int{1}); err == nil || !strings.Contains(err.Error(), "is not below /volume") {
		t.Errorf("a directory that pods do not see: %v", err)
	}
	if _, _, err := (&Slurm{Options: []string{`--comment="x"`}}).Script(w, []int{1}); err == nil {
		t.Error("quotation marks in an option of sbatch")
	}
}

// TestQuote: a shell reads the words that were meant, whatever is in them.
func TestQuote(t *testing.T) {
	words := []string{"", "plain", "a b", "it's", `"$HOME"`, "`id`", "*", "a\\b", "ü", "a;b&c", "$shard"}
	w := &Work{Dir: "/it's here", Command: append([]string{"printf", "%s\n"}, append(words, Shard+"/3", "x y "+Shard, Journal)...)}
	out, err := exec.Command("/bin/sh", "-c", "shard=2; "+w.line()).Output()
	want := strings.Join(append(words, "2/3", "x y 2", "/it's here/shard-2.jsonl", ""), "\n")
	if err != nil || string(out) != want {
		t.Errorf("%v: %q, want %q", err, out, want)
	}
}

// program puts a program of the test's own before all others.
func program(t *testing.T, name, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

// TestKubernetesActive: indexes that have neither succeeded nor failed, of jobs that have not ended, are the shards that are written
// on the job.
func TestKubernetesActive(t *testing.T) {
	w := work(t)
	program(t, "kubectl", `case "$*" in
"get jobs --selector=railyard-batch=`+w.Name()+` --output=json --namespace=lab") cat "`+w.Dir+`/jobs" ;;
*) echo "unexpected: $*" >&2; exit 1 ;;
esac`)
	job := func(status string) string {
		return `{"metadata":{"name":"j","annotations":{"railyard-shards":"1,3"}},"status":{` + status + `}}`
	}
	for items, want := range map[string]map[int]bool{
		"":                              {},
		job(``):                         {1: true, 3: true},
		job(`"completedIndexes":"1"`):   {1: true},
		job(`"failedIndexes":"0"`):      {3: true},
		job(`"completedIndexes":"0-1"`): {},
		job(`"conditions":[{"type":"FailureTarget","status":"True"}]`):                                  {1: true, 3: true},
		job(`"conditions":[{"type":"Failed","status":"True"}]`):                                         {},
		job(`"conditions":[{"type":"Complete","status":"True"}]`) + "," + job(`"completedIndexes":"0"`): {3: true},
	} {
		if err := os.WriteFile(filepath.Join(w.Dir, "jobs"), []byte(`{"items":[`+items+`]}`), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := (&Kubernetes{Namespace: "lab"}).Active(context.Background(), w)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v", items, got, err)
		}
	}
	if _, err := (&Kubernetes{}).Active(context.Background(), w); err == nil || !strings.Contains(err.Error(), "unexpected: get jobs") {
		t.Errorf("what kubectl says is not told: %v", err)
	}
}
