package cluster

import (
	"crypto"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"
)

// protocol separates keys of this use, and of this form of messages, from all others.
const protocol = "railyard control 1"

// errSecret: the other end holds another key.
var errSecret = errors.New("another secret")

// identity makes what both ends of a control connection show and demand: a certificate of a
// key that only a secret yields. Names, dates and authorities say nothing here: who has the
// key is let in. TLS 1.3 signs as client and as server over different texts, so that neither
// end can be shown its own signature. Without a secret the key is public, which protects
// nothing: such connections stay within the machine (checkReach).
func identity(secret []byte) (*tls.Config, error) {
	seed, err := hkdf.Key(sha256.New, secret, nil, protocol, ed25519.SeedSize)
	if err != nil {
		return nil, err
	}
	key := ed25519.NewKeyFromSeed(seed)
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0)}
	der, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion:             tls.VersionTLS13,
		Certificates:           []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		ClientAuth:             tls.RequireAnyClientCert,
		InsecureSkipVerify:     true, // no authority has signed this certificate: VerifyConnection pins its key
		SessionTicketsDisabled: true,
		NextProtos:             []string{protocol},
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) != 1 || !pinned(s.PeerCertificates[0].PublicKey, key.Public()) {
				return errSecret
			}
			return nil
		},
	}, nil
}

func pinned(got any, want crypto.PublicKey) bool {
	key, ok := got.(ed25519.PublicKey)
	return ok && key.Equal(want)
}

// checkReach refuses to leave the machine without a secret.
func checkReach(root string, secret []byte) error {
	if len(secret) == secretSize || secret == nil && onLoopback(root) {
		return nil
	}
	if secret == nil {
		return fmt.Errorf("%s is beyond this machine, where anybody could join: share a secret (openssl rand -hex 32 > FILE; chmod 600 "+
			"FILE; "+
			"export RAILYARD_SECRET_FILE=FILE)", root)
	}
	return fmt.Errorf("a secret has %d bytes, not %d", secretSize, len(secret))
}

// onLoopback reports whether an address is this machine's alone, as it is written: what names
// stand for may change.
func onLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && (host == "localhost" || net.ParseIP(host).IsLoopback())
}
