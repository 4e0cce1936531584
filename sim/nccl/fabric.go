package nccl

import (
	"fmt"
	"slices"
	"strings"

	"railyard/model/cost"
	"railyard/model/topology"
)

// fabricOf is the kind of a topology's network: as given, else as its links say.
func fabricOf(t *topology.Topology, given string) (string, error) {
	switch {
	case given == "":
		return cost.FabricOf(t), nil
	case !slices.Contains(cost.Fabrics, given):
		return "", fmt.Errorf("fabric %s is not known: must be one of %s", given, strings.Join(cost.Fabrics, ", "))
	}
	return given, nil
}
