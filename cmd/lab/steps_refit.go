package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"railyard/internal/outfile"
	"railyard/model/workload"
)

// refits are how often shares are fitted at most: what a step takes is nearly linear in them, so that the second changes little.
const refits = 5

// refit fits what frameworks add until that changes nothing, and writes it into a file like model/workload/frameworks.yaml.
func (f *stepsFlags) refit(cmd *cobra.Command) error {
	fitted := map[workload.Share]bool{}
	for changed, i := true, 0; changed && i < refits; i++ {
		d, err := newStepFiles(f.Rows).validate(cmd)
		if err != nil {
			return err
		}
		changed = false
		factors := d.ShareFactors()
		for _, name := range slices.Sorted(maps.Keys(factors)) {
			share := workload.ParseShare(name)
			changed, fitted[share] = share.Scale(factors[name]) || changed, true
		}
	}
	text, err := os.ReadFile(f.Refit)
	if err != nil {
		return err
	}
	for share := range fitted {
		for _, key := range []string{share.Key, "attention"} {
			if text, err = rewritten(text, workload.Share{Framework: share.Framework, Key: key, GPU: share.GPU}); err != nil {
				return fmt.Errorf("%s: %w", f.Refit, err)
			}
		}
	}
	return outfile.Write(f.Refit, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// rewritten is the text with what a share is now. Attention may have none.
func rewritten(text []byte, s workload.Share) ([]byte, error) {
	value, ok := s.Value()
	if !ok {
		return text, nil
	}
	number := regexp.MustCompile(`(?m)(^  ` + s.Framework + `:\n(?:    .*\n)*?    ` + s.Key + `: \{.*?\b` + s.GPU + `: )[0-9.]+`)
	at := number.FindSubmatchIndex(text)
	if at == nil {
		return nil, fmt.Errorf("has no %s", s)
	}
	return slices.Concat(text[:at[3]], strconv.AppendFloat(nil, value, 'f', -1, 64), text[at[1]:]), nil
}
