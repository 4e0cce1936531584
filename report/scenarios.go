package report

import "io"

// Scenarios are worked numbers of documents beside ours.
type Scenarios struct {
	Scenarios []Scenario

	// Ways to train a 175B model on so many tokens, priced by a book.
	Options            []TrainingOption
	Tokens             float64
	Prices, PricesDate string
}

// Scenario is a question with what the document says, and our steps.
type Scenario struct {
	Question, Says, Why string
	Rows                []ScenarioRow
}

// ScenarioRow is a step.
type ScenarioRow struct {
	Label, Command                                string
	StepMS, ComputeMS, CommunicationMS, ExposedMS float64
	ScalingEfficiency                             float64
	Fits                                          bool
}

// WriteMarkdown writes the page docs/scenarios.md.
func (d *Scenarios) WriteMarkdown(w io.Writer) error {
	l := &lines{w: w}
	l.printf("# Worked numbers about training steps, recomputed\n\n")
	l.printf("Written by `railyard capacity scenarios -o docs`. The project was asked for with documents that work such numbers\n")
	l.printf("out by hand; here is what they say, what railyard says, and why these differ. Communication counts all\n")
	l.printf("collectives of a GPU, exposed what it waits for; efficiency is against one replica alone.\n")
	for _, s := range d.Scenarios {
		l.printf("\n## %s\n\nThe document says: %s.\n\n", s.Question, s.Says)
		l.printf("| case | step ms | compute ms | communication ms | exposed ms | scaling efficiency | fits |\n| --- | ---: | ---: | ---: | ---: | ---: | --- |\n")
		for _, r := range s.Rows {
			fits := "yes"
			if !r.Fits {
				fits = "no"
			}
			l.printf("| %s | %.1f | %.1f | %.1f | %.1f | %.0f %% | %s |\n", r.Label, r.StepMS, r.ComputeMS, r.CommunicationMS, r.ExposedMS, 100*r.ScalingEfficiency, fits)
		}
		l.printf("\n%s\n\n", s.Why)
		for _, r := range s.Rows {
			l.printf("    %s\n", r.Command)
		}
	}
	d.options(l)
	return l.err
}
