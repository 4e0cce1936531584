package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is what plans and results carry as their tool version.
const version = "0.1.0"

// release says which railyard this is: release, commit, what it was built with.
func release() string {
	return fmt.Sprintf("%s%s, %s, %s/%s", version, commit(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// commit is what it was built from, "" where the build does not say.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	said := map[string]string{}
	for _, s := range info.Settings {
		said[s.Key] = s.Value
	}
	switch revision := said["vcs.revision"]; {
	case revision == "":
		return ""
	case said["vcs.modified"] == "true":
		return " (" + revision[:12] + ", changed)"
	default:
		return " (" + revision[:12] + ")"
	}
}
