package fit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"railyard/model/cost"
	"railyard/model/units"
)

// runs are times of machines on a medium, off from the library's estimates by given factors and, each machine by itself,
// by a spread.
func runs(over string, machines int, truth cost.Estimate, spread float64) []KernelCase {
	rng := rand.New(rand.NewPCG(3, 4))
	var out []KernelCase
	for i := range machines {
		own := math.Exp(spread * rng.NormFloat64())
		for size := units.KiB; size <= 4*units.GiB; size *= 2 {
			c := KernelCase{KernelKey: cost.KernelKey{Over: over}, System: fmt.Sprint(over, i), Size: size, Latency: 25e6,
				Bytes: float64(size) / 300e9 * 1e12}
			for _, c.Protocol = range []string{cost.LL, "simple"} {
				l, b := truth.Corrected(c.Latency, c.Bytes, size, c.Protocol)
				c.Time = units.Time(own * (l + b))
				out = append(out, c)
			}
		}
	}
	return out
}

func estimateOver(list []cost.Estimate, over string) cost.Estimate {
	return *(&cost.Profile{Estimates: list}).Estimate(over)
}

// What machines are off by is found again; a network that nobody measured has what networks have in common, and one odd
// machine does not move the others.
func TestEstimatesAreFoundAgain(t *testing.T) {
	efa, ib := cost.Estimate{Latency: 6, Bytes: 1.05, Flags: 2}, cost.Estimate{Latency: 1.5, Bytes: 1, Flags: 1.5}
	cases := append(runs("efa", 8, efa, 0.05), runs("ib", 8, ib, 0.05)...)
	list := Estimates(cases)
	for over, want := range map[string]cost.Estimate{"efa": efa, "ib": ib} {
		got := estimateOver(list, over)
		if !near(got.Latency, want.Latency, 0.12) || !near(got.Bytes, want.Bytes, 0.05) ||
			!near(got.Flags, want.Flags, 0.1) || got.Systems != 8 {
			t.Errorf("%s: %+v, want %+v", over, got, want)
		}
	}
	for _, over := range []string{"tcpx", "a new one"} { // like no other, as far as is known
		if got := estimateOver(list, over); got.Over != cost.AnyNetwork || got.Latency < 1.5 || got.Latency > 6 || got.Systems != 16 {
			t.Errorf("%s, which is not known: %+v", over, got)
		}
	}
	odd := runs("ib", 1, cost.Estimate{Latency: 40, Bytes: 1}, 0)
	for i := range odd {
		odd[i].System = "odd"
	}
	if got, before := estimateOver(Estimates(append(cases, odd...)), "ib"), estimateOver(list, "ib"); !near(got.Latency,
		before.Latency, 0.1) {
		t.Errorf("one odd machine of nine: latency %v, %v without", got.Latency, before.Latency)
	}
}

// A network that nobody measured is believed to be like those that are driven alike, more than like all networks.
func TestNetworksDrivenAlikeAreAlike(t *testing.T) {
	slow, fast := cost.Estimate{Latency: 6, Bytes: 1, Flags: 2}, cost.Estimate{Latency: 1.5, Bytes: 1, Flags: 2}
	cases := append(runs(cost.Sockets, 5, slow, 0.05), runs("tcpxo", 5, slow, 0.05)...)
	list := Estimates(append(cases, runs("ib", 5, fast, 0.05)...))
	all := estimateOver(list, "a new one").Latency
	if got := estimateOver(list, "tcpx").Latency; got < 1.3*all || got < 3.5 || got > 6.5 {
		t.Errorf("latencies of sockets are %.3g, of one more %.3g, of all networks %.3g", slow.Latency, got, all)
	}
	if got := estimateOver(list, "roce").Latency; got > all/1.2 || got < 1.4 {
		t.Errorf("latencies of verbs are %.3g, of one more %.3g, of all networks %.3g", fast.Latency, got, all)
	}
}

// However many rows a machine has, it weighs as much as another.
func TestMachinesWeighTheSame(t *testing.T) {
	slow, fast := runs("ib", 1, cost.Estimate{Latency: 2, Bytes: 1}, 0), runs("ib", 1, cost.Estimate{Latency: 1.5,
		Bytes: 1}, 0)
	for i := range slow {
		slow[i].System = "slow"
	}
	want := estimateOver(Estimates(append(slow, fast...)), "ib")
	many := slow
	for range 9 {
		many = append(many, slow...)
	}
	if got := estimateOver(Estimates(append(many, fast...)), "ib"); !near(got.Latency, want.Latency, 1e-3) {
		t.Errorf("latency %v with ten times as many rows of one machine, %v with as many", got.Latency, want.Latency)
	}
}

// Nine of ten rows of machines that bands were not made from lie inside, where machines differ from one another more
// than their rows do, too; a basis of no machines takes the class's.
func TestBandsHoldMostMisses(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	draw := func(machines int) (misses []Miss) {
		for i := range machines {
			latency, bytes := 0.4*rng.NormFloat64(), 0.05*rng.NormFloat64()
			for range 30 {
				misses = append(misses,
					Miss{Across: "nvlink", Basis: cost.OwnKernel, System: fmt.Sprint(i), Size: units.KiB, Off: latency +
						0.2*rng.NormFloat64()},
					Miss{Across: "nvlink", Basis: cost.OwnKernel, System: fmt.Sprint(i), Size: units.GiB, Off: bytes +
						0.02*rng.NormFloat64()})
			}
		}
		return misses
	}
	var own, other *cost.Band
	inside, rows := 0.0, 0.0
	for range 20 {
		p := &cost.Profile{Bands: Bands(draw(20))}
		own, other = p.Band("nvlink", cost.OwnKernel, 8), p.Band("nvlink", cost.OtherKernel, 8)
		for _, m := range draw(20) {
			if rows++; math.Abs(m.Off) <= math.Log(own.Factor(m.Size)) {
				inside++
			}
		}
	}
	if share := inside / rows; share < 0.85 || share > 0.95 || own.Systems != 20 {
		t.Errorf("%+v holds %.3f of rows", own, share)
	}
	if !slices.Equal(other.Factors, own.Factors) || other.Systems != 0 {
		t.Errorf("%+v, the class has %+v", other, own)
	}
	first, last := own.Factors[0].Factor, own.Factors[len(own.Factors)-1].Factor
	if own.Factor(1) != first || own.Factor(1024*units.GiB) != last || last >= first {
		t.Errorf("%v: factor %v of a byte, %v of 1 TiB", own.Factors, own.Factor(1), own.Factor(1024*units.GiB))
	}
}

// A machine of many rows counts by these as well: where it alone is off by far, a band of nine of ten machines would hold half of the rows.
func TestBandsHoldMostRows(t *testing.T) {
	var misses []Miss
	add := func(system string, rows int, off float64) {
		for range rows {
			misses = append(misses, Miss{Across: "nvlink", Basis: cost.OwnKernel, System: system, Off: off})
		}
	}
	for i := range 40 {
		add(fmt.Sprint(i), 1, 0.1)
	}
	add("many", 40, 0.7)
	if factor := (&cost.Profile{Bands: Bands(misses)}).Band("nvlink", cost.OwnKernel, 8).Factor(units.MiB); factor < math.Exp(0.7) {
		t.Errorf("factor %.3f: half of the rows are off by 2", factor)
	}
}

// Between the sizes of a band factors lie on a line of logarithms.
func TestBandsAreInterpolated(t *testing.T) {
	b := cost.Band{Factors: []cost.Off{{Size: 4 * units.KiB, Factor: 1}, {Size: 64 * units.KiB, Factor: 4}, {Size: units.MiB, Factor: 2}}}
	for size, want := range map[units.Bytes]float64{0: 1, units.KiB: 1, 4 * units.KiB: 1, 16 * units.KiB: 2, 64 * units.KiB: 4,
		256 * units.KiB: math.Sqrt(8), units.MiB: 2, units.GiB: 2} {
		if got := b.Factor(size); math.Abs(got/want-1) > 1e-12 {
			t.Errorf("%v: %v, want %v", size, got, want)
		}
	}
}

// Few machines that happen to agree are not believed, and worse kernels never have the narrower band.
func TestBandsOfFewMachinesAreNotNarrow(t *testing.T) {
	var misses []Miss
	for i := range 10 {
		misses = append(misses, Miss{Across: cost.Across, Basis: cost.OwnKernel, System: fmt.Sprint(i), Off: 0.1 * float64(i)})
	}
	one := Miss{Across: cost.Across, Basis: cost.OwnEstimate, System: "one", Off: 0.01}
	p := &cost.Profile{Bands: Bands(append(misses, one))}
	if own, estimate := p.Band(cost.Across, cost.OwnKernel, 8), p.Band(cost.Across, cost.OwnEstimate, 8); estimate.Factor(1) < own.Factor(1) ||
		own.Factor(1) < math.Exp(0.8) || estimate.Systems != 1 {
		t.Errorf("own %+v, estimate of one machine %+v", own, estimate)
	}
}

// Where predictions of many ranks across a network are off by more, their band is wider; it is never narrower than that of any number.
func TestBandsOfManyRanks(t *testing.T) {
	for _, wide := range []float64{0.5, 4} {
		var misses []Miss
		for i := range 20 {
			off := 0.02 * float64(i)
			misses = append(misses, Miss{Across: cost.Across, Basis: cost.OwnKernel, System: fmt.Sprint(i), Ranks: 16, Off: off},
				Miss{Across: cost.Across, Basis: cost.OwnKernel, System: fmt.Sprint(i), Ranks: 128, Off: wide * off})
		}
		p := &cost.Profile{Bands: Bands(misses)}
		few, many := p.Band(cost.Across, cost.OwnKernel, 16).Factor(1), p.Band(cost.Across, cost.OwnKernel, 128).Factor(1)
		if many < few || wide > 1 && many <= few {
			t.Errorf("%v times as far off: band %v, of few ranks %v", wide, many, few)
		}
	}
}

// A medium that is off by more than others of its class has the wider band, and kernels of a kind that nobody measured in a class have
// that of their kind elsewhere, not that of better ones.
func TestBandsOfMedia(t *testing.T) {
	var misses []Miss
	for i := range 20 {
		off := 0.01 * float64(i)
		misses = append(misses, Miss{Across: "nvlink", Basis: cost.OwnKernel, System: fmt.Sprint("n", i), Off: off},
			Miss{Across: cost.Rack, Basis: cost.OwnKernel, System: fmt.Sprint("r", i), Off: 2 * off},
			Miss{Across: cost.Across, Basis: cost.OwnEstimate, System: fmt.Sprint("e", i), Off: 4 * off})
	}
	p := &cost.Profile{Bands: Bands(misses)}
	of := func(medium, basis string) float64 { return math.Log(p.Band(medium, basis, 8).Factor(units.MiB)) }
	nvlink, rack, xgmi := of("nvlink", cost.OwnKernel), of(cost.Rack, cost.OwnKernel), of("xgmi", cost.OwnKernel)
	if nvlink > 0.2 || nvlink >= xgmi || xgmi >= rack {
		t.Errorf("NVLink %.3f, not measured %.3f, racks %.3f", nvlink, xgmi, rack)
	}
	if estimate := of("nvlink", cost.OwnEstimate); estimate < 0.6 {
		t.Errorf("an estimate over NVLink %.3f, where own kernels have %.3f and estimates across networks 0.76", estimate, nvlink)
	}
}
