package chosen

import (
	"strings"
	"testing"

	"railyard/model/health"
)

// What adapters say of messages that fail breaks a job, with what to look at; as NVIDIA/nccl#1405, #1737 and 2.28 write it.
func TestCompletions(t *testing.T) {
	const at = "w0:3468:3905 [4] ib_plugin.c:1615 NCCL WARN NET/IB : Got completion from peer 10.0.0.2<"
	for _, c := range []struct {
		text     string
		findings int
		level    health.Level
		says, do string
	}{
		{at + "54862> with status=12 opcode=0 len=0 vendor err 129 (Recv) localGid fd00::1 remoteGidsfd00::2\n" +
			at + "49892> with status=12 opcode=0 len=0 vendor err 129 (Recv) localGid fd00::1 remoteGidsfd00::2\n" +
			"w0:3468:3905 [4] NCCL INFO transport/net.cc:1302 -> 6\nw0:3468:3905 [4] NCCL INFO proxy.cc:878 -> 6 [Progress Thread]\n",
			1, health.Broken, "(2 times)", "ib_write_bw"},
		{at + "54891> with error 5, opcode 0, len 0, vendor err 249\n", 1, health.Notice, "error 5", "earlier completion"},
		{at + "54862> with status=IBV_WC_RNR_RETRY_EXC_ERR(13) opcode=0 vendor_err=135\n", 1, health.Broken, "(13)", "peer's rank"},
		{at + "54862> with status=99 opcode=0\n", 1, health.Notice, "status=99", "first warning"},
	} {
		got, _ := find(t, "", c.text)
		if len(got) != c.findings || got[0].Level != c.level || !strings.Contains(got[0].Says, c.says) || !strings.Contains(got[0].Do, c.do) {
			t.Errorf("%s\n%+v", c.text, got)
		}
	}
	for _, text := range []string{"54862> with status=99 opcode=0", "54891> with error 5, opcode 0, len 0, vendor err 249"} {
		got, _ := find(t, "", at+text+"\nw0:3468:3905 [4] NCCL INFO proxy.cc:878 -> 6 [Progress Thread]\n")
		wantFailed(t, got)
	}
}

// wantFailed is that a job ended with what a warning says.
func wantFailed(t *testing.T, got []health.Finding) {
	t.Helper()
	if len(got) != 1 || got[0].Level != health.Broken || !strings.Contains(got[0].Says, "remote process exited or network error") {
		t.Errorf("%+v", got)
	}
}
