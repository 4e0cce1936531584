package yamlfile

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// Library are shipped files of a format, called by their names, beside which users have files of their own.
type Library[T any] struct {
	Format
	Files fs.FS
	Dir   string // of them, in Files
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
func (l Library[T]) Names() []string {
	entries, _ := fs.ReadDir(l.Files, l.Dir) // embedded: it is there
	var out []string
	for _, e := range entries {
		out = append(out, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return out
}

// Get is what a shipped name or a path stands for, with values of the file changed as Set does.
func (l Library[T]) Get(name string, set ...string) (*T, error) {
	file, read := name, ReadFile
	if !IsPath(name) {
		file, read = name+".yaml (shipped)", func(name string) ([]byte, error) {
			return fs.ReadFile(l.Files, path.Join(l.Dir, name+".yaml"))
		}
	}
	data, err := read(name)
	switch {
	case err == nil:
		return l.Read(file, data, set...)
	case IsPath(name):
		return nil, err
	}
	return nil, fmt.Errorf("there is no %s %q: name a file, or one of %s", l.Noun, name, strings.Join(l.Names(), ", "))
}

// Read reads a file's text, with values changed.
func (l Library[T]) Read(file string, data []byte, set ...string) (*T, error) {
	d := &Diagnostics{File: file}
	root := l.Parse(d, data)
	if root == nil {
		return nil, d.Err()
	}
	for _, s := range set {
		if err := l.Set(root, s); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	var x T
	l.Decode(d, root, &x)
	if err := d.Err(); err != nil {
		return nil, err
	}
	return &x, nil
}
