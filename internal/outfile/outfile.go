// Package outfile writes files whole or not at all, so that who is killed leaves none that is half written.
package outfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Write writes a file whole or not at all. Links are followed; what is no file but a
// pipe or a device (/dev/stdout) is written to as it is.
func Write(path string, write func(io.Writer) error) error {
	switch info, err := os.Stat(path); {
	case err != nil:
		return replaceFile(path, path, write)
	case info.IsDir():
		return fmt.Errorf("%s is a directory: name a file in it", path)
	case !info.Mode().IsRegular():
		return writeInto(path, write)
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	return replaceFile(path, target, write)
}

// replaceFile puts a new file in the target's place when all of it is written; errors
// speak of path.
func replaceFile(path, target string, write func(io.Writer) error) error {
	tmp, err := os.CreateTemp(filepath.Dir(target), ".railyard-*")
	if err != nil {
		return ofFile(path, err) // not the file beside it
	}
	defer os.Remove(tmp.Name())
	err = write(tmp)
	if err == nil {
		err = tmp.Chmod(0o644)
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return ofFile(path, err)
	}
	return ofFile(path, os.Rename(tmp.Name(), target))
}

func writeInto(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return ofFile(path, errors.Join(write(f), f.Close()))
}

// ofFile is an error of the file system with the name that the user gave.
func ofFile(path string, err error) error {
	var wrong *os.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &wrong):
		return fmt.Errorf("%s: %w", path, wrong.Err)
	case errors.As(err, &link):
		return fmt.Errorf("%s: %w", path, link.Err)
	}
	return err
}
