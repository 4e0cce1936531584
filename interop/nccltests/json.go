package nccltests

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"railyard/model/measurement"
)

// document is what -J writes, as far as it is used here.
type document struct {
	Args   []string `json:"args"`
	Config struct {
		Threads int `json:"nthreads"`
		GPUs    int `json:"ngpus"`
		Graph   int `json:"graph"`
		Devices []struct {
			Rank int    `json:"rank"`
			Host string `json:"hostname"`
		} `json:"devices"` // one of each process, or of each rank
	} `json:"config"`
	Results []struct {
		Size       int64   `json:"size"`
		Type       string  `json:"type"`
		Redop      string  `json:"redop"`
		OutOfPlace *result `json:"out_of_place"`
		InPlace    *result `json:"in_place"`

		Iterations *iterations `json:"out_of_place_per_iter"`
	} `json:"results"`
}

type result struct {
	Time  *decimal `json:"time"`
	AlgBW decimal  `json:"alg_bw"`
	BusBW decimal  `json:"bus_bw"`
	Wrong decimal  `json:"nwrong"`
}

// decimal is a number, which is text where it is none ("nan").
type decimal float64

func (d *decimal) UnmarshalJSON(data []byte) error {
	if text := string(data); text == `"nan"` || text == `"-nan"` {
		*d = decimal(math.NaN())
		return nil
	}
	return json.Unmarshal(data, (*float64)(d))
}

func (d decimal) text() string { return strconv.FormatFloat(float64(d), 'g', -1, 64) }

// ParseJSON reads the JSON output. The collective and the number of ranks are the
// document's, where it has them, else those given.
func ParseJSON(r io.Reader, file, given string, ranks int) (*measurement.Set, error) {
	var d document
	if err := json.NewDecoder(r).Decode(&d); err != nil {
		return nil, fmt.Errorf("%s: not the JSON of nccl-tests: %w", file, err)
	}
	if len(d.Results) == 0 {
		return nil, fmt.Errorf("%s: has no \"results\"", file)
	}
	one, err := d.head(ranks)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for i, x := range d.Results {
		if x.OutOfPlace == nil || x.OutOfPlace.Time == nil {
			return nil, fmt.Errorf("%s: result %d has no time out of place", file, i)
		}
		if us := float64(*x.OutOfPlace.Time); x.Size < 0 || us < 0 || us > maxMicroseconds {
			return nil, fmt.Errorf("%s: result %d: size %d and time %v must not be negative, nor the time above %g", file, i, x.Size,
				us, float64(maxMicroseconds))
		}
		m := newRow(x.Size, x.Type, x.Redop, []string{x.OutOfPlace.Time.text(), x.OutOfPlace.AlgBW.text(), x.OutOfPlace.BusBW.text()})
		m.Line = i + 1
		take(&m, float64(*x.OutOfPlace.Time), x.OutOfPlace.Wrong.text())
		if x.InPlace != nil && x.InPlace.Time != nil {
			takeInPlace(&m, x.InPlace.Time.text(), x.InPlace.Wrong.text())
		}
		one.rows = append(one.rows, m)
	}
	return joined(file, []run{one}, nil, given)
}

// maxGPUs bounds the GPUs of a process.
const maxGPUs = 1024

// head is what the document says of the run.
func (d *document) head(ranks int) (run, error) {
	one := run{graph: d.Config.Graph, known: map[string]bool{}, ranks: map[string]int{}}
	if len(d.Args) > 0 {
		if m := binaryName().FindStringSubmatch(d.Args[0]); m != nil {
			one.name = m[1]
		}
	}
	threads, gpus := max(d.Config.Threads, 1), max(d.Config.GPUs, 1)
	if threads > maxGPUs || gpus > maxGPUs/threads {
		return one, fmt.Errorf(`"config" has %d GPUs a thread and %d threads: a process has %d GPUs at most`, gpus, threads, maxGPUs)
	}
	per := threads * gpus
	if at := d.Config.Devices; len(at) > 1 && at[1].Rank == at[0].Rank+1 {
		per = 1
	}
	for _, p := range d.Config.Devices {
		for range per {
			one.rank(strconv.Itoa(len(one.known)), "", p.Host)
		}
	}
	if len(d.Config.Devices) == 0 {
		for i := range ranks {
			one.known[strconv.Itoa(i)] = true
		}
	}
	return one, nil
}
