package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"railyard/internal/outfile"
	"railyard/model/cost"

	"github.com/spf13/cobra"
)

// WriteBytes writes bytes into a file, whole or not at all; without a path to a command's output.
func WriteBytes(cmd *cobra.Command, path string, data []byte) error {
	write := func(w io.Writer) error { _, err := w.Write(data); return err }
	if path == "" {
		return write(cmd.OutOrStdout())
	}
	return outfile.Write(path, write)
}

// StreamTo writes a file as its lines come, so that what was measured before a failure is kept; without a path to a command's output.
func StreamTo(cmd *cobra.Command, path string, write func(io.Writer) error) error {
	if path == "" {
		return write(cmd.OutOrStdout())
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// WriteMachine writes a machine's file.
func WriteMachine(path string, m *cost.Machine) error {
	return outfile.Write(path, func(w io.Writer) error { return cost.Encode(w, m) })
}

// MachineAt is the machine of a file whose parts are measured one by one; a new one where there is none.
func MachineAt(path, name string) (*cost.Machine, error) {
	m, err := cost.GetMachine(path)
	if errors.Is(err, fs.ErrNotExist) {
		return cost.NewMachine(name), nil
	}
	return m, err
}
