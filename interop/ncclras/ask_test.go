package ncclras

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
)

// answering listens as NCCL does: reply says what is answered to a command, and whether the connection ends then.
func answering(t *testing.T, reply func(command string) (text string, last bool)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				for in := bufio.NewScanner(c); in.Scan(); {
					text, last := reply(in.Text())
					if fmt.Fprint(c, text); last {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}

// served answers as NCCL of one version does, of which testdata has what it knows.
func served(t *testing.T, file string, json bool) func(string) (string, bool) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return func(command string) (string, bool) {
		switch strings.ToLower(command) {
		case "client protocol 2":
			return "SERVER PROTOCOL 2\n", false
		case "set format json":
			if json {
				return "OK\n", false
			}
		case "verbose status":
			return string(data), true
		}
		return "ERROR: Unknown command " + command + "\n", false
	}
}

// TestAsk: of a job that runs now the answer is that of its file, as JSON or, of versions that have none, as text.
func TestAsk(t *testing.T) {
	for _, file := range []string{"ras_missing.json", "ras_missing.txt"} {
		data, err := Ask(context.Background(), answering(t, served(t, file, strings.HasSuffix(file, "json"))))
		if err != nil {
			t.Fatal(err)
		}
		roll, err := Parse(bytes.NewReader(data), "live")
		if err != nil || len(roll[0].Comms) == 0 || roll[0].Version != "2.28.9" {
			t.Errorf("%s: %+v, %v", file, roll, err)
		}
	}
}

// TestAskEndsInALine: whoever listens there, or nobody, is said in a line that says what to do.
func TestAskEndsInALine(t *testing.T) {
	hello := func(text string) func(string) (string, bool) {
		return func(string) (string, bool) { return text, true }
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := l.Addr().String()
	l.Close()
	for name, x := range map[string]struct{ address, want string }{
		"nobody":     {nobody, "no process listens there: ask on a node of a running job"},
		"a web page": {answering(t, hello("HTTP/1.1 400 Bad Request\n")), `answers "HTTP/1.1 400 Bad Request": that is not NCCL's RAS`},
		"silence":    {answering(t, hello("")), "hung up at CLIENT PROTOCOL 2"},
		"noise":      {answering(t, hello(strings.Repeat("x", maxLine+1))), "more than a line"},
		"no host":    {"[::1", "ask on a node"},
	} {
		if _, err := Ask(context.Background(), x.address); err == nil || !strings.Contains(err.Error(), x.want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", name, err, x.want)
		}
	}
}

// TestAskStops: a process that is stopped accepts and never answers; the question ends when its context does.
func TestAskStops(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	address := answering(t, func(string) (string, bool) {
		stop()
		return "", false
	})
	if _, err := Ask(ctx, address); err != context.Canceled {
		t.Errorf("%v", err)
	}
}
