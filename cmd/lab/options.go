package main

import (
	"errors"

	"railyard/model/price"
	"railyard/model/topology"
	"railyard/report"
	"railyard/topologies"
)

// gpt3Tokens is what GPT-3 175B was trained on (Brown et al., "Language Models are Few-Shot
// Learners", arXiv 2005.14165, table D.1).
const gpt3Tokens = 300e9

// optionRow is a way to train a 175B model, with what a document says of it.
type optionRow struct {
	Option         string  `json:"option" text:"option"`
	Says           string  `json:"says" text:"says"`
	Nodes          int     `json:"nodes" text:"nodes"`
	GPUs           int     `json:"gpus" text:"GPUs"`
	UnitsPerSecond float64 `json:"units_per_second" text:"tokens/s" as:"rate"`
	Days           float64 `json:"days" text:"days"`
	NodeHours      float64 `json:"node_hours" text:"node-hours" as:"count"`
	Bought         float64 `json:"purchase" text:"nodes to buy" as:"money" zero:"no price" doc:"0: not in the price book"`
	Rented         float64 `json:"rent" text:"nodes rented" as:"money" zero:"no offer" doc:"0: nobody offers them"`
	Prices         string  `json:"prices" text:"prices"`
}

// trainingOption is how long a step's machine takes for all tokens, and what its nodes cost.
func trainingOption(program string, c command) (optionRow, error) {
	var d report.StepDocument
	if err := c.answer(program, &d); err != nil {
		return optionRow{}, err
	}
	node, err := topology.Load(topologies.Source, d.Topology, topology.Options{Nodes: 1})
	if err != nil {
		return optionRow{}, err
	}
	book, err := price.Default()
	if err != nil {
		return optionRow{}, err
	}
	row := optionRow{Option: c.cells[0], Says: c.cells[1], Nodes: d.GPUs / node.NumRanks(), GPUs: d.GPUs, UnitsPerSecond: d.UnitsPerSecond,
		Days: gpt3Tokens / d.UnitsPerSecond / 86400, Prices: book.Name + " of " + book.Date}
	row.NodeHours = row.Days * 24 * float64(row.Nodes)
	one, err := book.Node(node.NodeTemplate(0))
	var missing *price.Missing
	switch {
	case err == nil:
		row.Bought = one.Price * float64(row.Nodes)
	case !errors.As(err, &missing):
		return row, err
	}
	if offers := book.Rent(node.NodeTemplate(0)); len(offers) > 0 {
		row.Rented = offers[0].Hour * row.NodeHours
	}
	return row, nil
}
