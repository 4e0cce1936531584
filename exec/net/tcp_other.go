//go:build !linux

package net

import (
	"errors"
	stdnet "net"
)

// TCP is a Transport over sockets, where the system is Linux.
type TCP struct{ Transport }

func newTCP(int, []string, [][]*stdnet.TCPConn) (*TCP, error) {
	return nil, errors.New("runs over several processes need Linux")
}
