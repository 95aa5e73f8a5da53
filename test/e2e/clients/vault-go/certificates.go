package main

import (
	"crypto/x509"
	"fmt"
	"strings"

	vault "github.com/hashicorp/vault/api"
)

func roles(s *scenario) {
	mount := s.newAuthority()
	logical := s.client.Logical()
	s.step("writes a role, and is answered what is kept", func() {
		written := s.write(mount+"/roles/web", values{
			"allowed_domains": "example.com,example.net", "allow_subdomains": "true", "max_ttl": "72h", "ttl": 3600,
			"key_type": "ec", "key_bits": "256",
		})
		equal("the domains", textsIn(written.Data, "allowed_domains"), []string{"example.com", "example.net"})
		equal("the longest time", numberIn(written.Data, "max_ttl"), 259_200)
		equal("the usual time", numberIn(written.Data, "ttl"), 3_600)
		equal("what is read", s.read(mount+"/roles/web"), written.Data)
	})
	s.step("patches one member", func() {
		_, err := logical.JSONMergePatch(s.ctx, mount+"/roles/web", values{"allow_subdomains": false})
		succeeds(err)
		data := s.read(mount + "/roles/web")
		equal("subdomains", data["allow_subdomains"], any(false))
		equal("the domains", textsIn(data, "allowed_domains"), []string{"example.com", "example.net"})
	})
	s.step("patches no role that is not there", func() {
		_, err := logical.JSONMergePatch(s.ctx, mount+"/roles/absent", values{"ttl": "1h"})
		failsWith(err, 400, "Unable to fetch role entry to patch")
	})
	s.step("writes text that is JSON already", func() {
		_, err := logical.WriteBytesWithContext(s.ctx, mount+"/roles/bytes", []byte(`{"allow_any_name": true, "ttl": "1h"}`))
		succeeds(err)
		equal("the usual time", numberIn(s.read(mount+"/roles/bytes"), "ttl"), 3_600)
	})
	s.step("lists roles, with a slash at the end and without", func() {
		equal("the roles", sorted(s.keys(mount+"/roles")), []string{"any", "bytes", "web"})
		equal("the roles", sorted(s.keys(mount+"/roles/")), []string{"any", "bytes", "web"})
	})
	s.step("is warned of what counts for nothing", func() {
		written := s.write(mount+"/roles/warned", values{"allow_any_name": true, "no_such_member": 1})
		equal("the warnings", written.Warnings, []string{"Endpoint ignored these unrecognized parameters: [no_such_member]"})
	})
	s.step("is told each thing that is wrong", func() {
		_, err := logical.WriteWithContext(s.ctx, mount+"/roles/wrong", values{"key_type": "dsa"})
		failsSaying(err, "key_type")
		_, err = logical.WriteWithContext(s.ctx, mount+"/roles/wrong", values{"ttl": "2h", "max_ttl": "1h"})
		failsWith(err, 400, `"ttl" value must be less than "max_ttl" value`)
		absent(logical.ReadWithContext(s.ctx, mount+"/roles/wrong"))
	})
	s.step("deletes a role, once and again", func() {
		for range 2 {
			deleted, err := logical.DeleteWithContext(s.ctx, mount+"/roles/web")
			absent(deleted, err)
		}
		absent(logical.ReadWithContext(s.ctx, mount+"/roles/web"))
	})
	s.step("lists nothing where there is nothing", func() {
		absent(logical.ListWithContext(s.ctx, s.newMount()+"/roles"))
	})
}

func certificates(s *scenario) {
	mount := s.newAuthority()
	logical := s.client.Logical()
	root := certificateIn(textIn(s.read(mount+"/cert/ca"), "certificate"))
	var serial string
	s.step("issues a certificate and a key", func() {
		issued := s.write(mount+"/issue/any", values{
			"common_name": "web.example.com", "alt_names": "www.example.com,ops@example.com", "ip_sans": "192.0.2.7", "ttl": "24h",
		})
		certificate := certificateIn(textIn(issued.Data, "certificate"))
		equal("the names", sorted(certificate.DNSNames), []string{"web.example.com", "www.example.com"})
		equal("the mailboxes", certificate.EmailAddresses, []string{"ops@example.com"})
		equal("the addresses", fmt.Sprint(certificate.IPAddresses), "[192.0.2.7]")
		verifies(certificate, []*x509.Certificate{root}, nil)
		key, err := x509.ParseECPrivateKey(bytesIn("EC PRIVATE KEY", textIn(issued.Data, "private_key")))
		succeeds(err)
		isTrue("the key is the certificate's", key.PublicKey.Equal(certificate.PublicKey))
		equal("the end", numberIn(issued.Data, "expiration"), certificate.NotAfter.Unix())
		// Without a lease there is none to renew or to revoke.
		equal("the lease", issued.LeaseID, "")
		equal("renewable", issued.Renewable, false)
		serial = textIn(issued.Data, "serial_number")
	})
	s.step("reads a certificate by its serial number, and lists it", func() {
		certificate := certificateIn(textIn(s.read(mount+"/cert/"+serial), "certificate"))
		equal("the name", certificate.Subject.CommonName, "web.example.com")
		isTrue("it is listed", in(s.keys(mount+"/certs"), serial))
		hyphens := strings.ReplaceAll(serial, ":", "-")
		equal("the same, written with hyphens", textIn(s.read(mount+"/cert/"+hyphens), "certificate"),
			textIn(s.read(mount+"/cert/"+serial), "certificate"))
		absent(logical.ReadWithContext(s.ctx, mount+"/cert/01:02:03"))
	})
	s.step("signs a request", func() {
		signed := s.write(mount+"/sign/any", values{"csr": newRequest("csr.example.com", "other.example.com"), "ttl": "1h"})
		certificate := certificateIn(textIn(signed.Data, "certificate"))
		equal("the names", sorted(certificate.DNSNames), []string{"csr.example.com", "other.example.com"})
		verifies(certificate, []*x509.Certificate{root}, nil)
	})
	s.step("signs a request as it stands", func() {
		signed := s.write(mount+"/sign-verbatim", values{"csr": newRequest("verbatim.example.com")})
		equal("the name", certificateIn(textIn(signed.Data, "certificate")).Subject.CommonName, "verbatim.example.com")
	})
	s.step("has it as one bundle", func() {
		issued := s.write(mount+"/issue/any", values{"common_name": "bundle.example.com", "format": "pem_bundle"})
		equal("how many blocks", strings.Count(textIn(issued.Data, "certificate"), "-----BEGIN "), 2)
	})
	s.step("is warned that it asked for too long", func() {
		s.write(mount+"/roles/brief", values{"allow_any_name": true, "key_type": "ec", "max_ttl": "1h"})
		issued := s.write(mount+"/issue/brief", values{"common_name": "long.example.com", "ttl": "240h"})
		equal("the warnings", issued.Warnings, []string{`TTL "240h" is longer than permitted maxTTL "1h", so maxTTL is being used`})
	})
	s.step("is refused what the role does not allow", func() {
		s.write(mount+"/roles/strict", values{"allowed_domains": "example.com", "allow_subdomains": true, "key_type": "ec"})
		_, err := logical.WriteWithContext(s.ctx, mount+"/issue/strict", values{"common_name": "web.example.org"})
		failsSaying(err, "common name web.example.org not allowed by this role")
		_, err = logical.WriteWithContext(s.ctx, mount+"/issue/absent", values{"common_name": "web.example.org"})
		failsWith(err, 400, "unknown role: absent")
		_, err = logical.WriteWithContext(s.ctx, mount+"/sign/strict", values{"common_name": "a.example.com", "csr": "nonsense"})
		failsWith(err, 400, "csr contains no data")
	})
	s.step("says that a mount has no issuer", func() {
		bare := s.newMount()
		s.write(bare+"/roles/any", values{"allow_any_name": true})
		_, err := logical.WriteWithContext(s.ctx, bare+"/issue/any", values{"common_name": "web.example.org"})
		failsSaying(err, "issuer")
	})
}

func revocation(s *scenario) {
	mount := s.newAuthority()
	root := certificateIn(textIn(s.read(mount+"/cert/ca"), "certificate"))
	issue := func(name string) string {
		return textIn(s.write(mount+"/issue/any", values{"common_name": name}).Data, "serial_number")
	}
	serial := issue("revoked.example.com")
	s.step("revokes by serial number, and again", func() {
		revoked := s.write(mount+"/revoke", values{"serial_number": serial})
		isTrue("it tells when", numberIn(revoked.Data, "revocation_time") > 0)
		again := s.write(mount+"/revoke", values{"serial_number": strings.ReplaceAll(serial, ":", "-")})
		equal("when", numberIn(again.Data, "revocation_time"), numberIn(revoked.Data, "revocation_time"))
		isTrue("it is read as revoked", numberIn(s.read(mount+"/cert/"+serial), "revocation_time") > 0)
	})
	s.step("finds it in the list", func() {
		body, kind := s.file(s.client, mount+"/crl")
		equal("the content type", kind, "application/pkix-crl")
		list, err := x509.ParseRevocationList(body)
		succeeds(err)
		succeeds(list.CheckSignatureFrom(root))
		equal("how many are revoked", len(list.RevokedCertificateEntries), 1)
		number := strings.ReplaceAll(serial, ":", "")
		equal("which", fmt.Sprintf("%040x", list.RevokedCertificateEntries[0].SerialNumber), fmt.Sprintf("%040s", number))
	})
	s.step("lists what is revoked", func() {
		equal("the serial numbers", s.keys(mount+"/certs/revoked"), []string{serial})
	})
	s.step("revokes with the key", func() {
		issued := s.write(mount+"/issue/any", values{"common_name": "keyed.example.com"})
		_, err := s.client.Logical().WriteWithContext(s.ctx, mount+"/revoke-with-key", values{
			"serial_number": textIn(issued.Data, "serial_number"), "private_key": textIn(issued.Data, "private_key"),
		})
		succeeds(err)
		equal("how many are revoked", len(s.keys(mount+"/certs/revoked")), 2)
	})
	s.step("rotates the list", func() {
		equal("done", s.read(mount + "/crl/rotate")["success"], any(true))
	})
	s.step("is told of a serial number that nothing has", func() {
		_, err := s.client.Logical().WriteWithContext(s.ctx, mount+"/revoke", values{"serial_number": "01:02:03"})
		failsSaying(err, "certificate with serial 01:02:03 not found")
	})
}

// What whoever checks certificates fetches, who has no token.
func openReads(s *scenario) {
	mount := s.newAuthority()
	pem := textIn(s.read(mount+"/cert/ca"), "certificate")
	unnamed, err := connect(s.address, "")
	s.step("reads the issuer as a file", func() {
		succeeds(err)
		der, kind := s.file(unnamed, mount+"/ca")
		equal("the content type", kind, "application/pkix-cert")
		equal("the certificate", string(der), string(bytesIn("CERTIFICATE", pem)))
		text, kind := s.file(unnamed, mount+"/ca/pem")
		equal("the content type", kind, "application/pem-certificate-chain")
		equal("the certificate", strings.TrimSpace(string(text)), strings.TrimSpace(pem))
		chain, _ := s.file(unnamed, mount+"/ca_chain")
		equal("the chain", strings.TrimSpace(string(chain)), strings.TrimSpace(pem))
		text, _ = s.file(unnamed, mount+"/issuer/default/pem")
		equal("the issuer", strings.TrimSpace(string(text)), strings.TrimSpace(pem))
	})
	s.step("reads the issuer and the list in an envelope", func() {
		for _, name := range []string{"cert/ca", "issuer/default/json"} {
			secret, err := unnamed.Logical().ReadWithContext(s.ctx, mount+"/"+name)
			succeeds(err)
			equal(name, textIn(present(name, secret).Data, "certificate"), pem)
		}
		secret, err := unnamed.Logical().ReadWithContext(s.ctx, mount+"/cert/crl")
		succeeds(err)
		_, err = x509.ParseRevocationList(bytesIn("X509 CRL", textIn(secret.Data, "certificate")))
		succeeds(err)
	})
	s.step("lists issuers, and may not list certificates", func() {
		secret, err := unnamed.Logical().ListWithContext(s.ctx, mount+"/issuers")
		succeeds(err)
		equal("how many issuers", len(textsIn(secret.Data, "keys")), 1)
		_, err = unnamed.Logical().ListWithContext(s.ctx, mount+"/certs")
		failsWith(err, 403, "permission denied")
	})
}

func leases(s *scenario) {
	mount := s.newAuthority()
	sys := s.client.Sys()
	s.write(mount+"/roles/leased", values{"allow_any_name": true, "key_type": "ec", "generate_lease": true, "ttl": "1h"})
	issue := func() *vault.Secret {
		return s.write(mount+"/issue/leased", values{"common_name": "leased.example.com"})
	}
	revoked := func(secret *vault.Secret) bool {
		return numberIn(s.read(mount+"/cert/"+textIn(secret.Data, "serial_number")), "revocation_time") > 0
	}
	s.step("issues with a lease", func() {
		issued := issue()
		isTrue("it is named for the role", strings.HasPrefix(issued.LeaseID, mount+"/issue/leased/"))
		isTrue("it lasts an hour", issued.LeaseDuration > 3_500 && issued.LeaseDuration <= 3_600)
		equal("renewable", issued.Renewable, false)
		looked, err := sys.LookupWithContext(s.ctx, issued.LeaseID)
		succeeds(err)
		equal("the id", textIn(looked.Data, "id"), issued.LeaseID)
		equal("renewable", looked.Data["renewable"], any(false))
		isTrue("it ends", numberIn(looked.Data, "ttl") > 3_500)
	})
	s.step("renews none, which a watcher of its lifetime understands", func() {
		issued := issue()
		_, err := sys.RenewWithContext(s.ctx, issued.LeaseID, 60)
		failsWith(err, 400, "lease is not renewable")
		watcher, err := s.client.NewLifetimeWatcher(&vault.LifetimeWatcherInput{Secret: issued})
		succeeds(err)
		go watcher.Start()
		defer watcher.Stop()
		// Whoever cannot renew waits until the certificate nears its end.
		select {
		case err := <-watcher.DoneCh():
			panic(broken(fmt.Sprintf("the watcher has ended: %v", err)))
		case <-watcher.RenewCh():
			panic(broken("the watcher has renewed"))
		default:
		}
	})
	s.step("revokes one, and with it the certificate", func() {
		issued := issue()
		succeeds(sys.RevokeWithContext(s.ctx, issued.LeaseID))
		isTrue("the certificate is revoked", revoked(issued))
		_, err := sys.LookupWithContext(s.ctx, issued.LeaseID)
		failsWith(err, 400, "invalid lease")
	})
	s.step("revokes at once, as the command line does", func() {
		issued := issue()
		succeeds(sys.RevokeWithOptionsWithContext(s.ctx, &vault.RevokeOptions{LeaseID: issued.LeaseID, Sync: true}))
		isTrue("the certificate is revoked", revoked(issued))
	})
	s.step("lists them, and revokes all of a role", func() {
		first, second := issue(), issue()
		secret, err := s.client.Logical().ListWithContext(s.ctx, "sys/leases/lookup/"+mount+"/issue/leased/")
		succeeds(err)
		for _, each := range []*vault.Secret{first, second} {
			isTrue("each is listed", in(textsIn(secret.Data, "keys"), each.LeaseID[strings.LastIndex(each.LeaseID, "/")+1:]))
		}
		succeeds(sys.RevokeWithOptionsWithContext(s.ctx, &vault.RevokeOptions{LeaseID: mount + "/issue/leased", Prefix: true, Sync: true}))
		isTrue("both are revoked", revoked(first) && revoked(second))
		absent(s.client.Logical().ListWithContext(s.ctx, "sys/leases/lookup/"+mount+"/issue/leased/"))
		succeeds(sys.RevokeForceWithContext(s.ctx, mount+"/issue/leased"))
	})
}
