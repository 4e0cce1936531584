package hang

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "railyard/internal/long" // accepts -long
	"railyard/interop/flightrecorder"
	"railyard/interop/ncclras"
	"railyard/model/health"
	"railyard/model/observed"
)

// Real dumps: ranks 0 to 2 of four waited in all-reduce 7 for rank 3.
func TestRealDumps(t *testing.T) {
	list := dumps(t, "missing")
	got := OfRecordings(list)
	if len(got) != 1 {
		t.Fatalf("%+v", got)
	}
	f := got[0]
	if f.Rule != "hang/never-came" || f.Part != "group default_pg, ranks 0-3" || f.Level != health.Broken ||
		!strings.HasPrefix(f.Says, "hangs in all_reduce 7: rank 3 never joined; 3 ranks have waited ") ||
		!strings.Contains(f.Why, "all_reduce 6") ||
		!strings.Contains(f.Do, "rank.py:54") {
		t.Errorf("%+v", f)
	}
	got = OfRecordings(list[:3])
	if len(got) != 1 || got[0].Rule != "hang/no-dump" || !strings.Contains(got[0].Says, "nothing was heard of rank 3") {
		t.Errorf("%+v", got)
	}
}

// dumps are those of four ranks in the reader's testdata.
func dumps(t *testing.T, what string) (list []*observed.Recording) {
	t.Helper()
	for rank := range 4 {
		name := fmt.Sprintf("../../interop/flightrecorder/testdata/%s_rank_%d", what, rank)
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := flightrecorder.Parse(bytes.NewReader(data), name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

// Real dumps: rank 1 gathered where the others reduced, which it finished and they did not.
func TestRealMismatch(t *testing.T) {
	got := OfRecordings(dumps(t, "mismatch"))
	if len(got) != 1 || got[0].Rule != "hang/at-odds" || !strings.Contains(got[0].Says, "ranks 0,2-3: all_reduce of") ||
		!strings.Contains(got[0].Says, "rank 1: all_gather of") || !strings.Contains(got[0].Do, "rank 1 does differently at /") {
		t.Errorf("%+v", got)
	}
}

// A real roll: once it is a remark, twice the same is a hang; a rank that has moved in between is none.
func TestRealRolls(t *testing.T) {
	for _, name := range []string{"ras_missing.json", "ras_missing.txt"} {
		data, err := os.ReadFile("../../interop/ncclras/testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		roll := func(data []byte) *observed.Roll {
			r, err := ncclras.Parse(bytes.NewReader(data), name)
			if err != nil {
				t.Fatal(err)
			}
			return r[0]
		}
		once := OfRolls([]*observed.Roll{roll(data)})
		if len(once) != 1 || once[0].Level != health.Notice || once[0].Rule != "hang/behind" {
			t.Errorf("%s: %+v", name, once)
		}
		later := bytes.Replace(data, []byte("18:38:47"), []byte("18:38:57"), 1)
		twice := OfRolls([]*observed.Roll{roll(data), roll(later)})
		if len(twice) != 1 || twice[0].Level != health.Broken ||
			!strings.HasPrefix(twice[0].Says, "hangs in AllReduce 3: rank 3 on 127.0.0.1, GPU 0, process 797 never joined; 3 ranks wait") {
			t.Errorf("%s: %+v", name, twice)
		}
		if name == "ras_missing.json" { // the same roll twice says no more than once
			if got := OfRolls([]*observed.Roll{roll(data), roll(data)}); got[0].Level != health.Notice {
				t.Errorf("%+v", got)
			}
		}
		before := bytes.Replace(data, []byte("launched up to operation 2"), []byte("launched up to operation 1"), 1)
		before = bytes.ReplaceAll(before, []byte(`"AllReduce": 2`), []byte(`"AllReduce": 1`))
		if moved := OfRolls([]*observed.Roll{roll(before), roll(later)}); len(moved) != 1 || moved[0].Level != health.Notice {
			t.Errorf("%s: %+v", name, moved)
		}
	}
}

// A rank that is ahead in one kind and behind in another has launched something else: one real roll proves it, in both formats.
func TestRealRollOfMismatch(t *testing.T) {
	for _, name := range []string{"ras_mismatch.json", "ras_mismatch.txt"} {
		data, err := os.ReadFile("../../interop/ncclras/testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		roll, err := ncclras.Parse(bytes.NewReader(data), name)
		if err != nil {
			t.Fatal(err)
		}
		got := OfRolls(roll)
		if len(got) != 1 || got[0].Rule != "hang/at-odds" || got[0].Level != health.Broken ||
			!strings.Contains(got[0].Says, "rank 1 on 127.0.0.1, GPU 0, process 890 launched AllGather where most launched AllReduce") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// world makes recordings of a job: the group of all ranks, and pairs of neighbours, each with so many all-reduces that have ended.
func world(ranks, ops int) []*observed.Recording {
	list := make([]*observed.Recording, ranks)
	all := make([]int, ranks)
	for i := range all {
		all[i] = i
	}
	for i := range list {
		pair := []int{i &^ 1, i | 1}
		r := &observed.Recording{File: fmt.Sprintf("trace_%d", i), Rank: i,
			Groups: []observed.Group{{Name: "0", About: "world", Ranks: all},
				{Name: "1", About: "pair", Ranks: pair}}}
		for seq := range ops {
			r.Ops = append(r.Ops, op(0, int64(seq+1), observed.Completed), op(1, int64(seq+1), observed.Completed))
		}
		list[i] = r
	}
	return list
}

func op(group int, seq int64, state observed.State) observed.Op {
	return observed.Op{Group: group, Seq: seq, Name: "all_reduce", Peer: -1, Signature: "[Float] [[1024]]", State: state,
		Created: 1e9 * seq, Caller: "train.py:7"}
}

func rules(list []health.Finding) (out []string) {
	for _, f := range list {
		out = append(out, f.Rule)
	}
	return out
}

func TestNothingHangs(t *testing.T) {
	list := world(8, 3)
	if got := OfRecordings(list); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	for i, r := range list { // all run the next one
		r.Ops = append(r.Ops, op(0, 4, observed.State(i%2)))
	}
	if got := OfRecordings(list); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// A group that waits for a rank which waits in another group is a consequence.
func TestConsequencesAreNoCauses(t *testing.T) {
	list := world(8, 3)
	for i, r := range list {
		switch {
		case i == 5: // came to neither
		case i == 4:
			r.Ops = append(r.Ops, op(1, 4, observed.Started))
		default:
			r.Ops = append(r.Ops, op(0, 4, observed.Scheduled))
		}
	}
	got := OfRecordings(list)
	if len(got) != 2 || !strings.Contains(got[0].Says, "ranks 4-5 never joined") || !strings.Contains(got[1].Says, "rank 5 never joined") {
		t.Errorf("%+v", got)
	}
	list[5].Ops = append(list[5].Ops, op(1, 4, observed.Started)) // 4 and 5 wait for their adapter
	for _, i := range []int{4, 5} {
		list[i].Ops[6].TimedOut = true
	}
	got = OfRecordings(list)
	if len(got) != 1 || got[0].Rule != "hang/all-came" || got[0].Part != "group pair, ranks 4-5" ||
		!strings.Contains(got[0].Says, "1 other group waits") {
		t.Errorf("%+v", got)
	}
}

// Ranks that issue collectives of two groups in different orders wait for one another.
func TestCircle(t *testing.T) {
	list := world(2, 1)
	list[0].Ops = append(list[0].Ops, op(0, 2, observed.Started))
	list[1].Ops = append(list[1].Ops, op(1, 2, observed.Started))
	if got := OfRecordings(list); len(got) != 1 || got[0].Rule != "hang/circle" {
		t.Errorf("%+v", got)
	}
}

func TestAtOdds(t *testing.T) {
	list := world(8, 3)
	for i, r := range list {
		o := op(0, 4, observed.Started)
		if i == 6 {
			o.Name, o.Caller = "all_gather", "eval.py:9"
		}
		r.Ops = append(r.Ops, o)
	}
	got := OfRecordings(list)
	if len(got) != 1 || got[0].Rule != "hang/at-odds" || !strings.Contains(got[0].Says, "rank 6: all_gather of [Float] [[1024]]") ||
		!strings.Contains(got[0].Do, "eval.py:9") {
		t.Errorf("%+v", got)
	}
	list = world(4, 3) // it has ended all the same
	list[2].Ops[2].Signature = "[Float] [[512]]"
	if got := OfRecordings(list); len(got) != 1 || !strings.Contains(got[0].Says, "under number 2") {
		t.Errorf("%+v", got)
	}
}

func TestMessages(t *testing.T) {
	message := func(name string, peer int) observed.Op {
		return observed.Op{Group: 0, Seq: 1, Name: name, Peer: peer, State: observed.Started, Created: 1e9}
	}
	list := world(4, 1)
	list[0].Ops = append(list[0].Ops, message("send", 1))
	list[1].Ops = append(list[1].Ops, message("recv", 0))
	if got := OfRecordings(list); len(got) != 0 { // both are there
		t.Errorf("%+v", got)
	}
	list[2].Ops = append(list[2].Ops, message("recv", 1)) // a pipeline: 2 waits for 1, 1 for 0, 0 for 3 which sends nothing
	list[0].Ops[2] = message("recv", 3)
	got := OfRecordings(list)
	if len(got) != 1 || !strings.Contains(got[0].Says, "recv 1: rank 3 never joined") ||
		!strings.Contains(got[0].Says, "2 other groups wait") {
		t.Errorf("%+v", got)
	}
}

// Whoever of any job stays away is found, and nobody else, whatever the recorders have dropped.
func TestWhoStaysAwayIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks := 2 * rapid.IntRange(1, 8).Draw(t, "pairs")
		list := world(ranks, 5)
		away := rapid.IntRange(0, ranks-1).Draw(t, "away")
		seq := int64(rapid.IntRange(6, 9).Draw(t, "seq"))
		for i, r := range list {
			for s := int64(6); s < seq; s++ {
				r.Ops = append(r.Ops, op(0, s, observed.Completed))
			}
			if i != away {
				r.Ops = append(r.Ops, op(0, seq, observed.State(rapid.IntRange(0, 1).Draw(t, "state"))))
			}
			r.Ops = r.Ops[rapid.IntRange(0, 9).Draw(t, "dropped"):]
		}
		rapid.Permutation(list).Draw(t, "order")
		got := OfRecordings(list)
		if len(got) != 1 || got[0].Rule != "hang/never-came" ||
			!strings.HasPrefix(got[0].Says, fmt.Sprintf("hangs in all_reduce %d: rank %d never joined", seq, away)) {
			t.Fatalf("%v: %+v", rules(got), got)
		}
	})
}

// A thousand ranks with full recorders: one is found, and the work stays in proportion to what was noted.
func TestManyRanks(t *testing.T) {
	list := world(1024, 500)
	for i, r := range list {
		if i != 777 {
			r.Ops = append(r.Ops, op(0, 501, observed.Started))
		}
	}
	got := OfRecordings(list)
	if len(got) != 1 || !strings.HasPrefix(got[0].Says, "hangs in all_reduce 501: rank 777 never joined; 1023 ranks have waited") {
		t.Errorf("%v", got)
	}
	again := slices.Clone(list)
	slices.Reverse(again)
	if other := OfRecordings(again); fmt.Sprint(other) != fmt.Sprint(got) {
		t.Error("the order of the files matters")
	}
}
