package report

// TrainingOption is a way to train a 175B model, with what a document says of it.
type TrainingOption struct {
	Label          string  `json:"option" text:"option"`
	Says           string  `json:"says" text:"says"`
	Command        string  `json:"command"`
	Nodes          int     `json:"nodes" text:"nodes"`
	GPUs           int     `json:"gpus" text:"GPUs"`
	UnitsPerSecond float64 `json:"units_per_second" text:"tokens/s" as:"rate"`
	Days           float64 `json:"days" text:"days"`
	NodeHours      float64 `json:"node_hours" text:"node-hours" as:"count"`
	Bought         float64 `json:"purchase" text:"nodes to buy" as:"money" zero:"no price" doc:"0: not in the price book"`
	Rented         float64 `json:"rent" text:"nodes rented" as:"money" zero:"no offer" doc:"0: nobody offers them"`
	Prices         string  `json:"prices" text:"prices"`
}
