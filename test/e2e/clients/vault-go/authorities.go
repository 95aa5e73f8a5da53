package main

import (
	"crypto/x509"

	vault "github.com/hashicorp/vault/api"
)

func roots(s *scenario) {
	mount := s.newMount()
	var root *vault.Secret
	s.step("generates a root", func() {
		root = s.write(mount+"/root/generate/internal", values{
			"common_name": "Scenario Root", "issuer_name": "first", "key_type": "ec", "key_bits": 384, "ttl": "8760h",
		})
		certificate := certificateIn(textIn(root.Data, "certificate"))
		equal("whether it is an authority", certificate.IsCA, true)
		equal("the end", numberIn(root.Data, "expiration"), certificate.NotAfter.Unix())
		_, hasKey := root.Data["private_key"]
		isTrue("the key stays inside", !hasKey)
	})
	s.step("lists issuers with what is known of them", func() {
		secret, err := s.client.Logical().ListWithContext(s.ctx, mount+"/issuers")
		succeeds(err)
		id := textIn(root.Data, "issuer_id")
		equal("the ids", textsIn(secret.Data, "keys"), []string{id})
		info := secret.Data["key_info"].(values)[id].(values)
		equal("the name", textIn(info, "issuer_name"), "first")
		equal("the serial number", textIn(info, "serial_number"), textIn(root.Data, "serial_number"))
	})
	s.step("renames an issuer by a patch, and leaves the rest of it", func() {
		patched, err := s.client.Logical().JSONMergePatch(s.ctx, mount+"/issuer/first", values{"issuer_name": "renamed"})
		succeeds(err)
		equal("the name", textIn(present("the issuer", patched).Data, "issuer_name"), "renamed")
		equal("what happens to leaves", textIn(patched.Data, "leaf_not_after_behavior"), "err")
	})
	s.step("exports a key once", func() {
		exported := s.write(mount+"/root/generate/exported", values{"common_name": "Exported Root", "key_type": "ec"})
		_, err := x509.ParseECPrivateKey(bytesIn("EC PRIVATE KEY", textIn(exported.Data, "private_key")))
		succeeds(err)
		equal("the type", textIn(exported.Data, "private_key_type"), "ec")
	})
	s.step("replaces the default", func() {
		next := s.write(mount+"/root/rotate/internal", values{"common_name": "Next Root", "key_type": "ec"})
		replaced := s.write(mount+"/root/replace", values{"default": "next"})
		equal("the default", textIn(replaced.Data, "default"), textIn(next.Data, "issuer_id"))
		equal("the same, read", textIn(s.read(mount+"/config/issuers"), "default"), textIn(next.Data, "issuer_id"))
	})
	s.step("deletes an issuer, and its key", func() {
		_, err := s.client.Logical().DeleteWithContext(s.ctx, mount+"/issuer/renamed")
		succeeds(err)
		absent(s.client.Logical().ReadWithContext(s.ctx, mount+"/issuer/renamed/json"))
		_, err = s.client.Logical().DeleteWithContext(s.ctx, mount+"/key/"+textIn(root.Data, "key_id"))
		succeeds(err)
		isTrue("it is not listed", !in(s.keys(mount+"/keys"), textIn(root.Data, "key_id")))
	})
}

func intermediates(s *scenario) {
	above, below := s.newAuthority(), s.newMount()
	var signed *vault.Secret
	s.step("has a root sign what another mount asks for, and sets it there", func() {
		request := s.write(below+"/intermediate/generate/internal", values{"common_name": "Scenario Intermediate", "key_type": "ec"})
		signed = s.write(above+"/root/sign-intermediate", values{
			"csr": textIn(request.Data, "csr"), "common_name": "Scenario Intermediate", "ttl": "4380h", "max_path_length": 0,
		})
		set := s.write(below+"/intermediate/set-signed", values{
			"certificate": textIn(signed.Data, "certificate") + "\n" + textIn(signed.Data, "issuing_ca"),
		})
		imported := textsIn(set.Data, "imported_issuers")
		equal("how many were imported", len(imported), 2)
		mapping := set.Data["mapping"].(values)
		withKey := 0
		for _, each := range imported {
			if textIn(mapping, each) == textIn(request.Data, "key_id") {
				withKey++
			}
		}
		equal("how many have a key", withKey, 1)
	})
	s.step("issues below it, with a chain that holds", func() {
		s.write(below+"/roles/any", values{"allow_any_name": true, "key_type": "ec"})
		issued := s.write(below+"/issue/any", values{"common_name": "leaf.example.com"})
		chain := textsIn(issued.Data, "ca_chain")
		equal("the first of the chain", chain[0], textIn(issued.Data, "issuing_ca"))
		equal("what signed", chain[0], textIn(signed.Data, "certificate"))
		verifies(
			certificateIn(textIn(issued.Data, "certificate")),
			[]*x509.Certificate{certificateIn(textIn(signed.Data, "issuing_ca"))},
			[]*x509.Certificate{certificateIn(chain[0])},
		)
	})
	s.step("imports a bundle again, and hears that it was there", func() {
		again := s.write(below+"/issuers/import/cert", values{"pem_bundle": textIn(signed.Data, "certificate")})
		equal("what is new", again.Data["imported_issuers"], nil)
		equal("what was there", len(textsIn(again.Data, "existing_issuers")), 1)
	})
	s.step("is told of a request that is none", func() {
		_, err := s.client.Logical().WriteWithContext(s.ctx, above+"/root/sign-intermediate", values{"csr": "nonsense"})
		failsWith(err, 400, "csr contains no data")
	})
}

func settings(s *scenario) {
	mount := s.newAuthority()
	s.step("tells where its lists are, and puts that into certificates", func() {
		written := s.write(mount+"/config/urls", values{
			"issuing_certificates":    s.address + "/v1/" + mount + "/ca",
			"crl_distribution_points": []string{s.address + "/v1/" + mount + "/crl"},
			"ocsp_servers":            s.address + "/v1/" + mount + "/ocsp",
		})
		equal("what is written", written.Data, s.read(mount+"/config/urls"))
		certificate := certificateIn(textIn(s.write(mount+"/issue/any", values{"common_name": "a.example.com"}).Data, "certificate"))
		equal("the lists", certificate.CRLDistributionPoints, []string{s.address + "/v1/" + mount + "/crl"})
		equal("the responders", certificate.OCSPServer, []string{s.address + "/v1/" + mount + "/ocsp"})
		equal("the issuer", certificate.IssuingCertificateURL, []string{s.address + "/v1/" + mount + "/ca"})
	})
	s.step("says for how long a list holds", func() {
		s.write(mount+"/config/crl", values{"expiry": "48h", "auto_rebuild": "true", "auto_rebuild_grace_period": "8h"})
		data := s.read(mount + "/config/crl")
		equal("the time", textIn(data, "expiry"), "48h")
		equal("rebuilt in time", data["auto_rebuild"], any(true))
	})
	s.step("turns ACME on, and gives out a binding", func() {
		headers := []string{"Location", "Replay-Nonce", "Link"}
		succeeds(s.client.Sys().TuneMountAllowNilWithContext(s.ctx, mount, vault.TuneMountConfigInput{AllowedResponseHeaders: &headers}))
		s.write(mount+"/config/cluster", values{"path": "https://ca.example.com/v1/" + mount})
		written := s.write(mount+"/config/acme", values{"enabled": true, "eab_policy": "always-required"})
		equal("enabled", written.Data["enabled"], any(true))
		binding := s.write(mount+"/acme/new-eab", nil)
		isTrue("it has a key", textIn(binding.Data, "key") != "")
		equal("the bindings", s.keys(mount+"/eab"), []string{textIn(binding.Data, "id")})
		_, err := s.client.Logical().DeleteWithContext(s.ctx, mount+"/eab/"+textIn(binding.Data, "id"))
		succeeds(err)
		absent(s.client.Logical().ListWithContext(s.ctx, mount+"/eab"))
	})
	s.step("tidies", func() {
		secret := s.write(mount+"/tidy", values{"tidy_cert_store": true, "safety_buffer": "72h"})
		isTrue("it is told where to look", len(secret.Warnings) > 0)
		isTrue("it has a state", textIn(s.read(mount+"/tidy-status"), "state") != "")
	})
}
