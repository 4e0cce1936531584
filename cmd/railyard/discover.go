package main

import (
	"bytes"
	"io"
	"time"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/exec/discover"
	"railyard/topologies"
)

// liveTopology is the name of the machine that railyard runs on.
const liveTopology = "live"

// source finds a topology as topologies.Source does, and the live machine.
func source(name string) (string, []byte, error) {
	if name != liveTopology {
		return topologies.Source(name)
	}
	var b bytes.Buffer
	err := describe(&b)
	return liveTopology, b.Bytes(), err
}

// describe writes the live machine's topology file.
func describe(w io.Writer) error {
	l, err := discover.Open()
	if err != nil {
		return err
	}
	defer l.Close()
	return discover.Write(w, l, "/", time.Now().UTC())
}

// discoverFlags say where the description goes.
type discoverFlags struct {
	Out string `flag:"output,o,writes"`
}

// Run describes the live machine.
func (f *discoverFlags) Run(cmd *cobra.Command, _ []string) error {
	var b bytes.Buffer
	if err := describe(&b); err != nil {
		return err
	}
	return cli.WriteBytes(cmd, f.Out, b.Bytes())
}
