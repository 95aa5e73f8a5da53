// Lints many certificates, CRLs and OCSP answers in one process. Its only argument is a file that names them, one a line:
// kind ("certificate", "crl", "ocsp" or "request"), name and path, between tabs; what the path holds is DER. Prints one line
// of JSON for each finding, and ends with status 0 whatever it found. There are no lints for requests: Go's own reader
// lints them.
//
// Left out are the rules that bind public CAs only. Mozilla's are not: most are about how keys and signatures are encoded.
package main

import (
	"bufio"
	stdx509 "crypto/x509"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/zmap/zcrypto/x509"
	"github.com/zmap/zlint/v3"
	"github.com/zmap/zlint/v3/lint"
	"golang.org/x/crypto/ocsp"
)

var publicOnly = lint.SourceList{
	lint.CABFBaselineRequirements,
	lint.CABFCSBaselineRequirements,
	lint.CABFSMIMEBaselineRequirements,
	lint.CABFEVGuidelines,
	lint.EtsiEsi,
	lint.AppleRootStorePolicy,
	lint.ChromeRootStorePolicy,
	lint.RFC6962,
}

type finding struct {
	Name   string `json:"name"`
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(manifest string) error {
	registry, err := lint.GlobalRegistry().Filter(lint.FilterOptions{ExcludeSources: publicOnly})
	if err != nil {
		return err
	}
	file, err := os.Open(manifest)
	if err != nil {
		return err
	}
	defer file.Close()
	out := json.NewEncoder(os.Stdout)
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) != 3 {
			return fmt.Errorf("not kind, name and path: %q", lines.Text())
		}
		der, err := os.ReadFile(fields[2])
		if err != nil {
			return err
		}
		results, err := lintDocument(fields[0], der, registry)
		if err != nil {
			code := "unreadable"
			if strings.HasSuffix(err.Error(), "algorithm unimplemented") {
				code = "unknown signature algorithm"
			}
			if err := out.Encode(finding{fields[1], code, err.Error()}); err != nil {
				return err
			}
			continue
		}
		for code, result := range results.Results {
			if result.Status < lint.Warn {
				continue
			}
			detail := strings.TrimSpace(result.Status.String() + " " + result.Details)
			if err := out.Encode(finding{fields[1], code, detail}); err != nil {
				return err
			}
		}
	}
	return lines.Err()
}

func lintDocument(kind string, der []byte, registry lint.Registry) (*zlint.ResultSet, error) {
	switch kind {
	case "certificate":
		certificate, err := x509.ParseCertificate(der)
		if err != nil {
			return nil, err
		}
		return zlint.LintCertificateEx(certificate, registry), nil
	case "crl":
		list, err := x509.ParseRevocationList(der)
		if err != nil {
			return nil, err
		}
		return zlint.LintRevocationListEx(list, registry), nil
	case "ocsp":
		response, err := ocsp.ParseResponse(der, nil)
		if err != nil {
			return nil, err
		}
		return zlint.LintOcspResponseEx(response, registry), nil
	case "request":
		request, err := stdx509.ParseCertificateRequest(der)
		if err != nil {
			return nil, err
		}
		return &zlint.ResultSet{}, request.CheckSignature()
	default:
		return nil, fmt.Errorf("unknown kind %q", kind)
	}
}
