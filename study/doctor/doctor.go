// Package doctor finds what is wrong with a machine that runs: rules judge what is known of it (model/health) and what it was intended
// to be, and each finding is priced by asking study about the machine with that part slow or failed. Rules are data, rules.yaml, each
// with its source; a rule whose facts nobody knows is not judged, and that is said.
package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"railyard/model/cost"
	"railyard/model/health"
	"railyard/model/measurement"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/study"
)

// Asked is what a diagnosis is made of.
type Asked struct {
	State    *health.State      // facts of the intended machine are added to it
	Intended study.Site         // what the machine should be; without a name: as its GPUs are called
	Profile  string             // whose costs apply; "": the topology's
	Rows     []measurement.Link // of accesses to memory, as `railyard probe` measured them there
}

// Diagnosis is what is wrong with a machine, what costs most first.
type Diagnosis struct {
	Topology string // that it was compared with; "": none
	Assumed  bool   // by what its GPUs are called
	Findings []health.Finding
	Judged   int // rules that all facts of were known for some part
	Unjudged []Unjudged
	Coverage []Coverage // of each kind of part that there are rules of
	Notes    []string
	GPUs     int
	Uncosted string // why costs are not known
}

// Coverage is how many of the rules of a kind of part were judged.
type Coverage struct {
	Of            health.Kind
	Judged, Rules int
}

// Unjudged is a rule that could not be judged for want of facts.
type Unjudged struct {
	Rule    string
	Missing []string
}

// Examine judges a machine by all rules.
func Examine(a Asked) (*Diagnosis, error) {
	d := &Diagnosis{GPUs: len(a.State.Parts(health.GPU))}
	site, assumed := a.Intended, false
	if site.Name == "" {
		site.Name, assumed = Assumed(a.State), true
	}
	var costs *costs
	switch {
	case site.Name == "":
		d.Uncosted = "which machine this should be is not known: name its topology with -t"
	default:
		t, err := oneNode(site, a.State)
		if err != nil {
			return nil, err
		}
		d.Topology, d.Assumed = t.Name(), assumed
		intend(a.State, t, !assumed)
		if !assumed { // adapters are not told by what GPUs are called
			graphs(a.State, site)
		}
		costs = newCosts(site, t, a.Profile)
		m, err := cost.MachineOn(t, a.Profile)
		if err != nil {
			return nil, err
		}
		accesses(a.State, a.Rows, m.Access)
	}
	derive(a.State)
	if err := costs.staging(a.State); err != nil {
		return nil, err
	}
	for i := range rules().Rules {
		if err := d.judge(a.State, &rules().Rules[i]); err != nil {
			return nil, err
		}
	}
	d.Findings = append(d.Findings, a.State.Findings...)
	for i := range d.Findings {
		if err := costs.price(&d.Findings[i]); err != nil {
			return nil, err
		}
		weigh(&d.Findings[i])
	}
	d.Notes = a.State.Notes
	slices.SortStableFunc(d.Findings, byCost)
	return d, nil
}

// oneNode is the machine that a site has, or one node of its cluster, which is noted where a machine is judged.
func oneNode(site study.Site, s *health.State) (*topology.Topology, error) {
	t, err := site.Load()
	if err != nil || t.NumNodes() == 1 {
		return t, err
	}
	if len(s.Parts(health.GPU)) > 0 {
		s.Note("compared with one of the %d nodes of %s", t.NumNodes(), t.Name())
	}
	return site.Part(1, 0)
}

// noise is what repeats of a measurement differ by: what costs less is nothing to act on.
const noise = 0.005

// weigh makes what is known to cost nothing a notice, and a notice that is known to cost something more.
func weigh(f *health.Finding) {
	switch costs := f.Cost.Share >= noise; {
	case !f.Cost.Known:
	case f.Level == health.Slow && !costs:
		f.Level = health.Notice
	case f.Level == health.Notice && costs:
		f.Level = health.Slow
	}
}

// byCost puts what breaks jobs first, then what costs most.
func byCost(a, b health.Finding) int {
	level := func(f *health.Finding) int { return slices.Index(health.Levels, f.Level) }
	return cmp.Or(cmp.Compare(level(&a), level(&b)), cmp.Compare(b.Cost.Share, a.Cost.Share))
}

// Faulty reports whether something is wrong that breaks jobs or costs time.
func (d *Diagnosis) Faulty() bool {
	return slices.ContainsFunc(d.Findings, func(f health.Finding) bool { return f.Level != health.Notice })
}

// Assumed is the shipped topology of machines with such GPUs, "" where none is known.
func Assumed(s *health.State) string {
	gpus := s.Parts(health.GPU)
	for _, m := range rules().Machines {
		if len(gpus) == m.GPUs && strings.Contains(gpus[0].Text("product"), m.GPU) {
			return m.Topology
		}
	}
	return ""
}

// judge finds the parts that a rule is about; those of which it says the same share a finding.
func (d *Diagnosis) judge(s *health.State, r *Rule) error {
	var groups []*group
	missing, judged := map[string]bool{}, false
	for _, p := range s.Parts(r.Of) {
		who := &subject{state: s, part: p}
		if list := who.missing(&r.If, &r.Left); len(list) > 0 {
			for _, name := range list {
				missing[name] = true
			}
			continue
		}
		judged = true
		ill, err := who.ill(r)
		if err == nil && ill {
			groups, err = join(groups, who, r)
		}
		if err != nil {
			return fmt.Errorf("rule %s of %v: %w", r.Name, p, err)
		}
	}
	for _, g := range groups {
		f, err := r.finding(g)
		if err != nil {
			return fmt.Errorf("rule %s: %w", r.Name, err)
		}
		d.Findings = append(d.Findings, f)
	}
	c := d.coverage(r.Of)
	c.Rules++
	if judged {
		d.Judged++
		c.Judged++
		return nil
	}
	d.Unjudged = append(d.Unjudged, Unjudged{r.Name, sorted(missing, r)})
	return nil
}

// coverage is that of a kind of part; it is added where it is not there.
func (d *Diagnosis) coverage(of health.Kind) *Coverage {
	i := slices.IndexFunc(d.Coverage, func(c Coverage) bool { return c.Of == of })
	if i < 0 {
		i, d.Coverage = len(d.Coverage), append(d.Coverage, Coverage{Of: of})
	}
	return &d.Coverage[i]
}

// group are parts of which a rule says the same.
type group struct {
	says    string
	left    float64
	members []*subject
}

// join puts a part into the group of those that are as ill.
func join(groups []*group, who *subject, r *Rule) ([]*group, error) {
	says, err := fill(&r.Says, who)
	if err != nil {
		return nil, err
	}
	left, err := who.number(&r.Left, 0)
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		if g.says == says && g.left == left {
			g.members = append(g.members, who)
			return groups, nil
		}
	}
	return append(groups, &group{says, left, []*subject{who}}), nil
}

func sorted(missing map[string]bool, r *Rule) []string {
	var out []string
	for name := range missing {
		out = append(out, string(r.Of)+"."+strings.TrimPrefix(name, "host."))
	}
	if len(out) == 0 {
		out = []string{string(r.Of)}
	}
	slices.Sort(out)
	return out
}

// ill reports whether a rule's condition holds.
func (s *subject) ill(r *Rule) (bool, error) {
	v, err := s.value(&r.If)
	is, ok := v.(bool)
	if err == nil && !ok {
		err = fmt.Errorf("%s is %v, not true or false", r.If.text, v)
	}
	return is, err
}

// finding is what a rule says of a group.
func (r *Rule) finding(g *group) (f health.Finding, err error) {
	a := r.advice(g.members[0].state)
	f = health.Finding{Rule: r.Name, Level: r.Level, Source: a.Source, Says: g.says}
	var parts []*health.Part
	for _, m := range g.members {
		parts = append(parts, m.part)
		f.Effect.Value = m.part.Text("value")
		f.Effect.Parts = append(f.Effect.Parts, m.part.Name)
		for _, from := range m.from {
			if !slices.Contains(f.From, from) {
				f.From = append(f.From, from)
			}
		}
	}
	f.Part, f.Effect.On, f.Effect.Left = called(parts), r.Effect, g.left
	if f.Why, err = fill(&r.Why, g.members...); err != nil {
		return f, err
	}
	f.Do, err = a.of(r.Of, g.members)
	return f, err
}

// of is what to do about parts. nvidia-smi takes several GPUs with commas between; other commands are written for one part.
func (a *Advice) of(kind health.Kind, members []*subject) (string, error) {
	if kind == health.GPU && members[0].state.Host().Text("maker") != health.AMD {
		return fill(&a.Do, members...)
	}
	do, err := fill(&a.Do, members[0])
	if err != nil {
		return "", err
	}
	last, err := fill(&a.Do, members[len(members)-1])
	if last != do {
		do += "; the same for the others"
	}
	return do, err
}

// manyNames are as many as a line names.
const manyNames = 4

// called names parts so that a verb in the singular fits behind: "GPU 3", "each of GPUs 0-3, 5", or each by its name.
func called(parts []*health.Part) string {
	if len(parts) == 1 {
		return parts[0].String()
	}
	var numbers []int
	var names []string
	for _, p := range parts {
		if n, err := strconv.Atoi(p.Name); err == nil && p.Kind == health.GPU {
			numbers = append(numbers, n)
		}
		names = append(names, p.String())
	}
	if len(numbers) == len(parts) {
		return "each of GPUs " + units.Ranges(numbers, ", ")
	}
	if more := len(names) - manyNames; more > 1 {
		names = append(names[:manyNames], fmt.Sprintf("and %d more", more))
	}
	return "each of " + strings.Join(names, ", ")
}
