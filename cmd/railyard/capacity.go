package main

import (
	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
)

// newCapacity groups the questions about what to buy.
func newCapacity() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "capacity",
		Short: "What to buy, what it will do, what a failure costs",
		Example: `  railyard capacity step -t superpod-h100 --nodes 32 -w llama-3-70b
  railyard capacity step -t superpod-h100 --nodes 512 -w llama-3-405b --top 10 --journal search.jsonl
  railyard capacity size superpod-h100 --nodes 32`,
	}, newCapacityStep(), newCapacityWhatIf(), newCapacitySize(), newCapacitySweep())
}
