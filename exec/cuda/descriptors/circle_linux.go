package descriptors

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Listener waits for other processes.
type Listener struct {
	Card   Card
	socket *net.UnixListener
}

// Listen makes a socket that only this user reaches.
func Listen() (*Listener, error) {
	machine, err := machine(os.TempDir())
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "railyard-") // of mode 0700
	if err != nil {
		return nil, err
	}
	l := &Listener{Card: Card{Machine: machine, Path: filepath.Join(dir, "meet"), Token: rand.Text()}}
	if l.socket, err = net.ListenUnix("unixpacket", &net.UnixAddr{Name: l.Card.Path, Net: "unixpacket"}); err != nil {
		return nil, errors.Join(err, os.Remove(dir))
	}
	return l, nil
}

// Close takes the socket away; who has met goes on.
func (l *Listener) Close() error {
	return errors.Join(l.socket.Close(), os.RemoveAll(filepath.Dir(l.Card.Path)))
}

// machine names what two processes must have in common: the running kernel, the folder as they see it, the user.
func machine(folder string) (string, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	var st unix.Stat_t
	if err := unix.Stat(folder, &st); err != nil {
		return "", fmt.Errorf("%s: %w", folder, err)
	}
	return fmt.Sprintf("%s %d:%d user %d", strings.TrimSpace(string(boot)), st.Dev, st.Ino, os.Getuid()), nil
}

// Circle is processes that hand one another descriptors, numbered as the cards that they met by.
type Circle struct {
	own   int
	conns []*net.UnixConn // nil for this process
}

// Meet connects the processes of some cards, of which own is this one; all of them call it.
func (l *Listener) Meet(ctx context.Context, own int, cards []Card) (*Circle, error) {
	c := &Circle{own: own, conns: make([]*net.UnixConn, len(cards))}
	stop := context.AfterFunc(ctx, func() { _ = l.socket.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	for i := range own { // who comes later calls
		conn, err := call(ctx, own, cards[i])
		if err != nil {
			return nil, errors.Join(fmt.Errorf("process %d of this node: %w", i, err), c.Close())
		}
		c.conns[i] = conn
	}
	for missing := len(cards) - own - 1; missing > 0; {
		conn, err := l.socket.AcceptUnix()
		if err != nil {
			return nil, errors.Join(ended(ctx, err), c.Close())
		}
		from, err := answer(conn, l.Card.Token)
		if err != nil || from <= own || from >= len(cards) || c.conns[from] != nil {
			conn.Close() // none of these
			continue
		}
		c.conns[from], missing = conn, missing-1
	}
	return c, nil
}

// ended is why a call failed: because of the context where that has ended.
func ended(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

func call(ctx context.Context, own int, to Card) (*net.UnixConn, error) {
	c, err := new(net.Dialer).DialContext(ctx, "unixpacket", to.Path)
	if err != nil {
		return nil, err
	}
	conn := c.(*net.UnixConn)
	if err = sameUser(conn); err == nil {
		_, err = fmt.Fprintf(conn, "%s %d", to.Token, own)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// answerFor is how long whoever calls has to say who it is.
const answerFor = 5 * time.Second

// answer is the number of a process that has called.
func answer(conn *net.UnixConn, token string) (from int, err error) {
	if err := sameUser(conn); err != nil {
		return 0, err
	}
	_ = conn.SetDeadline(time.Now().Add(answerFor))
	text := make([]byte, 64)
	n, err := conn.Read(text)
	if err != nil {
		return 0, err
	}
	said, number, _ := strings.Cut(string(text[:n]), " ")
	if said != token {
		return 0, errors.New("a stranger")
	}
	if from, err = strconv.Atoi(number); err != nil {
		return 0, err
	}
	return from, conn.SetDeadline(time.Time{})
}

// sameUser refuses other users' processes.
func sameUser(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var peer *unix.Ucred
	var failed error
	if err := raw.Control(func(fd uintptr) {
		peer, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET,
			unix.SO_PEERCRED)
	}); err != nil {
		return err
	}
	if failed == nil && int(peer.Uid) != os.Getuid() {
		failed = fmt.Errorf("user %d, not %d", peer.Uid, os.Getuid())
	}
	return failed
}

// Most bytes and descriptors of a message.
const (
	maxMessage     = 64 << 10
	maxDescriptors = 128
)

// Exchange hands the messages of all processes, which are not empty, with descriptors to all: messages and copies of
// descriptors by process, none of its own. Whoever gets descriptors closes them.
func (c *Circle) Exchange(ctx context.Context, message []byte, fds []int) (messages [][]byte, copies [][]int, err error) {
	stop := context.AfterFunc(ctx, func() {
		for _, conn := range c.conns {
			if conn != nil {
				_ = conn.SetDeadline(time.Unix(1, 0))
			}
		}
	})
	defer stop()
	for i, conn := range c.conns {
		if conn == nil {
			continue
		}
		if _, _, err := conn.WriteMsgUnix(message, syscall.UnixRights(fds...), nil); err != nil {
			return nil, nil, fmt.Errorf("process %d of this node: %w", i, ended(ctx, err))
		}
	}
	messages, copies = make([][]byte, len(c.conns)), make([][]int, len(c.conns))
	for i, conn := range c.conns {
		if conn == nil {
			continue
		}
		if messages[i], copies[i], err = read(conn); err != nil {
			return nil, nil, fmt.Errorf("process %d of this node: %w", i, ended(ctx, err))
		}
	}
	return messages, copies, nil
}

// read is a message with its descriptors.
func read(conn *net.UnixConn) ([]byte, []int, error) {
	text, control := make([]byte, maxMessage), make([]byte, syscall.CmsgSpace(4*maxDescriptors))
	n, m, flags, _, err := conn.ReadMsgUnix(text, control)
	switch {
	case err != nil:
		return nil, nil, err
	case n == 0:
		return nil, nil, errors.New("it is gone")
	case flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0:
		return nil, nil, fmt.Errorf("a message of more than %d bytes or %d descriptors", maxMessage, maxDescriptors)
	}
	parts, err := syscall.ParseSocketControlMessage(control[:m])
	if err != nil {
		return nil, nil, err
	}
	var fds []int
	for i := range parts {
		more, err := syscall.ParseUnixRights(&parts[i])
		if err != nil {
			return nil, nil, err
		}
		fds = append(fds, more...)
	}
	return text[:n], fds, nil
}

// Close ends the connections.
func (c *Circle) Close() error {
	var errs []error
	for _, conn := range c.conns {
		if conn != nil {
			errs = append(errs, conn.Close())
		}
	}
	return errors.Join(errs...)
}

// NewMemory is a descriptor of memory of its own, zeroed, that several processes can map.
func NewMemory(bytes int) (fd int, err error) {
	if fd, err = unix.MemfdCreate("railyard", unix.MFD_CLOEXEC); err != nil {
		return -1, fmt.Errorf("memory to share: %w", err)
	}
	if err := unix.Ftruncate(fd, int64(bytes)); err != nil {
		return -1, errors.Join(err, unix.Close(fd))
	}
	return fd, nil
}
