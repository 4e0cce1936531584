package ibnet

import (
	"io"
	"reflect"
	"strings"
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/interop/interoptest"
	"railyard/model/survey"
)

// valid has the form of what Topograph keeps of a SuperPOD (NVIDIA/topograph, tests/output/ibnetdiscover), with names of our own.
const valid = `#
# Topology file: generated on Wed Aug  6 16:11:23 2025
#
vendid=0x2c9
switchguid=0xa1(a1)
Switch	65 "S-a1"		# "MF0;LEAF-1:MQM9701/U1" enhanced port 0 lid 73 lmc 0
[1]	"H-c1"[1](c1) 		# "node-01 mlx5_5" lid 647 4xNDR
[2]	"H-c2"[1](c2) 		# "node-02 mlx5_5" lid 641 4xNDR
[35]	"S-b1"[1]		# "MF0;SPINE-1:MQM9701/U1" lid 236 4xNDR
[36]	"S-b1"[2]		# "MF0;SPINE-1:MQM9701/U1" lid 236 4xNDR
[65]	"H-c9"[1](c9) 		# "Mellanox Technologies Aggregation Node" lid 193 4xNDR

Switch	65 "S-a2"		# "MF0;LEAF-2:MQM9701/U1" enhanced port 0 lid 74 lmc 0
[1]	"H-c3"[1](c3) 		# "node-03 HCA-6" lid 647 4xNDR
[2]	"H-c4"[1](c4) 		# "MT4129 ConnectX7   Mellanox Technologies" lid 641 4xNDR
[35]	"S-b1"[3]		# "MF0;SPINE-1:MQM9701/U1" lid 236 4xNDR
[36]	"S-b1"[4]		# "MF0;SPINE-1:MQM9701/U1" lid 236 4xNDR

Switch	65 "S-b1"		# "MF0;SPINE-1:MQM9701/U1" enhanced port 0 lid 236 lmc 0
[1]	"S-a1"[35]		# "MF0;LEAF-1:MQM9701/U1" lid 73 4xNDR
[3]	"S-a2"[35]		# "MF0;LEAF-2:MQM9701/U1" lid 74 4xNDR

vendid=0x2c9
caguid=0xc1
Ca	1 "H-c1"		# "node-01 mlx5_5"
[1](c1) 	"S-a1"[1]		# lid 647 lmc 0 "MF0;LEAF-1:MQM9701/U1" lid 73 4xNDR
`

var broken = []interoptest.Mistake{
	{"lid 647 4xNDR", "lid 647 4xZDR", "line 7: speed 4xZDR is not known"},
	{"[2]\t\"H-c2\"[1](c2)", "(2) H-c2", "line 8: unexpected line"},
	{"node-01 mlx5_5\" lid 647", "node-02 mlx5_6\" lid 647", ""}, // node-02 has two adapters and is left out
	{valid, "no network\n", "no switch in it"},
	{"\"node-03 HCA-6\"", "\"node-01 mlx5_6\"", ""},
}

// pairs is the same network as ibnetdiscover -p prints it.
const pairs = `CA   647  1 0xc1 4x NDR - SW    73  1 0xa1 ( 'node-01 mlx5_5' - 'MF0;LEAF-1:MQM9701/U1' )
CA   641  1 0xc2 4x NDR - SW    73  2 0xa1 ( 'node-02 mlx5_5' - 'MF0;LEAF-1:MQM9701/U1' )
SW    73  1 0xa1 4x NDR - CA   647  1 0xc1 ( 'MF0;LEAF-1:MQM9701/U1' - 'node-01 mlx5_5' )
SW    73  2 0xa1 4x NDR - CA   641  1 0xc2 ( 'MF0;LEAF-1:MQM9701/U1' - 'node-02 mlx5_5' )
SW    73 35 0xa1 4x NDR - SW   236  1 0xb1 ( 'MF0;LEAF-1:MQM9701/U1' - 'MF0;SPINE-1:MQM9701/U1' )
SW    73 36 0xa1 4x NDR - SW   236  2 0xb1 ( 'MF0;LEAF-1:MQM9701/U1' - 'MF0;SPINE-1:MQM9701/U1' )
SW    73 37 0xa1 4x ???                                    'MF0;LEAF-1:MQM9701/U1'
SW    73 38 0xa1 4x SDR                                    Infiniscale-IV Mellanox Technologies
SW    73 65 0xa1 4x NDR - CA   193  1 0xc9 ( 'MF0;LEAF-1:MQM9701/U1' - 'Mellanox Technologies Aggregation Node' )
SW    74  1 0xa2 4x NDR - CA   647  1 0xc3 ( 'MF0;LEAF-2:MQM9701/U1' - 'node-03 HCA-6' )
SW    74  2 0xa2 4x NDR - CA   641  1 0xc4 ( 'MF0;LEAF-2:MQM9701/U1' - 'MT4129 ConnectX7   Mellanox Technologies' )
SW    74 35 0xa2 4x NDR - SW   236  3 0xb1 ( 'MF0;LEAF-2:MQM9701/U1' - 'MF0;SPINE-1:MQM9701/U1' )
SW    74 36 0xa2 4x NDR - SW   236  4 0xb1 ( 'MF0;LEAF-2:MQM9701/U1' - 'MF0;SPINE-1:MQM9701/U1' )
SW   236  1 0xb1 4x NDR - SW    73 35 0xa1 ( 'MF0;SPINE-1:MQM9701/U1' - 'MF0;LEAF-1:MQM9701/U1' )
SW   236  3 0xb1 4x NDR - SW    74 35 0xa2 ( 'MF0;SPINE-1:MQM9701/U1' - 'MF0;LEAF-2:MQM9701/U1' )
`

// Both outputs of ibnetdiscover describe one network.
func TestPairsAgree(t *testing.T) {
	want, err := network(strings.NewReader(valid))
	if err != nil {
		t.Fatal(err)
	}
	got, err := network(strings.NewReader(pairs))
	if err != nil || !Begins([]byte(pairs)) || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	_, err = network(strings.NewReader(strings.Replace(pairs, "4x NDR - CA   193", "4x ZDR - CA   193", 1)))
	if err == nil || !strings.Contains(err.Error(), "line 9: speed 4x ZDR is not known") {
		t.Error(err)
	}
}

func network(r io.Reader) (*survey.Network, error) {
	f, err := ReadDiscover(r)
	if err != nil {
		return nil, err
	}
	return f.Network(&survey.Network{Name: "x", Source: "a test"})
}

func TestReadDiscover(t *testing.T) {
	n, err := network(strings.NewReader(valid))
	if err != nil || len(n.Leaves) != 2 || strings.Join(n.Leaves[0], " ") != "node-01 node-02" || n.Adapters != 1 || n.Rails != 1 ||
		n.Rate != 50e9 || !reflect.DeepEqual(n.Levels, []survey.Level{{Group: []int{2}, Uplinks: 2}, {Count: 1}}) {
		t.Errorf("%+v %v", n, err)
	}
	interoptest.Mistakes(t, valid, broken, func(r io.Reader) error { _, err := network(r); return err })
}

const links = `CA: n01 HCA-1:
      0x0000000000000001      1    1[  ] ==( 4X      25.78125 Gbps Active/  LinkUp)==>       2   18[  ] "MF0;SB7700:MSB7700/U1" ( )
Switch: 0x248a070300928180 MF0;SB7700:MSB7700/U1:
           2   17[  ] ==( 4X      106.25 Gbps Active/  LinkUp)==>       4    1[  ] "n02 HCA-1" ( )
           2   18[  ] ==( 4X      106.25 Gbps Active/  LinkUp)==>       1    1[  ] "n01 HCA-1" ( )
           2   19[  ] ==(                Down/ Polling)==>             [  ] "" ( )
`

func readLinks(r io.Reader) (*survey.Network, error) {
	f, err := ReadLinks(r)
	if err != nil {
		return nil, err
	}
	return f.Network(&survey.Network{Name: "x", Source: "a test"})
}

func TestReadLinks(t *testing.T) {
	n, err := readLinks(strings.NewReader(links))
	if err != nil || len(n.Leaves) != 1 || strings.Join(n.Leaves[0], " ") != "n01 n02" || n.Rate != 50e9 || len(n.Levels) != 1 {
		t.Errorf("%+v %v", n, err)
	}
	interoptest.Mistakes(t, links, []interoptest.Mistake{
		{"106.25 Gbps", "107 Gbps", "line 4: speed 4X 107 Gbps is not known"},
		{"2   17[  ]", "two 17[  ]", "line 4: unexpected line"},
		{"Switch:", "Router:", "line"},
	}, func(r io.Reader) error { _, err := readLinks(r); return err })
}

// What iblinkinfo prints beside the plain case (infiniband-diags/iblinkinfo.c): a line for each link (-l), ports with the number that
// stands at the cage, settings (-p), a port without its other end, FDR10.
func TestLinkInfoVariants(t *testing.T) {
	const lines = `0x0000000000000001 "                     n01 HCA-1"      1    1[  ] ==( 4X         106.25 Gbps Active/  LinkUp)==>  ` +
		`0x248a070300928180      2   18[ 9] "MF0;SB7700:MSB7700/U1" ( )
0x248a070300928180 "         MF0;SB7700:MSB7700/U1"      2   17[ 9] ==( 4X         106.25 Gbps Active/  LinkUp)==>  ` +
		`0x0000000000000003      4    1[  ] "n02 HCA-1" ( )
0x248a070300928180 "         MF0;SB7700:MSB7700/U1"      2   18[ 9] ==( 4X         106.25 Gbps Active/  LinkUp)==>  ` +
		`0x0000000000000001      1    1[  ] "n01 HCA-1" ( )
`
	for name, text := range map[string]string{
		"a line for each link": lines,
		"ports of cages":       strings.NewReplacer("17[  ]", "17[ 9]", "18[  ]", "18[10]").Replace(links),
		"settings":             strings.ReplaceAll(links, "LinkUp)", "LinkUp) (HOQ:12 VL_Stall:7)"),
		"no other end": links + `           2   20[  ] ==( 4X      106.25 Gbps Active/  LinkUp)==>      "Port not available"
`,
	} {
		n, err := readLinks(strings.NewReader(text))
		if err != nil || len(n.Leaves) != 1 || strings.Join(n.Leaves[0], " ") != "n01 n02" || n.Rate != 50e9 {
			t.Errorf("%s: %+v %v", name, n, err)
		}
	}
	n, err := readLinks(strings.NewReader(strings.ReplaceAll(links, "106.25 Gbps", "10.0 Gbps (FDR10)")))
	if err != nil || n.Rate != 5e9 {
		t.Errorf("FDR10: %+v %v", n, err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(links))
	interoptest.Fuzz(f, valid, broken, func(t *testing.T, r io.Reader) {
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		for _, read := range []func(io.Reader) (*survey.Network, error){network, readLinks} {
			if n, err := read(strings.NewReader(string(data))); err == nil {
				interoptest.Topology(t, n)
			}
		}
	})
}
