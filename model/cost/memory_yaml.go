package cost

import (
	"fmt"

	"railyard/model/units"
)

type levelInFile struct {
	From         string `yaml:"from"`
	Alone        string `yaml:"alone"`
	InputCopy    string `yaml:"input_copy"`
	InputCombine string `yaml:"input_combine"`
	FreshCopy    string `yaml:"fresh_copy"`
	FreshCombine string `yaml:"fresh_combine"`
}

func (l *levelInFile) rates() [5]*string {
	return [5]*string{&l.Alone, &l.InputCopy, &l.InputCombine, &l.FreshCopy, &l.FreshCombine}
}

var rateNames = [5]string{"alone", "input_copy", "input_combine", "fresh_copy", "fresh_combine"}

// memory reads levels: all rates must be given, sizes ascend.
func (r *reader) memory(levels []levelInFile) []Level {
	var out []Level
	for i := range levels {
		at := fmt.Sprintf("memory level %d", i)
		l := Level{From: optional(r, at+" from", levels[i].From, units.ParseBytes)}
		to := l.rates()
		for k, text := range levels[i].rates() {
			what := at + " " + rateNames[k]
			if *to[k] = optional(r, what, *text, units.ParseRate); *to[k] == 0 {
				r.fail("%s: must be given and positive", what)
			}
		}
		if i > 0 && l.From <= out[i-1].From {
			r.fail("%s: from %v must be larger than the level before", at, l.From)
		}
		out = append(out, l)
	}
	return out
}

func memoryText(levels []Level) []levelInFile {
	var out []levelInFile
	for i := range levels {
		l := levelInFile{From: levels[i].From.String()}
		to := l.rates()
		for k, rate := range levels[i].rates() {
			*to[k] = rateText(*rate)
		}
		out = append(out, l)
	}
	return out
}
