package cluster

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Hello is what all ranks of a run must agree on before anything runs.
type Hello struct {
	Version string // the exact build
	Plan    string // hash of what is to be run: topology, schedules, data types, iterations
	GPUs    int    // of each rank
	Sizes   string // of buffers, in order
}

// greeting is what a rank says when it comes.
type greeting struct {
	Hello
	Rank, Size int
	Host       string // its node, as messages name it
	Machine    string // as its operating system is called
}

// name is how messages call a rank.
func (g greeting) name() string { return fmt.Sprintf("rank %d on %s", g.Rank, g.Host) }

// difference says in what a rank does not agree with rank 0, "" where it does.
func (g greeting) difference(root greeting) string {
	var out []string
	for _, x := range []struct {
		what      string
		has, want any
	}{
		{"version", g.Version, root.Version}, {"number of ranks", g.Size, root.Size}, {"plan", g.Plan, root.Plan},
		{"GPUs of a rank", g.GPUs, root.GPUs}, {"sizes", g.Sizes, root.Sizes},
	} {
		if x.has != x.want {
			out = append(out, fmt.Sprintf("%s %v, not %v", x.what, x.has, x.want))
		}
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
	g.Host = oneLine(g.Host)
	g.Version, g.Plan, g.Sizes = oneLine(g.Version), oneLine(g.Plan), oneLine(g.Sizes)
	return g, nil
}

// maxLine bounds what one rank may have all others print.
const maxLine = 2000

// oneLine is a text as one line of printable characters.
func oneLine(text string) string {
	if len(text) > maxLine {
		text = text[:maxLine] + "…"
	}
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(text, "?"))
}
