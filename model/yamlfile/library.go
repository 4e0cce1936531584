package yamlfile

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// Library are shipped files of one kind, called by their names, beside which users have files of their own.
type Library struct {
	Files fs.FS
	Dir   string // of them, in Files
	Noun  string // of one: "workload"
}

// IsPath tells the path of a file from the name of a shipped one: it has a slash or ends in .yaml or .yml.
func IsPath(name string) bool {
	return strings.Contains(name, "/") || strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}

// ReadFile reads what Parse takes at most, and a byte more of a larger file, so that it refuses it.
func ReadFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MaxFile+1))
}

// Names are the shipped ones, sorted.
func (l Library) Names() []string {
	entries, _ := fs.ReadDir(l.Files, l.Dir) // embedded: it is there
	var out []string
	for _, e := range entries {
		out = append(out, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return out
}

// Get is what a shipped name or a path stands for: its text, and the file that mistakes are in.
func (l Library) Get(name string) (file string, data []byte, err error) {
	if IsPath(name) {
		data, err = ReadFile(name)
		return name, data, err
	}
	if data, err = fs.ReadFile(l.Files, path.Join(l.Dir, name+".yaml")); err != nil {
		err = fmt.Errorf("there is no %s %q: name a file, or one of %s", l.Noun, name, strings.Join(l.Names(), ", "))
	}
	return name + ".yaml (shipped)", data, err
}
