// Writes revocation lists as Go's own library does, one PEM block each: one without entries, one with entries with and
// without reasons and extensions, and one as the deprecated writer makes it. Its arguments are files in PEM, the authority's
// certificate and its key in PKCS #8.
package main

import (
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"time"
)

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(certificateFile, keyFile string) error {
	authority, err := read(certificateFile, x509.ParseCertificate)
	if err != nil {
		return err
	}
	private, err := read(keyFile, x509.ParsePKCS8PrivateKey)
	if err != nil {
		return err
	}
	key := private.(crypto.Signer)
	now := time.Now()
	revoked := func(number int64) x509.RevocationListEntry {
		return x509.RevocationListEntry{SerialNumber: big.NewInt(number), RevocationTime: now}
	}
	withReason := revoked(2)
	withReason.ReasonCode = 1
	late := revoked(3)
	late.RevocationTime = time.Date(2051, 1, 1, 0, 0, 0, 0, time.FixedZone("", 3600))
	other := pkix.Extension{Id: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 99999, 1}, Value: []byte{5, 0}}
	withExtension := revoked(4)
	withExtension.ExtraExtensions = []pkix.Extension{other}
	for _, entries := range [][]x509.RevocationListEntry{nil, {revoked(1), withReason, late, withExtension}} {
		list, err := x509.CreateRevocationList(rand.Reader, &x509.RevocationList{
			RevokedCertificateEntries: entries,
			Number:                    big.NewInt(1),
			ThisUpdate:                now,
			NextUpdate:                now.AddDate(40, 0, 0),
			ExtraExtensions:           []pkix.Extension{other},
		}, authority, key)
		if err != nil {
			return err
		}
		if err := write(list); err != nil {
			return err
		}
	}
	list, err := authority.CreateCRL(rand.Reader, key, []pkix.RevokedCertificate{
		{SerialNumber: big.NewInt(5), RevocationTime: now},
	}, now, now.AddDate(1, 0, 0))
	if err != nil {
		return err
	}
	return write(list)
}

func read[T any](file string, parse func([]byte) (T, error)) (T, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return *new(T), err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return *new(T), fmt.Errorf("%s is no PEM", file)
	}
	return parse(block.Bytes)
}

func write(list []byte) error {
	return pem.Encode(os.Stdout, &pem.Block{Type: "X509 CRL", Bytes: list})
}
