package doctor

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"

	"railyard/model/health"
	"railyard/model/units"
)

// Expression is a formula over the facts of a part, in the language of github.com/expr-lang/expr: its facts by their names, those of the
// machine as host.NAME, and the values of a fact that all parts of its kind have as peers.NAME, a list: clock < 0.9 * median(peers.clock).
// It has a value only where all facts that it names are known. counted(n, "row") is n with its noun: 1 row, 2 rows;
// number(value) is the number that NCCL takes of a variable; where its text begins with none, no comparison with it holds.
type Expression struct {
	text    string
	program *vm.Program
	own     []string // facts of the part
	host    []string
	peers   []string
}

// UnmarshalText takes the formula; compile understands it once the kind of part is known.
func (e *Expression) UnmarshalText(text []byte) error {
	e.text = string(text)
	return nil
}

// compile checks the formula against the facts that parts of a kind have.
func (e *Expression) compile(of health.Kind) (err error) {
	if e.text == "" {
		return nil
	}
	if e.program, err = expr.Compile(e.text, expr.Env(environment(of)), expr.Patch(e), withNoun, asNumber); err != nil {
		line, _, _ := strings.Cut(err.Error(), "\n")
		return errors.New(line)
	}
	for _, name := range e.host {
		if _, ok := health.FactOf(health.Host, name); !ok {
			return fmt.Errorf("nothing is known as host.%s", name)
		}
	}
	for _, name := range e.peers {
		if f, ok := health.FactOf(of, name); !ok || f.Type != health.Number {
			return fmt.Errorf("no number is known as peers.%s", name)
		}
	}
	return nil
}

// environment has a value of the type of each fact that there may be.
func environment(of health.Kind) map[string]any {
	env, host, peers := map[string]any{}, map[string]any{}, map[string]any{}
	for _, f := range health.FactsOf(of) {
		env[f.Name] = zero(f.Type)
		peers[f.Name] = []float64{}
	}
	for _, f := range health.FactsOf(health.Host) {
		host[f.Name] = zero(f.Type)
	}
	env["host"], env["peers"], env[name] = host, peers, ""
	return env
}

// name is what formulas call the name of the part itself.
const name = "name"

// functions are what formulas may call besides those of the language.
const counted, number = "counted", "number"

var withNoun = expr.Function(counted, func(args ...any) (any, error) {
	return units.Counted(int64(args[0].(float64)), args[1].(string)), nil
}, new(func(float64, string) string))

var asNumber = expr.Function(number, func(args ...any) (any, error) {
	if n, ok := integer(args[0].(string)); ok {
		return float64(n), nil
	}
	return math.NaN(), nil
}, new(func(string) float64))

var leading = regexp.MustCompile(`^\s*([+-]?(?:0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*))`)

// integer is what NCCL takes of a variable: what C's strtoll reads with base 0 (src/misc/param.cc), so that 8M is 8; false where the text
// begins with no number, or with one that is too large.
func integer(text string) (int64, bool) {
	m := leading.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(m[1], 0, 64)
	return n, err == nil
}

func zero(t health.Type) any {
	return map[health.Type]any{health.Number: 0.0, health.Text: "", health.YesNo: false}[t]
}

// Visit implements ast.Visitor: it collects the facts that the formula names.
func (e *Expression) Visit(node *ast.Node) {
	add := func(list *[]string, name string) {
		if !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
	}
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		if !slices.Contains([]string{"host", "peers", name, counted, number}, n.Value) {
			add(&e.own, n.Value)
		}
	case *ast.MemberNode:
		of, isName := n.Node.(*ast.IdentifierNode)
		name, isText := n.Property.(*ast.StringNode)
		switch {
		case !isName || !isText:
		case of.Value == "host":
			add(&e.host, name.Value)
		case of.Value == "peers":
			add(&e.peers, name.Value)
		}
	}
}

// subject is a part that is judged.
type subject struct {
	state *health.State
	part  *health.Part
	from  []string // where the values that were used came from
}

// missing are the facts that formulas name and nobody knows.
func (s *subject) missing(list ...*Expression) (out []string) {
	for _, e := range list {
		out = append(out, s.missingOf(e)...)
	}
	return out
}

func (s *subject) missingOf(e *Expression) (out []string) {
	for _, name := range e.own {
		if _, ok := s.part.Fact(name); !ok {
			out = append(out, name)
		}
	}
	for _, name := range e.host {
		if _, ok := s.state.Host().Fact(name); !ok {
			out = append(out, "host."+name)
		}
	}
	for _, name := range e.peers {
		if len(s.peers(name)) < 2 {
			out = append(out, "peers."+name)
		}
	}
	return out
}

func (s *subject) peers(fact string) (out []float64) {
	for _, p := range s.state.Parts(s.part.Kind) {
		if v, ok := p.Fact(fact); ok {
			if n, isNumber := v.Is.(float64); isNumber {
				out = append(out, n)
			}
		}
	}
	return out
}

// value is that of a formula whose facts are known.
func (s *subject) value(e *Expression) (any, error) {
	env, host, peers := map[string]any{}, map[string]any{}, map[string]any{}
	take := func(into map[string]any, p *health.Part, names []string) {
		for _, name := range names {
			v, _ := p.Fact(name)
			if into[name] = v.Is; !slices.Contains(s.from, v.From) {
				s.from = append(s.from, v.From)
			}
		}
	}
	take(env, s.part, e.own)
	take(host, s.state.Host(), e.host)
	for _, name := range e.peers {
		peers[name] = s.peers(name)
	}
	env["host"], env["peers"], env[name] = host, peers, s.part.Name
	return expr.Run(e.program, env)
}

// number is the value of a formula as a number; otherwise where there is no formula.
func (s *subject) number(e *Expression, otherwise float64) (float64, error) {
	if e.program == nil {
		return otherwise, nil
	}
	v, err := s.value(e)
	if err != nil {
		return 0, err
	}
	switch n := v.(type) {
	case float64:
		return n, nil
	case int:
		return float64(n), nil
	}
	return 0, fmt.Errorf("%s is %v, not a number", e.text, v)
}

// Sentence is a text with formulas in braces.
type Sentence struct {
	text  string
	words []string // between the formulas, one more than those
	sums  []Expression
	units []string // of formulas that are a fact alone
}

// UnmarshalText takes the text.
func (s *Sentence) UnmarshalText(text []byte) error {
	s.text = string(text)
	return nil
}

func (s *Sentence) compile(of health.Kind) error {
	rest := s.text
	for {
		before, inside, found := strings.Cut(rest, "{")
		s.words = append(s.words, before)
		if !found {
			return nil
		}
		formula, after, closed := strings.Cut(inside, "}")
		if !closed {
			return errors.New("a { without }")
		}
		e := Expression{text: formula}
		if err := e.compile(of); err != nil {
			return err
		}
		fact, _ := health.FactOf(of, formula)
		s.sums, s.units, rest = append(s.sums, e), append(s.units, fact.Unit), after
	}
}

// fill writes the sentence about parts; figures in which they differ are listed, and what is not known is "?".
func fill(t *Sentence, parts ...*subject) (string, error) {
	var b strings.Builder
	for i, word := range t.words {
		b.WriteString(word)
		if i == len(t.sums) {
			break
		}
		var list []string
		for _, p := range parts {
			text, err := p.figure(&t.sums[i], t.units[i])
			if err != nil {
				return "", err
			}
			if !slices.Contains(list, text) {
				list = append(list, text)
			}
		}
		b.WriteString(strings.Join(list, ","))
	}
	return b.String(), nil
}

// figure is the value of a formula for people.
func (s *subject) figure(e *Expression, unit string) (string, error) {
	if len(s.missing(e)) > 0 {
		return "?", nil
	}
	v, err := s.value(e)
	return figure(v, unit), err
}

// figure is a value for people: three digits after all that is whole, with its unit.
func figure(v any, unit string) string {
	n, isNumber := v.(float64)
	if !isNumber {
		return fmt.Sprint(v)
	}
	switch unit {
	case "bytes":
		return bytesFigure(n)
	case "W", "MHz", "°C", "GB/s":
		unit = " " + unit
	case "%":
		unit = " %"
	default:
		unit = ""
	}
	digits := 0
	if a := math.Abs(n); a < 100 && n != math.Trunc(n) {
		digits = 1
	}
	return strconv.FormatFloat(n, 'f', digits, 64) + unit
}

// bytesFigure is a size with a digit behind the point.
func bytesFigure(n float64) string {
	if n >= math.MaxInt64 {
		return "any amount"
	}
	names := []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for ; n >= 1024 && i+1 < len(names); i++ {
		n /= 1024
	}
	return figure(n, "") + " " + names[i]
}
