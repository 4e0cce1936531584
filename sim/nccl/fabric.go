package nccl

import (
	"fmt"
	"strings"

	"railyard/model/cost"
	"railyard/model/topology"
)

// fabricOf is the kind of a topology's network: as given, else as its links say.
func fabricOf(t *topology.Topology, given string) (string, error) {
	if given == "" {
		return cost.FabricOf(t), nil
	}
	name, ok := cost.FabricNamed(given)
	if !ok {
		return "", fmt.Errorf("fabric %s is not known: must be one of %s", given, strings.Join(cost.Fabrics, ", "))
	}
	return name, nil
}
