// Package kernel holds the sources of the GPU kernels: CUDA C++ for NVRTC. The same
// bodies compile for the CPU behind host.hpp; this package's test runs them there under
// ThreadSanitizer.
package kernel

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed src
var files embed.FS

// Headers are the files that kernels include, by name.
func Headers() map[string]string {
	out := map[string]string{}
	list, err := fs.Glob(files, "src/*.cuh")
	if err != nil {
		panic(err)
	}
	for _, name := range list {
		out[strings.TrimPrefix(name, "src/")] = Source(strings.TrimPrefix(name, "src/"))
	}
	return out
}

// Source is the text of a file.
func Source(name string) string {
	data, err := files.ReadFile("src/" + name)
	if err != nil {
		panic(err)
	}
	return string(data)
}
