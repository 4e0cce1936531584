package nccllog

import (
	"reflect"
	"strings"
	"testing"

	"railyard/model/observed"
)

// TestNetworksWithSpaces: the way is told in full where a network's name has a space.
func TestNetworksWithSpaces(t *testing.T) {
	text := "a:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 16 cudaDev 0 nvmlDev 0 busId 53000 commId 0x9 - Init START\n" +
		"a:1:2 [0] NCCL INFO Channel 00/0 : 15[7] -> 0[0] [receive] via NET/AWS Libfabric/0/GDRDMA/Shared\n"
	log, err := Parse(File{Name: "a", Reader: strings.NewReader(text)})
	if err != nil {
		t.Fatal(err)
	}
	if w := log.Comms[0].Connections[0]; w.Transport() != "NET/AWS Libfabric" || !w.GPUDirect() {
		t.Errorf("%+v", w)
	}
}

// TestSends: adapters are those of NCCL's numbers, of which one with two ports has two; GPUs are numbers, or PCI addresses in hexadecimal,
// also where these have no letter. Several adapters as one are not told apart.
func TestSends(t *testing.T) {
	for _, x := range []struct {
		gpu, via string
		want     observed.Send
	}{
		{"5", "1", observed.Send{GPU: 5, Adapter: "mlx5_0"}},
		{"15", "2/GDRDMA", observed.Send{GPU: 15, Adapter: "mlx5_1", Direct: true}},
		{"1000", "2", observed.Send{GPU: -1, Bus: "0000:01:00.0", Adapter: "mlx5_1"}},
		{"170", "2", observed.Send{GPU: -1, Bus: "0000:00:17.0", Adapter: "mlx5_1"}},
		{"bb000", "2", observed.Send{GPU: -1, Bus: "0000:bb:00.0", Adapter: "mlx5_1"}},
		{"5", "3", observed.Send{}},
	} {
		text := "a:1:2 [5] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_0:2/IB [2]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.1<0>\n" +
			"a:1:2 [5] NCCL INFO Channel 00/0 : 5[" + x.gpu + "] -> 13[" + x.gpu + "] [send] via NET/IB/" + x.via + "\n"
		log, err := Parse(File{Name: "a", Reader: strings.NewReader(text)})
		if err != nil {
			t.Fatal(err)
		}
		var want []observed.Send
		if x.want.Adapter != "" {
			x.want.Place, x.want.Host = observed.Place{File: "a", Line: 2}, "a"
			want = append(want, x.want)
		}
		if !reflect.DeepEqual(log.Sends, want) {
			t.Errorf("%s over %s: %#v, want %#v", x.gpu, x.via, log.Sends, want)
		}
	}
}
