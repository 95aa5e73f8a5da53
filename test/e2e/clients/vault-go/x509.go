package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"strings"

	vault "github.com/hashicorp/vault/api"
)

func certificateIn(text string) *x509.Certificate {
	certificate, err := x509.ParseCertificate(bytesIn("CERTIFICATE", text))
	succeeds(err)
	return certificate
}

func bytesIn(label, text string) []byte {
	block, rest := pem.Decode([]byte(text))
	isTrue(fmt.Sprintf("%.40q is one block of PEM", text), block != nil && len(strings.TrimSpace(string(rest))) == 0)
	equal("the label", block.Type, label)
	return block.Bytes
}

// That the leaf is held by the roots, through the others.
func verifies(leaf *x509.Certificate, roots, others []*x509.Certificate) {
	_, err := leaf.Verify(x509.VerifyOptions{
		Roots: pool(roots), Intermediates: pool(others), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
	})
	succeeds(err)
}

func pool(certificates []*x509.Certificate) *x509.CertPool {
	pool := x509.NewCertPool()
	for _, each := range certificates {
		pool.AddCert(each)
	}
	return pool
}

func newRequest(name string, others ...string) string {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	succeeds(err)
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: pkix.Name{CommonName: name}, DNSNames: append([]string{name}, others...),
	}, key)
	succeeds(err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
}

// The body of what comes without an envelope, and its content type.
func (s *scenario) file(client *vault.Client, path string) ([]byte, string) {
	response, err := client.Logical().ReadRawWithContext(s.ctx, path)
	succeeds(err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	succeeds(err)
	return body, response.Header.Get("Content-Type")
}
