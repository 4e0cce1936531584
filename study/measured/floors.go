package measured

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"

	"railyard/model/collective"
	"railyard/model/measurement"
	"railyard/model/units"
	"railyard/sim/nccl"
)

// runKey is what rows of one run with one launch floor share.
type runKey struct {
	id, launch, dtype string
	algo, proto       string // NCCL_ALGO and NCCL_PROTO are a process's
	kind              collective.Kind
	gpus              int
}

func runOf(m measurement.Row) runKey {
	return runKey{m.ID, m.Launch, m.DType, m.Algo, m.Proto, m.Collective, m.GPUs}
}

// floorSize is the size up to which a run's times show nothing but its launch floor; of
// a run that begins with a larger one, its first size.
const floorSize = nccl.LaunchSize

// Floors are what a launch costs in each run, at least.
type Floors map[runKey]units.Time

// launch is what starting one GPU's kernel takes at most: nccl-tests and PyTorch take 3 to 10 µs (series sb-a100x8,
// mle-h200x8 in validation/); a first row that takes more was a run that had not warmed up.
const launch = 15 * units.Microsecond

// clearOfLaunches is how many times its launch floor a run must take to say what the kernel takes. Launches and kernels add in
// squares (nccl.PredictLaunched): at six times the floor launches are one or two percent of the time, less than two runs differ by.
const clearOfLaunches = 6

// channelLaunch is what the launching process takes longer for each channel of each GPU, where NCCL is older than sharedWork: it
// prepares 512 bytes of work for each and copies them to host memory that GPUs map (uploadWork in NCCL's src/enqueue.cc). From 8 to
// 24 channels of 4 or 8 A100 it is 0.16 to 0.31 µs (series dkh-a100x8, sb-a100x8, stanage-a100x4, mle-a100x8 in validation/).
const channelLaunch = 200 * units.Nanosecond

// sharedWork is the version from which on all channels share one work, which a launch has in its arguments ("compress work structs
// so that they are shared between channels", NCCL 2.22.3).
var sharedWork = [2]int{2, 22}

// graphLaunch is what launching a graph takes for each GPU of a process, and graphSize the operations in one of nccl-tests, whose times
// are of one launch: 167 of its cases up to 256 KiB on H200 take 1.3 µs more on two GPUs and 2.7 on four, in the median, than operations
// in graphs that follow one another (validation/h200-nccl.csv and docs/measured/h200-4/nccl.csv, the same machine).
const (
	graphLaunch = 13500 * units.Nanosecond
	graphSize   = 20
)

// launch is what launches take in a row's run.
func (c *Cases) launch(m measurement.Row) nccl.Launch {
	l := nccl.Launch{Floor: c.Floors[runOf(m)]}
	gpus := units.Time(m.GPUs / max(m.Nodes, 1))
	if c.Graphs && m.Launch == "graph" && !m.Replayed {
		l.Ahead = gpus * graphLaunch / graphSize
	}
	if before(cmp.Or(m.NCCLVersion, c.Version), sharedWork) {
		l.Channel = gpus * channelLaunch
	}
	return l
}

var versions = regexp.MustCompile(`(\d+)\.(\d+)`)

// before reports whether a version of NCCL or RCCL is known, and older than another.
func before(version string, other [2]int) bool {
	v := versions.FindStringSubmatch(version)
	if v == nil {
		return false
	}
	major, _ := strconv.Atoi(v[1])
	minor, _ := strconv.Atoi(v[2])
	return major < other[0] || major == other[0] && minor < other[1]
}

// LaunchFloors finds the floor of every run in which one process launches for all GPUs:
// a parameter of the run, not of the hardware. It is the median of the times of its
// smallest sizes, but no more than any larger one took, or than launches can cost.
func LaunchFloors(rows []measurement.Row, single func(measurement.Row) bool) Floors {
	least := map[runKey]units.Bytes{}
	for _, m := range rows {
		if k := runOf(m); m.Size > 0 && (least[k] == 0 || m.Size < least[k]) {
			least[k] = m.Size
		}
	}
	small := map[runKey][]units.Time{}
	for _, m := range rows {
		if single(m) && m.Size > 0 && m.Size <= max(floorSize, least[runOf(m)]) && m.Time > 0 {
			small[runOf(m)] = append(small[runOf(m)], m.Time)
		}
	}
	floors := Floors{}
	for k, times := range small {
		slices.Sort(times)
		floors[k] = times[len(times)/2]
	}
	for _, m := range rows {
		k := runOf(m)
		if floors[k] == 0 || m.Time <= 0 {
			continue
		}
		floors[k] = min(floors[k], launch*units.Time(m.GPUs/max(m.Nodes, 1)))
		if m.Size > max(floorSize, least[k]) {
			floors[k] = min(floors[k], m.Time)
		}
	}
	return floors
}

// AutoFloors are the floors of a file's runs, as far as its rows show them.
func (c *Cases) AutoFloors(rows []measurement.Row) Floors {
	return LaunchFloors(rows, func(m measurement.Row) bool { return Streamed(m) || m.Launch == "" && c.floored(m) })
}

// SameFloor is one floor for all runs of a file.
func SameFloor(rows []measurement.Row, t units.Time) Floors {
	floors := Floors{}
	for _, m := range rows {
		floors[runOf(m)] = t
	}
	return floors
}

// floored reports whether a small measurement takes so much longer than its kernel that
// the launch must be what was measured.
func (c *Cases) floored(m measurement.Row) bool {
	if len(c.profile.Kernels) == 0 || m.Size > floorSize {
		return false
	}
	alone := *c
	alone.Floors = nil // of another file
	p, err := alone.predictLibrary(m)
	return err == nil && m.Time > 2*p.Time
}

// Streamed are rows that one process launched for every GPU.
func Streamed(m measurement.Row) bool { return m.Launch == "stream" }
