package report

import (
	_ "embed"
	"fmt"
	"strings"
	"text/template"

	"railyard/model/units"
	"railyard/report/table"
)

//go:embed sentences.tmpl
var sentences string

func init() {
	table.Say(sentences, template.FuncMap{"collective": collectiveWords, "size": size, "gigabytes": gigabytes, "where": where, "at": at,
		"brackets": inBrackets, "because": because, "layout": LayoutWords, "count": counted, "number": number, "sentence": sentence,
		"ncclWay": func(algorithm string) string { return ncclWays[algorithm] },
		"ranges":  func(list []int) string { return units.Ranges(list, ", ") },
		"numbers": func(n int) string { return fmt.Sprintf("0-%d", n-1) },
		"next":    func(i int) int { return i + 1 },
		"percent": func(share float64) string { return fmt.Sprintf("%g %%", 100*share) },
		"more":    func(before, after float64) string { return signedMoney(after - before) }})
}

// at says of which machine costs are.
func at(topology string, ranks int, profile string) string {
	if profile == "ideal" {
		return fmt.Sprintf("on %s, ideal: at line rates, without latency or overhead, which no machine reaches", where(topology, ranks))
	}
	return fmt.Sprintf("on %s, costs of machine %s", where(topology, ranks), profile)
}

// number is a whole number as tables have it.
func number(n int) string { return table.Thousands(float64(n)) }

// counted is a number of things: 1 node, 53,296 layouts.
func counted(n int, thing string) string {
	_, things, _ := strings.Cut(units.Counted(n, thing), " ")
	return number(n) + " " + things
}

// sentence begins a text with a capital and ends it with a full stop.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + strings.TrimSuffix(text[1:], ".") + "."
}
