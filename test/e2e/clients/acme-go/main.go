// A command around the ACME code of Caddy and of cert-manager: it keeps an account and a certificate in a folder, obtains,
// renews and revokes, and lets pebble-challtestsrv answer challenges.
package main

import (
	"context"
	"crypto"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"
)

// What both libraries are used by.
type client interface {
	// Registers the account unless it is there.
	register(ctx context.Context, bound *binding) error
	order(ctx context.Context, asked order) (chain []byte, err error)
	revoke(ctx context.Context, certificate *x509.Certificate, reason int) error
	renewalInfo(ctx context.Context, certificate *x509.Certificate) (window, error)
	rollOver(ctx context.Context, key crypto.Signer) error
}

type binding struct{ id, key string }

type order struct {
	challenge string
	names     []string
	addresses []net.IP
	csr       []byte
	profile   string
	notAfter  time.Time
	replaces  *x509.Certificate
	// The common name of the issuer of the chain's last certificate.
	preferredRoot string
}

type window struct {
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
}

type options struct {
	library, directory, root      string
	binding                       binding
	challenge, profile, preferred string
	validFor                      time.Duration
	reason                        int
	held                          folder
	responder                     responder
}

// Longer than any order takes on a busy machine.
const patience = 3 * time.Minute

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	var with options
	flag.StringVar(&with.library, "library", "caddy", "caddy or cert-manager")
	flag.StringVar(&with.directory, "directory", "", "the URL of the directory")
	flag.StringVar(&with.root, "root", "", "a file with the root that the server's certificate leads to")
	flag.StringVar((*string)(&with.held), "folder", "", "where the account and the certificate are kept")
	flag.StringVar((*string)(&with.responder), "responder", "", "the URL at which pebble-challtestsrv is told what to answer")
	flag.StringVar(&with.binding.id, "eab-kid", "", "the key identifier of an external account binding")
	flag.StringVar(&with.binding.key, "eab-key", "", "its key")
	flag.StringVar(&with.challenge, "challenge", "http-01", "the challenge that every name is proved by")
	flag.StringVar(&with.profile, "profile", "", "the profile of the order")
	flag.StringVar(&with.preferred, "preferred-root", "", "the common name of the root that the chain is to lead to")
	flag.DurationVar(&with.validFor, "valid-for", 0, "for how long the certificate is to be valid")
	flag.IntVar(&with.reason, "reason", 4, "why the certificate is revoked")
	flag.Parse()
	transport, err := trusting(with.root)
	if err != nil {
		return err
	}
	key, err := with.held.accountKey()
	if err != nil {
		return err
	}
	library, err := libraryOf(with, key, &http.Client{Transport: transport})
	if err != nil {
		return err
	}
	var bound *binding
	if with.binding.id != "" {
		bound = &with.binding
	}
	if err := library.register(ctx, bound); err != nil {
		return fmt.Errorf("register: %w", err)
	}
	switch words := flag.Args(); words[0] {
	case "obtain":
		return obtain(ctx, library, with, words[1:], nil)
	case "renew":
		certificate, err := with.held.certificate()
		if err != nil {
			return err
		}
		return obtain(ctx, library, with, words[1:], certificate)
	case "revoke":
		certificate, err := with.held.certificate()
		if err != nil {
			return err
		}
		return library.revoke(ctx, certificate, with.reason)
	case "renewal-info":
		certificate, err := with.held.certificate()
		if err != nil {
			return err
		}
		info, err := library.renewalInfo(ctx, certificate)
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(info)
	case "roll-over":
		next, err := newKey()
		if err != nil {
			return err
		}
		if err := library.rollOver(ctx, next); err != nil {
			return err
		}
		return with.held.keepAccountKey(next)
	default:
		return fmt.Errorf("there is no command %q", words[0])
	}
}

func libraryOf(with options, key crypto.Signer, http *http.Client) (client, error) {
	switch with.library {
	case "caddy":
		return newCaddy(with, key, http), nil
	case "cert-manager":
		return newCertManager(with, key, http), nil
	default:
		return nil, fmt.Errorf("there is no library %q", with.library)
	}
}

func obtain(ctx context.Context, library client, with options, words []string, replaces *x509.Certificate) error {
	asked := order{challenge: with.challenge, profile: with.profile, replaces: replaces, preferredRoot: with.preferred}
	if with.validFor > 0 {
		asked.notAfter = time.Now().Add(with.validFor).Truncate(time.Second)
	}
	for _, word := range words {
		if address := net.ParseIP(word); address != nil {
			asked.addresses = append(asked.addresses, address)
		} else {
			asked.names = append(asked.names, word)
		}
	}
	csr, err := requestFor(asked)
	if err != nil {
		return err
	}
	asked.csr = csr
	chain, err := library.order(ctx, asked)
	if err != nil {
		return err
	}
	return with.held.keep(chain)
}
