package report

import "railyard/model/units"

// TrainingOption is a way to train a large model, with what a document says of it.
type TrainingOption struct {
	Label, Says, Command string
	Nodes, GPUs          int
	UnitsPerSecond, Days float64
	NodeHours            float64
	Each                 float64 // price of a node; 0: not in the price book
	Hour                 float64 // rent of a node, an hour; 0: nobody offers it
}

// options writes the table of ways to train.
func (d *Scenarios) options(l *lines) {
	if len(d.Options) == 0 {
		return
	}
	l.printf("\n## 175B model: PCIe server, DGX A100, cloud\n\nThe document says: 45 days and $162,000 / 18 days and $254,800 / 18 days and $125,960. Ours is for the %.0f billion tokens of GPT-3\n(Brown et al. 2020, table D.1), nodes at prices of %s (%s), without network, power and staff.\n\n", d.Tokens/1e9, d.Prices, d.PricesDate)
	l.printf("| option | says | ours: cluster | tokens/s | days | node-hours | nodes to buy | nodes rented |\n| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |\n")
	for _, o := range d.Options {
		buy, rent := "no price", "no offer"
		if o.Each > 0 {
			buy = money(o.Each * float64(o.Nodes))
		}
		if o.Hour > 0 {
			rent = money(o.Hour * o.NodeHours)
		}
		l.printf("| %s | %s | %s, %s | %.4g | %.1f | %s | %s | %s |\n", o.Label, o.Says, units.Counted(o.Nodes, "node"),
			units.Counted(o.GPUs, "GPU"), o.UnitsPerSecond, o.Days, money(o.NodeHours), buy, rent)
	}
	l.printf("\nThe document does not say how many servers or tokens it means. 300 billion tokens of a 175B model are 3·10²³ FLOP: hundreds of A100 for weeks,\nwhich no $162,000 buys. Its amounts would fit one to two servers, whose memory does not hold the model's states (16 bytes a\nparameter, 2.8 TB). What it has right is the order: PCIe is slower a GPU, and rent for weeks is less than the purchase.\n\n")
	for _, o := range d.Options {
		l.printf("    %s\n", o.Command)
	}
}
