package cluster

import (
	"crypto/tls"
	"time"
)

// Options of Join; zero values are the defaults named.
type Options struct {
	Secret    []byte        // 32 bytes that all ranks share (ReadSecret); nil: only within this machine
	Wait      time.Duration // for all ranks to come: a minute
	Beat      time.Duration // between signs of life: 300 ms
	Dead      time.Duration // without a sign of life until a rank is lost: 2 s
	Handshake time.Duration // until whoever connects must have said who it is: 5 s
	Linger    time.Duration // for ranks that come late to hear why there is no run: 10 s

	tls *tls.Config
}

func (o Options) withDefaults() (Options, error) {
	for _, x := range []struct {
		value *time.Duration
		or    time.Duration
	}{{&o.Wait, time.Minute}, {&o.Beat, 300 * time.Millisecond}, {&o.Dead, 2 * time.Second}, {&o.Handshake, 5 * time.Second},
		{&o.Linger, 10 * time.Second}} {
		if *x.value == 0 {
			*x.value = x.or
		}
	}
	var err error
	o.tls, err = identity(o.Secret)
	return o, err
}
