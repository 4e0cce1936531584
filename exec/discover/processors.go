package discover

import (
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Processors are those of the machine below a root directory while something runs on it.
type Processors struct {
	tree      tree
	all, idle float64       // ticks of all of them, and those in which they had nothing to do
	own       time.Duration // what this process took of them
	began     time.Time
}

// WatchProcessors begins to watch.
func WatchProcessors(root string) *Processors {
	p := &Processors{tree: tree{root}, own: OwnTime(), began: time.Now()}
	p.all, p.idle = p.ticks()
	return p
}

// Others is the share of the processors that other programs have kept busy since; 0 where the system does not say.
func (p *Processors) Others() float64 {
	all, idle := p.ticks()
	if all <= p.all {
		return 0
	}
	count := float64(strings.Count(p.tree.text("proc/stat"), "\ncpu"))
	own := (OwnTime() - p.own).Seconds() / time.Since(p.began).Seconds() / count
	return max(0, 1-(idle-p.idle)/(all-p.all)-own)
}

// ticks are the first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq and steal; what guests took is in user and nice.
func (p *Processors) ticks() (all, idle float64) {
	line, _, _ := strings.Cut(p.tree.text("proc/stat"), "\n")
	fields := strings.Fields(line)
	for i := 1; i < min(len(fields), 9); i++ {
		n, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return 0, 0
		}
		if all += n; i == 4 || i == 5 {
			idle += n
		}
	}
	return all, idle
}

// OwnTime is the processor time that this process has taken.
func OwnTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
