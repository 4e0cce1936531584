package nccl

import (
	"slices"
	"strings"

	"railyard/model/collective"
)

// AllowedAlgorithms are those that a value of NCCL_ALGO leaves a collective; false where NCCL refuses the value.
func AllowedAlgorithms(value string, k collective.Kind) ([]string, bool) {
	return allowed(value, k, algoNames[:])
}

// AllowedProtocols are those that a value of NCCL_PROTO leaves a collective; false where NCCL refuses the value.
func AllowedProtocols(value string, k collective.Kind) ([]string, bool) {
	return allowed(value, k, protoNames[:])
}

// allowed reads a value as NCCL does since 2.24 (parseList in src/graph/tuning.cc): lists between semicolons, each behind the name of its
// collective, but for the first, which may be for all; ^ before a list leaves all others. Case does not matter.
func allowed(value string, k collective.Kind, names []string) (out []string, ok bool) {
	out = names
	for i, part := range strings.Split(value, ";") {
		of, list, one := strings.Cut(part, ":")
		if !one {
			of, list = "", part
		}
		without := strings.HasPrefix(list, "^")
		var named []string
		for _, word := range strings.Split(strings.TrimPrefix(list, "^"), ",") {
			at := slices.IndexFunc(names, func(name string) bool { return strings.EqualFold(name, word) })
			if at < 0 {
				return nil, false
			}
			named = append(named, names[at])
		}
		if !one && i > 0 || one && !isKind(of) {
			return nil, false
		}
		if !one || strings.EqualFold(of, plainKind(k)) {
			out = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(named, name) == without })
		}
	}
	return out, true
}

// plainKind is the name of a collective as NCCL writes it, but for case.
func plainKind(k collective.Kind) string { return strings.ReplaceAll(k.String(), "_", "") }

func isKind(name string) bool {
	return slices.ContainsFunc(kinds[:], func(k collective.Kind) bool { return strings.EqualFold(name, plainKind(k)) })
}
