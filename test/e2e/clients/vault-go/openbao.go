package main

import (
	"errors"
	"fmt"

	bao "github.com/openbao/openbao/api/v2"
)

// The same service's other client, which shares its beginnings with the first: what differs, and what is used most.
func openBao(s *scenario) {
	config := bao.DefaultConfig()
	config.Address = s.address
	client, err := bao.NewClient(config)
	if err == nil {
		client.SetToken(s.client.Token())
	}
	path := "bao-" + unique()
	s.step("mounts, and reads how", func() {
		succeeds(err)
		succeeds(client.Sys().MountWithContext(s.ctx, path, &bao.MountInput{Type: "pki", Description: "for OpenBao"}))
		all, err := client.Sys().ListMountsWithContext(s.ctx)
		succeeds(err)
		equal("the description", present("the mount", all[path+"/"]).Description, "for OpenBao")
		config, err := client.Sys().MountConfigWithContext(s.ctx, path)
		succeeds(err)
		equal("the usual time", config.DefaultLeaseTTL, 2_764_800)
	})
	s.step("asks for health and seal", func() {
		health, err := client.Sys().HealthWithContext(s.ctx)
		succeeds(err)
		equal("sealed", health.Sealed, false)
		status, err := client.Sys().SealStatusWithContext(s.ctx)
		succeeds(err)
		equal("the cluster", status.ClusterID, health.ClusterID)
	})
	s.step("issues, reads, lists page by page, patches and revokes", func() {
		logical := client.Logical()
		_, err := logical.WriteWithContext(s.ctx, path+"/root/generate/internal", values{"common_name": "Scenario Root", "key_type": "ec"})
		succeeds(err)
		var all []string
		for number := range 5 {
			name := fmt.Sprintf("role-%d", number)
			_, err := logical.WriteWithContext(s.ctx, path+"/roles/"+name, values{"allow_any_name": true, "key_type": "ec"})
			succeeds(err)
			all = append(all, name)
		}
		var seen []string
		for {
			after := ""
			if len(seen) > 0 {
				after = seen[len(seen)-1]
			}
			page, err := logical.ListPageWithContext(s.ctx, path+"/roles", after, 2)
			succeeds(err)
			if page == nil {
				break
			}
			keys := textsIn(page.Data, "keys")
			isTrue("no page has more than was asked for", len(keys) <= 2)
			seen = append(seen, keys...)
		}
		equal("the roles", seen, all)
		_, err = logical.JSONMergePatch(s.ctx, path+"/roles/role-0", values{"max_ttl": "2h"})
		succeeds(err)
		issued, err := logical.WriteWithContext(s.ctx, path+"/issue/role-0", values{"common_name": "web.example.com", "ttl": "1h"})
		succeeds(err)
		serial := textIn(issued.Data, "serial_number")
		_, err = logical.WriteWithContext(s.ctx, path+"/revoke", values{"serial_number": serial})
		succeeds(err)
		revoked, err := logical.ListWithContext(s.ctx, path+"/certs/revoked")
		succeeds(err)
		equal("what is revoked", textsIn(revoked.Data, "keys"), []string{serial})
	})
	s.step("has a token of its own, and renews it", func() {
		created, err := client.Auth().Token().CreateWithContext(s.ctx, &bao.TokenCreateRequest{Policies: []string{"default"}, TTL: "10m"})
		succeeds(err)
		own, err := client.Clone()
		succeeds(err)
		own.SetToken(present("the login", created.Auth).ClientToken)
		renewed, err := own.Auth().Token().RenewSelfWithContext(s.ctx, 1_200)
		succeeds(err)
		isTrue("it lasts longer", renewed.Auth.LeaseDuration > 1_100)
		succeeds(own.Auth().Token().RevokeSelfWithContext(s.ctx, ""))
	})
	s.step("reads nothing where nothing is, and hears why it is refused", func() {
		secret, err := client.Logical().ReadWithContext(s.ctx, path+"/roles/absent")
		succeeds(err)
		isTrue("there is nothing", secret == nil)
		_, err = client.Logical().WriteWithContext(s.ctx, path+"/issue/absent", values{"common_name": "web.example.com"})
		var refused *bao.ResponseError
		isTrue("it is refused", errors.As(err, &refused))
		equal("the status", refused.StatusCode, 400)
		equal("the sentences", refused.Errors, []string{"unknown role: absent"})
	})
	s.step("unmounts", func() {
		succeeds(client.Sys().UnmountWithContext(s.ctx, path))
	})
}
