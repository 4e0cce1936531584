package report

import "io"

// Scenarios are worked numbers of documents beside ours.
type Scenarios struct {
	Transfers []TransferScenario
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

// TransferScenario is a question about collectives and transfers alone.
type TransferScenario struct {
	Question, Says, Why string
	Rows                []TransferRow
}

// TransferRow is one of them: its time, and its bandwidth as nccl-tests count (busbw).
type TransferRow struct {
	Label, Command string
	MS, GBps       float64
}

// WriteMarkdown writes the page docs/scenarios.md.
func (d *Scenarios) WriteMarkdown(w io.Writer) error {
	l := &lines{w: w}
	l.printf("# Worked numbers, recomputed\n\n")
	l.printf("Written by `lab scenarios -o docs`. The project was asked for with documents that work such numbers\n")
	l.printf("out by hand; here is what they say, what railyard says, and why these differ. Of collectives, GB/s are the bus bandwidth of\n")
	l.printf("nccl-tests. Of training steps, communication counts all collectives of a GPU, exposed what it waits for; efficiency is\n")
	l.printf("against one replica alone.\n")
	d.transfers(l)
	for _, s := range d.Scenarios {
		l.printf("\n## %s\n\nThe document says: %s.\n\n", s.Question, s.Says)
		l.printf("| case | step ms | compute ms | communication ms | exposed ms | scaling efficiency | fits |\n| --- | ---: | ---: | ---: | ---: | ---: | --- |\n")
		for _, r := range s.Rows {
			fits := "yes"
			if !r.Fits {
				fits = "no"
			}
			l.printf("| %s | %.1f | %.1f | %.1f | %.1f | %.0f %% | %s |\n", r.Label, r.StepMS, r.ComputeMS, r.CommunicationMS, r.ExposedMS,
				100*r.ScalingEfficiency, fits)
		}
		l.printf("\n%s\n\n", s.Why)
		for _, r := range s.Rows {
			l.printf("    %s\n", r.Command)
		}
	}
	d.options(l)
	return l.err
}

func (d *Scenarios) transfers(l *lines) {
	for _, t := range d.Transfers {
		l.printf("\n## %s\n\nThe document says: %s.\n\n| case | ms | GB/s |\n| --- | ---: | ---: |\n", t.Question, t.Says)
		for _, r := range t.Rows {
			l.printf("| %s | %.2f | %.1f |\n", r.Label, r.MS, r.GBps)
		}
		l.printf("\n%s\n\n", t.Why)
		for _, r := range t.Rows {
			l.printf("    %s\n", r.Command)
		}
	}
}
