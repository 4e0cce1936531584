package ncclras

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"railyard/interop/foreign"
)

// Port is where RAS listens, on each node of a job, unless NCCL_RAS_ADDR says otherwise.
const Port = "28028"

const (
	dialled = 5 * time.Second // within that, a connection is made or refused
	// gathered is how long NCCL waits for a process that does not answer, and once more for those behind it (ras_internal.h).
	gathered = 5 * time.Second
	answered = 3*gathered + dialled
)

// Ask asks the RAS of a running job how far each rank has come, at HOST or HOST:PORT of a node that it runs on. The answer is JSON, or text
// from versions before 2.28; Parse reads it. The protocol is that of ncclras (src/ras/client.cc of NCCL 2.24 to 2.30).
func Ask(ctx context.Context, address string) ([]byte, error) {
	if _, _, err := net.SplitHostPort(address); err != nil {
		address = net.JoinHostPort(strings.Trim(address, "[]"), Port)
	}
	ctx, stop := context.WithTimeout(ctx, answered)
	defer stop()
	c, err := (&net.Dialer{Timeout: dialled}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, unreachable(address, err)
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.SetDeadline(time.Unix(1, 0)) })()
	x := &client{Conn: c, in: bufio.NewReaderSize(c, maxLine)}
	data, err := x.status()
	switch {
	case err == nil:
		return data, nil
	case ctx.Err() == context.Canceled:
		return nil, context.Cause(ctx)
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = fmt.Errorf("no complete answer within %v: the process that listens there may be stopped: ask on another node of the job",
			answered)
	}
	return nil, fmt.Errorf("%s: %w", address, err)
}

// unreachable says what to do where nobody listens.
func unreachable(address string, err error) error {
	why := err.Error()
	if errors.Is(err, syscall.ECONNREFUSED) {
		why = "no process listens there"
	}
	return fmt.Errorf("%s: %s: ask on a node of a running job of NCCL 2.24 or later; NCCL_RAS_ENABLE=0 switches RAS off, NCCL_RAS_ADDR "+
		"moves it", address, why)
}

// client is a connection to RAS, which answers a line to each command, and to the last one all it knows.
type client struct {
	net.Conn
	in *bufio.Reader
}

func (x *client) status() ([]byte, error) {
	hello, err := x.command("CLIENT PROTOCOL 2")
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(hello, "SERVER PROTOCOL ") {
		return nil, fmt.Errorf("answers %.40q: that is not NCCL's RAS", hello)
	}
	if _, err := x.command("SET FORMAT json"); err != nil { // OK, or an error of versions that have text only
		return nil, err
	}
	if _, err := fmt.Fprintln(x, "VERBOSE STATUS"); err != nil {
		return nil, err
	}
	return foreign.Read(x.in, maxAnswer)
}

// command sends a command and returns the line that is answered.
func (x *client) command(text string) (string, error) {
	if _, err := fmt.Fprintln(x, text); err != nil {
		return "", err
	}
	line, err := x.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return "", fmt.Errorf("answers %s with more than a line: that is not NCCL's RAS", text)
	} else if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return "", fmt.Errorf("hung up at %s: that is not NCCL's RAS, or its process has ended", text)
	}
	return strings.TrimRight(string(line), "\r\n"), err
}
