package block

import (
	"strings"
	"testing"

	"railyard/model/collective"
	"railyard/model/schedule"
)

// The kernels never use multicast: a schedule that needs it is refused, with what to do.
func TestInNetworkSchedulesAreRefused(t *testing.T) {
	s := &schedule.Schedule{Algorithm: "in_network", Spec: collective.Spec{Kind: collective.Broadcast, Ranks: 4}, Protocol: schedule.Simple,
		Channels: []schedule.Channel{{Share: 1, Slices: 1, Chunks: 1,
			Phases: []schedule.Phase{{Gen: schedule.GenSwitch, Op: collective.Broadcast,
				Groups: schedule.Groups{List: []schedule.Group{{Ranks: schedule.RankList{0, 1, 2, 3}}}}, Src: schedule.Input,
				Dst: schedule.Output}}}}}
	s.Needs = s.Uses()
	if err := schedule.Check(s, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := Compile(s, Options{Count: 64, Size: 4, Instances: 1}); err == nil || !strings.Contains(err.Error(), "--no-in-network") {
		t.Errorf("%v", err)
	}
	if _, err := CompileCopies(s, Options{Count: 64, Size: 4, Instances: 1}); err == nil {
		t.Error("compiled for copy engines")
	}
}
