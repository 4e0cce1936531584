package doctor

import (
	_ "embed"
	"sync"

	"railyard/model/health"
	"railyard/model/yamlfile"
)

// Rule says when something is wrong with a part, and what to do. Conditions and the figures in its texts are expressions over the
// part's facts (see expression.go).
type Rule struct {
	Name   string       `file:"name,need,names,unique"`
	Of     health.Kind  `file:"of,need"`
	If     Expression   `file:"if,need"`
	Level  health.Level `file:"level,need"`
	Says   Sentence     `file:"says,need"` // behind the part's name; {expression} is a figure
	Why    Sentence     `file:"why,need"`
	Do     Sentence     `file:"do,need"`
	Effect string       `file:"effect"` // that a what-if knows, one of effects
	Left   Expression   `file:"left"`   // of the part's rate
	Source string       `file:"source,need"`
	AMD    *Advice      `file:"amd"` // where the GPUs are AMD's
}

// Advice is what to do about a finding, and whose advice that is.
type Advice struct {
	Do     Sentence `file:"do,need"`
	Source string   `file:"source,need"`
}

// advice is that of a rule on a machine.
func (r *Rule) advice(s *health.State) Advice {
	if r.AMD != nil && s.Host().Text("maker") == health.AMD {
		return *r.AMD
	}
	return Advice{r.Do, r.Source}
}

// Intended says which shipped topology a machine is, by what its GPUs are called and how many there are.
type Intended struct {
	GPU      string `file:"gpu,need"` // is in the name of the product
	GPUs     int    `file:"gpus,lo=1,hi=1024"`
	Topology string `file:"topology,need"`
}

// Book is all rules.
type Book struct {
	Machines []Intended `file:"machines,some,each=machine,lines"`
	Rules    []Rule     `file:"rules,some,each=rule"`
}

//go:embed rules.yaml
var rulesFile []byte

// rules are the shipped ones.
var rules = sync.OnceValue(func() *Book {
	b, err := readBook("rules.yaml", rulesFile)
	if err != nil {
		panic(err)
	}
	return b
})

func readBook(file string, data []byte) (*Book, error) {
	return yamlfile.Library[Book]{Format: yamlfile.Format{Schema: "railyard.rules/v1", Noun: "book of rules"}}.Read(file, data)
}

// Check compiles the expressions.
func (r *Rule) Check(o *yamlfile.Object) {
	for _, c := range []struct {
		key     string
		compile func(health.Kind) error
	}{{"if", r.If.compile}, {"left", r.Left.compile}, {"says", r.Says.compile}, {"why", r.Why.compile}, {"do", r.Do.compile}} {
		if err := c.compile(r.Of); err != nil {
			o.AddAt(o.Where(c.key), "%s: %s: %v", o.What, c.key, err)
		}
	}
	if r.AMD != nil {
		if err := r.AMD.Do.compile(r.Of); err != nil {
			o.AddAt(o.Where("amd"), "%s: amd: %v", o.What, err)
		}
	}
	if _, ok := effects[r.Effect]; r.Effect != "" && !ok {
		o.AddAt(o.Where("effect"), "%s: there is no effect %q", o.What, r.Effect)
	}
}
