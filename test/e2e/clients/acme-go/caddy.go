package main

import (
	"context"
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/http"
	"time"

	"github.com/mholt/acmez/v3"
	"github.com/mholt/acmez/v3/acme"
)

// By acmez, which Caddy orders with.
type caddy struct {
	acmez.Client
	account acme.Account
}

func newCaddy(with options, key crypto.Signer, http *http.Client) *caddy {
	solver := caddySolver{with.responder}
	return &caddy{
		Client: acmez.Client{
			Client:           &acme.Client{Directory: with.directory, HTTPClient: http, PollInterval: 100 * time.Millisecond},
			ChallengeSolvers: map[string]acmez.Solver{with.challenge: solver},
		},
		account: acme.Account{
			Contact:              []string{"mailto:ops@example.com"},
			TermsOfServiceAgreed: true,
			PrivateKey:           key,
		},
	}
}

func (c *caddy) register(ctx context.Context, bound *binding) error {
	known, err := c.GetAccount(ctx, c.account)
	var problem acme.Problem
	if errors.As(err, &problem) && problem.Type == acme.ProblemTypeAccountDoesNotExist {
		if bound != nil {
			if err := c.account.SetExternalAccountBinding(ctx, c.Client.Client, acme.EAB{KeyID: bound.id, MACKey: bound.key}); err != nil {
				return err
			}
		}
		known, err = c.NewAccount(ctx, c.account)
	}
	if err != nil {
		return err
	}
	c.account = known
	return nil
}

func (c *caddy) order(ctx context.Context, asked order) ([]byte, error) {
	csr, err := x509.ParseCertificateRequest(asked.csr)
	if err != nil {
		return nil, err
	}
	parameters, err := acmez.OrderParametersFromCSR(c.account, csr)
	if err != nil {
		return nil, err
	}
	parameters.Profile = asked.profile
	parameters.NotAfter = asked.notAfter
	parameters.Replaces = asked.replaces
	chains, err := c.ObtainCertificate(ctx, parameters)
	if err != nil {
		return nil, err
	}
	for _, chain := range chains {
		if asked.preferredRoot == "" || lastIssuer(chain.ChainPEM) == asked.preferredRoot {
			return chain.ChainPEM, nil
		}
	}
	return nil, errors.New("no chain leads to the preferred root")
}

func lastIssuer(chain []byte) string {
	var issuer string
	for block, rest := pem.Decode(chain); block != nil; block, rest = pem.Decode(rest) {
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return ""
		}
		issuer = certificate.Issuer.CommonName
	}
	return issuer
}

func (c *caddy) revoke(ctx context.Context, certificate *x509.Certificate, reason int) error {
	return c.RevokeCertificate(ctx, c.account, certificate, nil, reason)
}

func (c *caddy) renewalInfo(ctx context.Context, certificate *x509.Certificate) (window, error) {
	info, err := c.GetRenewalInfo(ctx, certificate)
	return window{info.SuggestedWindow.Start, info.SuggestedWindow.End}, err
}

func (c *caddy) rollOver(ctx context.Context, key crypto.Signer) error {
	_, err := c.AccountKeyRollover(ctx, c.account, key)
	return err
}

type caddySolver struct{ responder }

func (s caddySolver) Present(ctx context.Context, challenge acme.Challenge) error {
	return s.give(ctx, answer{
		challenge:        challenge.Type,
		host:             challenge.Identifier.Value,
		token:            challenge.Token,
		keyAuthorization: challenge.KeyAuthorization,
		txtName:          challenge.DNS01TXTRecordName(),
		txtValue:         challenge.DNS01KeyAuthorization(),
	})
}

// What has been answered once does no harm.
func (caddySolver) CleanUp(context.Context, acme.Challenge) error { return nil }
