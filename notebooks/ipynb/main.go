// Ipynb says whether notebooks that have run did so without a failure. nbconvert ends
// well although a cell panics, and a picture can get lost on its way; so the outputs of
// each cell are looked through.
//
//	go run ./notebooks/ipynb EXECUTED.ipynb …
//
// It prints what failed, by file and cell, and ends with 1 if anything did.
package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	if !report(os.Stdout, os.Args[1:]) {
		os.Exit(1)
	}
}

// report prints the failures of each notebook; it is false if there are any, or no
// notebooks.
func report(w io.Writer, files []string) bool {
	if len(files) == 0 {
		fmt.Fprintln(w, "ipynb: name the notebooks that have run")
		return false
	}
	well := true
	for _, file := range files {
		n, err := Read(file)
		if err != nil {
			fmt.Fprintln(w, err)
			well = false
			continue
		}
		for _, f := range n.Failures() {
			fmt.Fprintf(w, "%s: %s\n", file, f)
			well = false
		}
	}
	return well
}
