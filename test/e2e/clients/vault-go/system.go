package main

import (
	"strings"

	vault "github.com/hashicorp/vault/api"
)

func connection(s *scenario) {
	unnamed, err := connect(s.address, "")
	s.step("asks for its health without a token", func() {
		succeeds(err)
		health, err := unnamed.Sys().HealthWithContext(s.ctx)
		succeeds(err)
		equal("initialized", health.Initialized, true)
		equal("sealed", health.Sealed, false)
		equal("standby", health.Standby, false)
		equal("enterprise", health.Enterprise, false)
		isTrue("it has a version", strings.Count(health.Version, ".") == 2)
		isTrue("it tells the time", health.ServerTimeUTC > 0)
		isTrue("it has a name and an id", health.ClusterName != "" && health.ClusterID != "")
	})
	s.step("asks for its seal", func() {
		status, err := unnamed.Sys().SealStatusWithContext(s.ctx)
		succeeds(err)
		equal("initialized", status.Initialized, true)
		equal("sealed", status.Sealed, false)
		health, err := unnamed.Sys().HealthWithContext(s.ctx)
		succeeds(err)
		equal("the version", status.Version, health.Version)
		equal("the cluster", status.ClusterID, health.ClusterID)
	})
	s.step("asks whether it has been initialized", func() {
		initialized, err := unnamed.Sys().InitStatusWithContext(s.ctx)
		succeeds(err)
		equal("initialized", initialized, true)
	})
	s.step("asks for the leader", func() {
		leader, err := unnamed.Sys().LeaderWithContext(s.ctx)
		succeeds(err)
		equal("is self", leader.IsSelf, true)
		equal("HA enabled", leader.HAEnabled, false)
	})
	s.step("asks for help with a path", func() {
		mount := s.newMount()
		help, err := s.client.HelpWithContext(s.ctx, mount+"/roles/web")
		succeeds(err)
		isTrue("it names the path", strings.Contains(help.Help, "roles/web"))
		isTrue("it describes the operations", help.OpenAPI["paths"] != nil)
	})
	s.step("names the namespace root, and is told that there are no others", func() {
		root := s.client.WithNamespace("root")
		_, err := root.Sys().ListMountsWithContext(s.ctx)
		succeeds(err)
		_, err = s.client.WithNamespace("tenant").Sys().ListMountsWithContext(s.ctx)
		failsWith(err, 400, "namespaces are not supported, except root")
	})
}

func mounts(s *scenario) {
	path := "certificates-" + unique()
	sys := s.client.Sys()
	s.step("mounts, and reads how", func() {
		succeeds(sys.MountWithContext(s.ctx, path, &vault.MountInput{
			Type: "pki", Description: "for servers",
			Config: vault.MountConfigInput{DefaultLeaseTTL: "24h", MaxLeaseTTL: "720h"},
		}))
		mount, err := sys.GetMountWithContext(s.ctx, path)
		succeeds(err)
		equal("the type", mount.Type, "pki")
		equal("the description", mount.Description, "for servers")
		equal("the usual time", mount.Config.DefaultLeaseTTL, 86_400)
		equal("the longest time", mount.Config.MaxLeaseTTL, 2_592_000)
		isTrue("it has an id and an accessor", mount.UUID != "" && mount.Accessor != "")
	})
	s.step("mounts twice at one path in vain", func() {
		err := sys.MountWithContext(s.ctx, path, &vault.MountInput{Type: "pki"})
		failsWith(err, 409, "path is already in use at "+path+"/")
	})
	s.step("mounts nothing but authorities", func() {
		err := sys.MountWithContext(s.ctx, "kv-"+unique(), &vault.MountInput{Type: "kv"})
		failsWith(err, 400, `"type" must be "pki"`)
	})
	s.step("lists mounts", func() {
		all, err := sys.ListMountsWithContext(s.ctx)
		succeeds(err)
		mount := present("the mount", all[path+"/"])
		one, err := sys.GetMountWithContext(s.ctx, path+"/")
		succeeds(err)
		equal("the mount", *mount, *one)
	})
	s.step("tunes, and reads what holds", func() {
		succeeds(sys.TuneMountWithContext(s.ctx, path, vault.MountConfigInput{DefaultLeaseTTL: "48h", MaxLeaseTTL: "1000h"}))
		config, err := sys.MountConfigWithContext(s.ctx, path)
		succeeds(err)
		equal("the usual time", config.DefaultLeaseTTL, 172_800)
		equal("the longest time", config.MaxLeaseTTL, 3_600_000)
	})
	s.step("tunes some of it and leaves the rest", func() {
		description, headers := "", []string{"If-Modified-Since"}
		succeeds(sys.TuneMountAllowNilWithContext(s.ctx, path, vault.TuneMountConfigInput{
			Description: &description, PassthroughRequestHeaders: &headers,
		}))
		// The older call sends every duration, an empty text where none is meant.
		succeeds(sys.TuneMountWithContext(s.ctx, path, vault.MountConfigInput{AllowedResponseHeaders: []string{"Last-Modified"}}))
		mount, err := sys.GetMountWithContext(s.ctx, path)
		succeeds(err)
		equal("the description", mount.Description, "")
		config, err := sys.MountConfigWithContext(s.ctx, path)
		succeeds(err)
		equal("the usual time", config.DefaultLeaseTTL, 172_800)
		equal("the longest time", config.MaxLeaseTTL, 3_600_000)
		equal("the headers of requests", config.PassthroughRequestHeaders, headers)
		equal("the headers of answers", config.AllowedResponseHeaders, []string{"Last-Modified"})
	})
	s.step("gives a mount the times of the system again", func() {
		succeeds(sys.TuneMountWithContext(s.ctx, path, vault.MountConfigInput{DefaultLeaseTTL: "system", MaxLeaseTTL: "system"}))
		config, err := sys.MountConfigWithContext(s.ctx, path)
		succeeds(err)
		equal("the usual time", config.DefaultLeaseTTL, 2_764_800)
		equal("the longest time", config.MaxLeaseTTL, 2_764_800)
	})
	s.step("refuses a time that is none", func() {
		err := sys.TuneMountWithContext(s.ctx, path, vault.MountConfigInput{DefaultLeaseTTL: "soon"})
		failsWith(err, 400, `"default_lease_ttl" must be a duration, such as 90, "90s", "1h30m" or "7d"`)
	})
	s.step("moves a mount with what is in it", func() {
		s.write(path+"/roles/web", values{"allow_any_name": true})
		moved := path + "-moved"
		succeeds(sys.RemountWithContext(s.ctx, path, moved))
		equal("the roles", s.keys(moved+"/roles"), []string{"web"})
		_, err := s.client.Logical().ReadWithContext(s.ctx, path+"/roles/web")
		absent(nil, err)
		path = moved
	})
	s.step("follows a move", func() {
		moved := path + "-again"
		started, err := sys.StartRemountWithContext(s.ctx, path, moved)
		succeeds(err)
		status, err := sys.RemountStatusWithContext(s.ctx, started.MigrationID)
		succeeds(err)
		equal("the status", present("the move", status.MigrationInfo).MigrationStatus, "success")
		equal("where from", strings.Trim(status.MigrationInfo.SourceMount, "/"), path)
		equal("where to", strings.Trim(status.MigrationInfo.TargetMount, "/"), moved)
		path = moved
	})
	s.step("unmounts, once and again", func() {
		succeeds(sys.UnmountWithContext(s.ctx, path))
		all, err := sys.ListMountsWithContext(s.ctx)
		succeeds(err)
		isTrue("it is not listed", all[path+"/"] == nil)
		succeeds(sys.UnmountWithContext(s.ctx, path))
	})
}

// What the command line and renderers of templates ask before they use a path.
func preflights(s *scenario) {
	mount := s.newMount()
	s.step("asks in which mount a path lies", func() {
		data := s.read("sys/internal/ui/mounts/" + mount + "/issue/web")
		equal("the path", textIn(data, "path"), mount+"/")
		equal("the type", textIn(data, "type"), "pki")
	})
	s.step("asks which mounts there are", func() {
		secret := s.read("sys/internal/ui/mounts")["secret"].(values)
		equal("the type", textIn(secret[mount+"/"].(values), "type"), "pki")
	})
	s.step("is told nothing of what it may not use", func() {
		// The usual policy has something to say of every mount.
		secret, err := s.client.Auth().Token().CreateWithContext(s.ctx, &vault.TokenCreateRequest{
			Policies: []string{s.newPolicy(`path "elsewhere/*" { capabilities = ["read"] }`)}, NoDefaultPolicy: true, TTL: "1h",
		})
		succeeds(err)
		client, err := connect(s.address, secret.Auth.ClientToken)
		succeeds(err)
		_, err = client.Logical().ReadWithContext(s.ctx, "sys/internal/ui/mounts/"+mount)
		failsWith(err, 403, `preflight capability check returned 403, please ensure client's policies grant access to path "`+mount+`/"`)
	})
}
