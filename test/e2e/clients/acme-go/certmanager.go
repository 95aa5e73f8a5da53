package main

import (
	"context"
	"crypto"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"

	acmeutil "github.com/cert-manager/cert-manager/pkg/acme/util"
	"github.com/cert-manager/cert-manager/third_party/forked/acme"
)

// By the library that cert-manager orders with, in its order.
type certManager struct {
	acme.Client
	responder responder
}

func newCertManager(with options, key crypto.Signer, http *http.Client) *certManager {
	return &certManager{
		Client: acme.Client{
			Key:          key,
			HTTPClient:   http,
			DirectoryURL: with.directory,
			UserAgent:    "cert-manager",
			RetryBackoff: acmeutil.RetryBackoff,
		},
		responder: with.responder,
	}
}

func (c *certManager) register(ctx context.Context, bound *binding) error {
	_, err := c.GetReg(ctx, "")
	if !errors.Is(err, acme.ErrNoAccount) {
		return err
	}
	account := &acme.Account{Contact: []string{"mailto:ops@example.com"}}
	if bound != nil {
		key, err := base64.RawURLEncoding.DecodeString(bound.key)
		if err != nil {
			return err
		}
		account.ExternalAccountBinding = &acme.ExternalAccountBinding{KID: bound.id, Key: key}
	}
	_, err = c.Register(ctx, account, acme.AcceptTOS)
	return err
}

func (c *certManager) order(ctx context.Context, asked order) ([]byte, error) {
	var with []acme.OrderOption
	if asked.profile != "" {
		with = append(with, acme.WithOrderProfile(asked.profile))
	}
	if !asked.notAfter.IsZero() {
		with = append(with, acme.WithOrderNotAfter(asked.notAfter))
	}
	if asked.replaces != nil {
		replaces, err := acme.WithOrderReplacesCertificate(asked.replaces)
		if err != nil {
			return nil, err
		}
		with = append(with, replaces)
	}
	ids := append(acme.DomainIDs(asked.names...), acme.IPIDs(texts(asked.addresses)...)...)
	placed, err := c.AuthorizeOrder(ctx, ids, with...)
	if err != nil {
		return nil, err
	}
	for _, url := range placed.AuthzURLs {
		if err := c.prove(ctx, url, asked.challenge); err != nil {
			return nil, err
		}
	}
	ready, err := c.WaitOrder(ctx, placed.URI)
	if err != nil {
		return nil, err
	}
	chain, url, err := c.CreateOrderCert(ctx, ready.FinalizeURL, asked.csr, true)
	if err != nil {
		return nil, err
	}
	return c.preferred(ctx, chain, url, asked.preferredRoot)
}

func (c *certManager) prove(ctx context.Context, url, challenge string) error {
	authorization, err := c.GetAuthorization(ctx, url)
	if err != nil || authorization.Status == acme.StatusValid {
		return err
	}
	for _, offered := range authorization.Challenges {
		if offered.Type != challenge {
			continue
		}
		keyAuthorization, err := c.HTTP01ChallengeResponse(offered.Token)
		if err != nil {
			return err
		}
		record, err := c.DNS01ChallengeRecord(offered.Token)
		if err != nil {
			return err
		}
		host := authorization.Identifier.Value
		if err := c.responder.give(ctx, answer{
			challenge:        challenge,
			host:             host,
			token:            offered.Token,
			keyAuthorization: keyAuthorization,
			txtName:          "_acme-challenge." + host,
			txtValue:         record,
		}); err != nil {
			return err
		}
		if _, err := c.Accept(ctx, offered); err != nil {
			return err
		}
		_, err = c.WaitAuthorization(ctx, url)
		return err
	}
	return fmt.Errorf("%s cannot be proved by %s", authorization.Identifier.Value, challenge)
}

func (c *certManager) preferred(ctx context.Context, chain [][]byte, url, root string) ([]byte, error) {
	text := pemOf(chain)
	if root == "" || lastIssuer(text) == root {
		return text, nil
	}
	others, err := c.ListCertAlternates(ctx, url)
	if err != nil {
		return nil, err
	}
	for _, other := range others {
		chain, err := c.FetchCert(ctx, other, true)
		if err != nil {
			return nil, err
		}
		if text := pemOf(chain); lastIssuer(text) == root {
			return text, nil
		}
	}
	return nil, errors.New("no chain leads to the preferred root")
}

func (c *certManager) revoke(ctx context.Context, certificate *x509.Certificate, reason int) error {
	return c.RevokeCert(ctx, nil, certificate.Raw, acme.CRLReasonCode(reason))
}

func (c *certManager) renewalInfo(ctx context.Context, certificate *x509.Certificate) (window, error) {
	info, err := c.GetRenewalInfo(ctx, certificate)
	if err != nil {
		return window{}, err
	}
	return window{info.SuggestedWindow.Start, info.SuggestedWindow.End}, nil
}

func (c *certManager) rollOver(ctx context.Context, key crypto.Signer) error {
	return c.AccountKeyRollover(ctx, key)
}

func pemOf(chain [][]byte) []byte {
	var text []byte
	for _, der := range chain {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	}
	return text
}

func texts(addresses []net.IP) []string {
	all := make([]string, 0, len(addresses))
	for _, address := range addresses {
		all = append(all, address.String())
	}
	return all
}
