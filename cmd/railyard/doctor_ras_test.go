package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
)

// TestAsksRAS: a job that stands is asked twice, and the answers agree; one whose ranks do not differ is asked once. Who listens there
// plays testdata's answers of NCCL 2.28.9.
func TestAsksRAS(t *testing.T) {
	missing, err := os.ReadFile("../../interop/ncclras/testdata/ras_missing.json")
	if err != nil {
		t.Fatal(err)
	}
	later := bytes.Replace(missing, []byte(`"timestamp": "`), []byte(`"timestamp": "then `), 1)
	healthy := []byte(`{"nccl_version": "2.28.9", "communicators_count": 0, "communicators": []}`)
	for _, x := range []struct {
		answers [][]byte
		says    string
		fails   bool
	}{
		{[][]byte{missing, later}, "hangs in AllReduce 3: rank 3 on 127.0.0.1", true},
		{[][]byte{missing, healthy}, "judged: 2 files", false},
		{[][]byte{healthy}, "judged: 1 file", false},
	} {
		var out bytes.Buffer
		cmd := newRoot()
		cmd.SetArgs([]string{"doctor", "--how", "ras=" + playRAS(t, x.answers) + ",interval=1ms"})
		cmd.SetOut(&out)
		if err := cmd.Execute(); (err != nil) != x.fails || !strings.Contains(strings.Join(strings.Fields(out.String()), " "), x.says) {
			t.Errorf("%v\n%s\nwant %s", err, &out, x.says)
		}
	}
}

// playRAS answers questions in turn.
func playRAS(t *testing.T, answers [][]byte) (address string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for _, answer := range answers {
			c, err := l.Accept()
			if err != nil {
				return
			}
			in := bufio.NewScanner(c)
			for _, say := range []string{"SERVER PROTOCOL 2\n", "OK\n", string(answer)} {
				in.Scan()
				fmt.Fprint(c, say)
			}
			c.Close()
		}
	}()
	return l.Addr().String()
}
