package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
)

type folder string

const (
	keyFile         = "account.key"
	certificateFile = "held.pem"
)

// One is made where there is none.
func (f folder) accountKey() (crypto.Signer, error) {
	text, err := os.ReadFile(filepath.Join(string(f), keyFile))
	if errors.Is(err, fs.ErrNotExist) {
		key, err := newKey()
		if err != nil {
			return nil, err
		}
		return key, f.keepAccountKey(key)
	}
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("the account's key is no PEM")
	}
	return x509.ParseECPrivateKey(block.Bytes)
}

func (f folder) keepAccountKey(key crypto.Signer) error {
	own, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return errors.New("the account's key is no EC key")
	}
	der, err := x509.MarshalECPrivateKey(own)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(string(f), keyFile), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), 0o600)
}

func newKey() (crypto.Signer, error) {
	return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
}

// Its key is nobody's: nothing is served with it.
func requestFor(asked order) ([]byte, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	return x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{DNSNames: asked.names, IPAddresses: asked.addresses}, key)
}

func (f folder) keep(chain []byte) error {
	return os.WriteFile(filepath.Join(string(f), certificateFile), chain, 0o600)
}

func (f folder) certificate() (*x509.Certificate, error) {
	text, err := os.ReadFile(filepath.Join(string(f), certificateFile))
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("the certificate is no PEM")
	}
	return x509.ParseCertificate(block.Bytes)
}

func trusting(rootFile string) (*http.Transport, error) {
	text, err := os.ReadFile(rootFile)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, errors.New("the root is no PEM")
	}
	return &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}, nil
}
