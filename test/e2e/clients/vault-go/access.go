package main

import (
	"fmt"
	"net/http"

	vault "github.com/hashicorp/vault/api"
)

func policies(s *scenario) {
	sys := s.client.Sys()
	name := "policy-" + unique()
	rules := `path "pki/issue/web" { capabilities = ["create", "update"] }`
	s.step("puts a policy, reads and lists it", func() {
		succeeds(sys.PutPolicyWithContext(s.ctx, name, rules))
		read, err := sys.GetPolicyWithContext(s.ctx, name)
		succeeds(err)
		equal("the policy", read, rules)
		names, err := sys.ListPoliciesWithContext(s.ctx)
		succeeds(err)
		isTrue("it is listed, with those that are always there", in(names, name) && in(names, "default") && in(names, "root"))
	})
	s.step("is told what is wrong with a policy", func() {
		err := sys.PutPolicyWithContext(s.ctx, name, `path "pki/*" { capabilities = ["fly"] }`)
		failsSaying(err, "fly")
		read, err := sys.GetPolicyWithContext(s.ctx, name)
		succeeds(err)
		equal("the policy", read, rules)
	})
	s.step("deletes a policy, and reads nothing", func() {
		succeeds(sys.DeletePolicyWithContext(s.ctx, name))
		read, err := sys.GetPolicyWithContext(s.ctx, name)
		succeeds(err)
		equal("the policy", read, "")
	})
}

func capabilities(s *scenario) {
	sys := s.client.Sys()
	client, auth := s.newClient(s.newPolicy(`
path "pki/issue/*" { capabilities = ["create", "update"] }
path "pki/issue/secret" { capabilities = ["deny"] }
`))
	s.step("asks what its own token may do", func() {
		own, err := s.client.Sys().CapabilitiesSelfWithContext(s.ctx, "pki/roles/web")
		succeeds(err)
		equal("the administrator's", own, []string{"root"})
		own, err = client.Sys().CapabilitiesSelfWithContext(s.ctx, "pki/issue/web")
		succeeds(err)
		equal("the token's", own, []string{"create", "update"})
		own, err = client.Sys().CapabilitiesSelfWithContext(s.ctx, "pki/roles/web")
		succeeds(err)
		equal("what nothing grants", own, []string{"deny"})
	})
	s.step("asks what another may do, by the token and by its accessor", func() {
		others, err := sys.CapabilitiesWithContext(s.ctx, auth.ClientToken, "pki/issue/secret")
		succeeds(err)
		equal("the token's", others, []string{"deny"})
		others, err = sys.CapabilitiesAccessorWithContext(s.ctx, auth.Accessor, "pki/issue/web")
		succeeds(err)
		equal("the same by its accessor", others, []string{"create", "update"})
	})
}

func tokens(s *scenario) {
	token := s.client.Auth().Token()
	s.step("looks at its own", func() {
		secret, err := token.LookupSelfWithContext(s.ctx)
		succeeds(err)
		held, err := secret.TokenPolicies()
		succeeds(err)
		equal("the policies", held, []string{"root"})
		id, err := secret.TokenID()
		succeeds(err)
		equal("the token", id, s.client.Token())
	})
	s.step("creates a child, which looks at itself", func() {
		renewable := true
		created, err := token.CreateWithContext(s.ctx, &vault.TokenCreateRequest{
			Policies: []string{"default"}, TTL: "30m", ExplicitMaxTTL: "2h", DisplayName: "scenario", NumUses: 5, Renewable: &renewable,
			Metadata: map[string]string{"host": "web-1"},
		})
		succeeds(err)
		auth := present("the login", created.Auth)
		equal("renewable", auth.Renewable, true)
		equal("the policies", auth.Policies, []string{"default"})
		equal("the metadata", auth.Metadata, map[string]string{"host": "web-1"})
		isTrue("it lasts half an hour", auth.LeaseDuration > 1_700 && auth.LeaseDuration <= 1_800)
		own, err := connect(s.address, auth.ClientToken)
		succeeds(err)
		looked, err := own.Auth().Token().LookupSelfWithContext(s.ctx)
		succeeds(err)
		accessor, err := looked.TokenAccessor()
		succeeds(err)
		equal("the accessor", accessor, auth.Accessor)
		left, err := looked.TokenRemainingUses()
		succeeds(err)
		equal("how often it may be used", left, 4)
		metadata, err := looked.TokenMetadata()
		succeeds(err)
		equal("the metadata", metadata, map[string]string{"host": "web-1"})
		equal("the name", textIn(looked.Data, "display_name"), "token-scenario")
		equal("the longest time", numberIn(looked.Data, "explicit_max_ttl"), 7_200)
	})
	s.step("looks at another, by the token and by its accessor", func() {
		_, auth := s.newClient("default")
		byToken, err := token.LookupWithContext(s.ctx, auth.ClientToken)
		succeeds(err)
		equal("the accessor", textIn(byToken.Data, "accessor"), auth.Accessor)
		byAccessor, err := token.LookupAccessorWithContext(s.ctx, auth.Accessor)
		succeeds(err)
		equal("the token, which is not told", textIn(byAccessor.Data, "id"), "")
		isTrue("it is listed", in(s.keys("auth/token/accessors"), auth.Accessor))
	})
	s.step("renews itself and others", func() {
		own, auth := s.newClient("default")
		renewed, err := own.Auth().Token().RenewSelfWithContext(s.ctx, 7_200)
		succeeds(err)
		equal("the token", present("the login", renewed.Auth).ClientToken, auth.ClientToken)
		isTrue("it lasts two hours", renewed.Auth.LeaseDuration > 7_100)
		renewed, err = token.RenewWithContext(s.ctx, auth.ClientToken, 3_600)
		succeeds(err)
		isTrue("it lasts an hour", renewed.Auth.LeaseDuration <= 3_600)
		renewed, err = token.RenewAccessorWithContext(s.ctx, auth.Accessor, 7_200)
		succeeds(err)
		isTrue("it lasts two hours again", renewed.Auth.LeaseDuration > 7_100)
	})
	s.step("makes an orphan, which outlives its maker", func() {
		maker, makers := s.newClient(s.newPolicy(`
path "auth/token/create" { capabilities = ["update"] }
path "auth/token/create-orphan" { capabilities = ["update", "sudo"] }
`))
		child, err := maker.Auth().Token().CreateWithContext(s.ctx, &vault.TokenCreateRequest{TTL: "10m"})
		succeeds(err)
		orphan, err := maker.Auth().Token().CreateOrphanWithContext(s.ctx, &vault.TokenCreateRequest{TTL: "10m"})
		succeeds(err)
		equal("orphan", present("the login", orphan.Auth).Orphan, true)
		succeeds(token.RevokeTreeWithContext(s.ctx, makers.ClientToken))
		_, err = token.LookupWithContext(s.ctx, child.Auth.ClientToken)
		failsWith(err, 403, "bad token")
		_, err = token.LookupWithContext(s.ctx, orphan.Auth.ClientToken)
		succeeds(err)
	})
	s.step("revokes itself, by accessor and without its children", func() {
		own, auth := s.newClient("default")
		succeeds(own.Auth().Token().RevokeSelfWithContext(s.ctx, ""))
		_, err := own.Auth().Token().LookupSelfWithContext(s.ctx)
		failsWith(err, 403, "permission denied")
		_, auth = s.newClient("default")
		succeeds(token.RevokeAccessorWithContext(s.ctx, auth.Accessor))
		parent, parents := s.newClient(s.newPolicy(`path "auth/token/create" { capabilities = ["update"] }`))
		child, err := parent.Auth().Token().CreateWithContext(s.ctx, &vault.TokenCreateRequest{TTL: "10m"})
		succeeds(err)
		succeeds(token.RevokeOrphanWithContext(s.ctx, parents.ClientToken))
		left, err := token.LookupWithContext(s.ctx, child.Auth.ClientToken)
		succeeds(err)
		equal("orphan", left.Data["orphan"], any(true))
	})
}

// By what agents and other tools keep their token alive with.
func tokenRenewal(s *scenario) {
	newToken := func(ttl string, renewable bool) *vault.Secret {
		secret, err := s.client.Auth().Token().CreateWithContext(s.ctx, &vault.TokenCreateRequest{
			Policies: []string{"default"}, TTL: ttl, Renewable: &renewable,
		})
		succeeds(err)
		return secret
	}
	s.step("renews at once, and goes on until it is stopped", func() {
		secret := newToken("1h", true)
		watcher := s.watcher(secret, 7_200)
		go watcher.Start()
		select {
		case renewal := <-watcher.RenewCh():
			auth := present("the login", renewal.Secret.Auth)
			equal("the token", auth.ClientToken, secret.Auth.ClientToken)
			isTrue("it lasts two hours", auth.LeaseDuration > 7_100)
		case err := <-watcher.DoneCh():
			panic(broken(fmt.Sprintf("the watcher has ended: %v", err)))
		case <-s.ctx.Done():
			panic(broken("nothing was renewed"))
		}
		watcher.Stop()
		equal("how often it was renewed afterwards", s.renewalsUntilEnd(watcher), 0)
	})
	s.step("waits for the end of one that cannot be renewed", func() {
		watcher := s.watcher(newToken("1s", false), 0)
		go watcher.Start()
		equal("how often it was renewed", s.renewalsUntilEnd(watcher), 0)
	})
	s.step("waits for the end of one that has been revoked", func() {
		secret := newToken("1s", true)
		succeeds(s.client.Auth().Token().RevokeAccessorWithContext(s.ctx, secret.Auth.Accessor))
		watcher := s.watcher(secret, 0)
		go watcher.Start()
		equal("how often it was renewed", s.renewalsUntilEnd(watcher), 0)
	})
}

func (s *scenario) watcher(secret *vault.Secret, increment int) *vault.LifetimeWatcher {
	watcher, err := s.client.NewLifetimeWatcher(&vault.LifetimeWatcherInput{Secret: secret, Increment: increment})
	succeeds(err)
	return watcher
}

// The watcher must end by itself, and without an error.
func (s *scenario) renewalsUntilEnd(watcher *vault.LifetimeWatcher) int {
	for count := 0; ; {
		select {
		case <-watcher.RenewCh():
			count++
		case err := <-watcher.DoneCh():
			succeeds(err)
			return count
		case <-s.ctx.Done():
			panic(broken("the watcher did not end"))
		}
	}
}

func refusals(s *scenario) {
	logical := s.client.Logical()
	mount := s.newMount()
	s.step("is denied without a token, with a wrong one and without a right", func() {
		for _, token := range []string{"", "hvs.wrong"} {
			client, err := connect(s.address, token)
			succeeds(err)
			_, err = client.Logical().ReadWithContext(s.ctx, mount+"/roles/web")
			failsWith(err, http.StatusForbidden, "permission denied")
		}
		client, _ := s.newClient("default")
		_, err := client.Logical().ReadWithContext(s.ctx, mount+"/roles/web")
		failsSaying(err, "permission denied")
	})
	s.step("reads nothing where nothing is", func() {
		absent(logical.ReadWithContext(s.ctx, mount+"/roles/absent"))
		absent(logical.ReadWithContext(s.ctx, "absent-"+unique()+"/roles/web"))
		absent(logical.ReadWithContext(s.ctx, mount+"/no/such/path"))
	})
	s.step("writes nowhere but where there is something", func() {
		path := "absent-" + unique() + "/roles/web"
		_, err := logical.WriteWithContext(s.ctx, path, values{"ttl": "1h"})
		failsWith(err, http.StatusNotFound, `no handler for route "`+path+`". route entry not found.`)
		_, err = logical.WriteWithContext(s.ctx, mount+"/no/such/path", values{})
		failsWith(err, http.StatusNotFound, "unsupported path")
		_, err = logical.WriteWithContext(s.ctx, mount+"/cert/ca", values{})
		failsWith(err, http.StatusMethodNotAllowed, "unsupported operation")
	})
	s.step("is told that a body is no JSON", func() {
		_, err := logical.WriteBytesWithContext(s.ctx, mount+"/roles/web", []byte("{"))
		failsWith(err, http.StatusBadRequest, "the body is not valid JSON")
	})
	s.step("asks for a wrapped answer in vain", func() {
		client, err := s.client.Clone()
		succeeds(err)
		client.SetToken(s.client.Token())
		client.SetWrappingLookupFunc(func(string, string) string { return "5m" })
		_, err = client.Logical().ReadWithContext(s.ctx, "auth/token/lookup-self")
		failsWith(err, http.StatusBadRequest, "response wrapping is not supported")
	})
}
