package schedule

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"railyard/internal/golden"
)

// Stored plans mean what they meant: each file under testdata/frozen, and they are of every
// generator, expands to the operations whose digest stands in testdata/frozen.txt. Where this
// fails, files that people keep have changed their meaning: raise Schema, so that what was
// stored before is refused.
func TestStoredPlansMeanWhatTheyMeant(t *testing.T) {
	files, err := filepath.Glob("testdata/frozen/*.json")
	if err != nil {
		t.Fatal(err)
	}
	var digests bytes.Buffer
	missing := map[string]bool{GenTrees: true, GenRails: true, GenOps: true}
	for gen := range generators {
		missing[gen] = true
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := Check(s, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, ch := range s.Channels {
			for _, ph := range ch.Phases {
				delete(missing, ph.Gen)
			}
		}
		fmt.Fprintf(&digests, "%s %x\n", filepath.Base(name), digest(s))
	}
	if len(missing) > 0 {
		t.Errorf("no stored plan of generators %v", slices.Sorted(maps.Keys(missing)))
	}
	golden.Equal(t, "frozen.txt", digests.Bytes())
}

// digest is that of all operations of all ranks, and of how often slices repeat them.
func digest(s *Schedule) []byte {
	h := sha256.New()
	x := NewExpander(s)
	var ops []Op
	for c, ch := range s.Channels {
		fmt.Fprintln(h, "channel", c, ch.Share, ch.Slices, ch.Chunks, x.ScratchChunks())
		for p := range ch.Phases {
			for r := range s.Spec.Ranks {
				ops = x.AppendProgram(ops[:0], c, p, r)
				fmt.Fprintln(h, "phase", p, "rank", r, len(ops))
				for i := range ops {
					o := &ops[i]
					fmt.Fprintln(h, o.Kind, o.Peer, o.Src, o.Dst, o.Srcs, []int32(o.Peers))
				}
			}
		}
	}
	return h.Sum(nil)[:16]
}

// Plans of other versions are refused.
func TestPlansOfOtherVersions(t *testing.T) {
	ring, err := os.ReadFile("testdata/frozen/ring.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []string{"railyard.schedule/v3", "railyard.schedule/v9", ""} {
		_, err := Decode(strings.NewReader(strings.Replace(string(ring), Schema, v, 1)))
		if err == nil || !strings.Contains(err.Error(), "make the plan again (railyard plan)") {
			t.Errorf("%q: %v", v, err)
		}
	}
}

// Orders that leave something out, or do it twice, are refused.
func TestOrdersAreWhole(t *testing.T) {
	data, err := os.ReadFile("testdata/frozen/trees.json")
	if err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func(o *TreeOrder){
		"an end twice":      func(o *TreeOrder) { o.Ends[0] = o.Ends[1] },
		"an end left out":   func(o *TreeOrder) { o.Ends = o.Ends[1:] },
		"before the first":  func(o *TreeOrder) { o.After = slices.Repeat(RankList{-1}, len(o.Ends)) },
		"not for every end": func(o *TreeOrder) { o.After = RankList{0} },
	} {
		s, err := Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if change(&s.Channels[0].Phases[0].Order[0]); s.Validate() == nil {
			t.Errorf("%s: no error", what)
		}
	}
}
