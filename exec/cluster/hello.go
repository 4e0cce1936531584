package cluster

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Hello is what all ranks of a run must agree on before anything runs.
type Hello struct {
	Version string // the exact build
	Terms   []Term // what is to be run, as its user has said it
	Plan    string // hash of what is to be run, all of it: schedules too
	GPUs    int    // of each rank
	Sizes   string // of buffers, in order
	Failed  string // why this rank cannot take part, which is all that it has come to say; "" where it can
}

// Term is one of the things that a user says of a run, such as its collective.
type Term struct{ What, Value string }

// greeting is what a rank says when it comes.
type greeting struct {
	Hello
	Rank, Size int
	Host       string // its node, as messages name it
	Machine    string // as its operating system is called
}

// name is how messages call a rank.
func (g greeting) name() string { return fmt.Sprintf("rank %d on %s", g.Rank, g.Host) }

// failure is why a rank cannot take part.
func (g greeting) failure() error { return fmt.Errorf("%s: %s", g.name(), g.Failed) }

// difference says in what a rank does not agree with rank 0, "" where it does. A plan follows from all else: its hash is named where
// nothing else differs.
func (g greeting) difference(root greeting) string {
	var out []string
	differ := func(what string, has, want any) {
		if has, want := fmt.Sprint(has), fmt.Sprint(want); printable(has) != printable(want) {
			has, want = fromTheFirstDifference(has, want)
			out = append(out, fmt.Sprintf("%s %s, not %s", what, upTo(mostShown, has), upTo(mostShown, want)))
		}
	}
	differ("version", g.Version, root.Version)
	differ("number of ranks", g.Size, root.Size)
	for i, x := range root.Terms {
		if i < len(g.Terms) && g.Terms[i].What == x.What {
			differ(x.What, g.Terms[i].Value, x.Value)
		}
	}
	differ("GPUs of a rank", g.GPUs, root.GPUs)
	differ("sizes", g.Sizes, root.Sizes)
	if len(out) == 0 {
		differ("plan", g.Plan, root.Plan)
	}
	if len(out) == 0 {
		return ""
	}
	return fmt.Sprintf("%s does not agree with %s: %s", g.name(), root.name(), strings.Join(out, "; "))
}

// frame and decodeGreeting are its way into a frame and back.
func (g greeting) frame() frame {
	out, err := json.Marshal(g)
	if err != nil {
		panic(err) // strings and numbers
	}
	return frame{greet, 0, out}
}

func decodeGreeting(f frame) (greeting, error) {
	var g greeting
	if f.kind != greet {
		return g, fmt.Errorf("%v where a greeting was due", f.kind)
	}
	if err := json.Unmarshal(f.payload, &g); err != nil {
		return g, fmt.Errorf("greeting: %w", err)
	}
	g.Host, g.Failed = oneLine(g.Host), oneLine(g.Failed)
	return g, nil // all else is compared before it is printed, see difference
}

// shown is how much of texts that differ is printed before they do, mostShown how much of them in all.
const shown, mostShown = 40, 400

// fromTheFirstDifference leaves out what two long lists have in common at the beginning, but for the last of it.
func fromTheFirstDifference(a, b string) (string, string) {
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	start := strings.LastIndexByte(a[:max(same-shown, 0)], ',') + 1
	if start == 0 {
		return a, b
	}
	return "…," + a[start:], "…," + b[start:]
}

// maxLine bounds what one rank may have all others print.
const maxLine = 2000

// oneLine is a text as one line of printable characters, which is no longer than others may print.
func oneLine(text string) string { return upTo(maxLine, text) }

// upTo is so much of a text, as one line.
func upTo(most int, text string) string {
	if len(text) > most {
		text = text[:most] + "…"
	}
	return printable(text)
}

// printable is a text without control characters.
func printable(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(text, "?"))
}
