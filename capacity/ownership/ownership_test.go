package ownership

import (
	"math"
	"strings"
	"testing"

	"railyard/capacity/inventory"
	_ "railyard/internal/long" // accepts -long
	"railyard/model/price"
	"railyard/model/topology"
)

func book() *price.Book {
	return &price.Book{Name: "test", Currency: "USD",
		Nodes:    []price.Node{{Template: "box", Price: 1000, Watts: 500}},
		Switches: []price.Switch{{Class: "wire", Ports: 8, Price: 90, Watts: 40}, {Class: "wire", Ports: 64, Price: 900}},
		Cables:   []price.Cable{{Class: "wire", Price: 10, Watts: 5, Optical: true}},
		Cloud:    []price.Cloud{{Template: "box", Offer: "dear", Hour: 1}, {Template: "box", Offer: "cheap", Hour: 0.01}},
		Running: price.Running{KWh: price.Figure{Value: 0.1}, PUE: price.Figure{Value: 1.5}, Space: price.Figure{Value: 20},
			Staff: price.Figure{Value: 1200}, StaffPer: price.Figure{Value: 4}, Maintenance: price.Figure{Value: 0.12},
			Idle: price.Figure{Value: 0.5}}}
}

func boxes() inventory.Inventory {
	return inventory.Inventory{GPUs: 8, Nodes: []inventory.Nodes{{Template: "box", Count: 2, GPUs: 4}},
		Switches: []inventory.Switches{{Kind: topology.Leaf, Class: "wire", Ports: 4, Count: 1}},
		Cables:   []inventory.Cables{{Class: "wire", Count: 4}}}
}

// Worked by hand: 2·1000 + 90 + 4·10 = 2130; 1000 + 40 + 20 = 1060 W.
func TestBillByHand(t *testing.T) {
	bill, err := Of(boxes(), book(), Plan{Months: 24, Utilisation: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	hours := hoursAMonth
	energy := 1.060 * 0.75 * 1.5 * hours * 0.1
	month := energy + 1.060*20 + 0.5*1200/12 + 2130*0.12/12
	for _, f := range []struct {
		what      string
		got, want float64
	}{
		{"purchase", bill.Purchase, 2130}, {"network", bill.NetPart, 130}, {"watts", bill.Watts, 1060},
		{"energy", bill.Month.Energy, energy}, {"month", bill.Month.Sum(), month},
		{"24 months", bill.Owned[24], 2130 + 24*month}, {"rent", bill.Rents[0].Month, 2 * hours * 0.5},
		{"GPU hour", bill.GPUHour, (2130 + 24*month) / (24 * hours * 0.5 * 8)},
	} {
		if math.Abs(f.got-f.want) > 1e-9*math.Abs(f.want) {
			t.Errorf("%s: %v, by hand %v", f.what, f.got, f.want)
		}
	}
	if bill.Optics != 8 || bill.CableCount != 4 || bill.SwitchCount != 1 {
		t.Errorf("%d optics, %d cables, %d switches; want 8, 4, 1", bill.Optics, bill.CableCount, bill.SwitchCount)
	}
	breakEven := int(math.Floor(2130/(2*hours*0.5-month))) + 1
	if got := bill.Rents[0].BreakEven; got != breakEven || bill.Rents[1].BreakEven != 0 {
		t.Errorf("break-even in months %d and %d, want %d and never", got, bill.Rents[1].BreakEven, breakEven)
	}
}

func TestWhatCannotBePriced(t *testing.T) {
	inv := boxes()
	inv.Switches[0].Ports = 100
	for _, c := range []struct {
		inv  inventory.Inventory
		plan Plan
		want string
	}{
		{boxes(), Plan{Months: 0, Utilisation: 1}, "months: 0"},
		{boxes(), Plan{Months: 12, Utilisation: math.NaN()}, "utilisation"},
		{boxes(), Plan{Months: 12, Utilisation: 1.5}, "utilisation"},
		{inv, Plan{Months: 12, Utilisation: 1}, "no price for switches of 100 ports of class wire"},
	} {
		if _, err := Of(c.inv, book(), c.plan); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want one with %q", c.plan, err, c.want)
		}
	}
}
