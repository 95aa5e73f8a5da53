package main

import (
	"time"

	tfe "github.com/hashicorp/go-tfe"
)

func workspaceName(workspace *tfe.Workspace) string { return workspace.Name }

func workspaces(s *scenario) {
	var workspace *tfe.Workspace
	s.step("creates a workspace from nothing but a name", func() {
		workspace = s.newWorkspace("plain")
		equal("the name", workspace.Name, "plain")
		equal("the execution mode", workspace.ExecutionMode, "remote")
		equal("operations", workspace.Operations, true)
		equal("auto-apply", workspace.AutoApply, false)
		equal("allow-destroy-plan", workspace.AllowDestroyPlan, true)
		equal("file-triggers-enabled", workspace.FileTriggersEnabled, true)
		equal("speculative-enabled", workspace.SpeculativeEnabled, true)
		equal("queue-all-runs", workspace.QueueAllRuns, false)
		equal("global-remote-state", workspace.GlobalRemoteState, false)
		equal("inherits-project-auto-destroy", workspace.InheritsProjectAutoDestroy, true)
		equal("environment", workspace.Environment, "default")
		equal("locked", workspace.Locked, false)
		equal("the resource count", workspace.ResourceCount, 0)
		equal("the tag names", len(workspace.TagNames), 0)
		isTrue("it has an engine version", workspace.TerraformVersion != "")
		isTrue("it has no VCS repository", workspace.VCSRepo == nil)
		isTrue("it is destroyable", present("actions", workspace.Actions).IsDestroyable)
		equal("the organization", present("organization", workspace.Organization).Name, s.organization)
		isTrue("it has a project", present("project", workspace.Project).ID != "")
		isTrue("it was created now", time.Since(workspace.CreatedAt).Abs() < time.Minute)
		isTrue("it was updated now", time.Since(workspace.UpdatedAt).Abs() < time.Minute)
		overwrites := present("setting-overwrites", workspace.SettingOverwrites)
		equal("the execution mode's own", *present("the flag", overwrites.ExecutionMode), false)
		equal("the agent pool's own", *present("the flag", overwrites.AgentPool), false)
	})
	s.step("shows the owner every permission", func() {
		equal("the permissions", *present("permissions", workspace.Permissions), tfe.WorkspacePermissions{
			CanDestroy: true, CanForceUnlock: true, CanLock: true, CanManageRunTasks: true, CanQueueApply: true,
			CanQueueDestroy: true, CanQueueRun: true, CanReadSettings: true, CanUnlock: true, CanUpdate: true,
			CanUpdateVariable: true, CanForceDelete: tfe.Bool(true),
		})
	})
	s.step("creates a workspace with every setting", func() {
		project, err := s.client.Projects.Create(s.ctx, s.organization, tfe.ProjectCreateOptions{Name: "side"})
		succeeds(err)
		full, err := s.client.Workspaces.Create(s.ctx, s.organization, tfe.WorkspaceCreateOptions{
			Name:                       tfe.String("full"),
			Description:                tfe.String("has it all"),
			AllowDestroyPlan:           tfe.Bool(false),
			AutoApply:                  tfe.Bool(true),
			AutoApplyRunTrigger:        tfe.Bool(true),
			AutoDestroyAt:              tfe.NullableTime(time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)),
			ExecutionMode:              tfe.String("local"),
			FileTriggersEnabled:        tfe.Bool(true),
			GlobalRemoteState:          tfe.Bool(true),
			InheritsProjectAutoDestroy: tfe.Bool(false),
			QueueAllRuns:               tfe.Bool(true),
			SpeculativeEnabled:         tfe.Bool(false),
			SourceName:                 tfe.String("a scenario"),
			SourceURL:                  tfe.String("https://example.com/scenario"),
			StructuredRunOutputEnabled: tfe.Bool(false),
			TerraformVersion:           tfe.String("1.9.8"),
			TriggerPrefixes:            []string{"/modules", "/shared"},
			WorkingDirectory:           tfe.String("deploy/eu"),
			Project:                    project,
			Tags:                       []*tfe.Tag{{Name: "blue"}, {Name: "green"}},
			TagBindings:                []*tfe.TagBinding{{Key: "team", Value: "core"}, {Key: "solo"}},
		})
		succeeds(err)
		for _, read := range []*tfe.Workspace{full, s.read("full")} {
			equal("the description", read.Description, "has it all")
			equal("allow-destroy-plan", read.AllowDestroyPlan, false)
			equal("auto-apply", read.AutoApply, true)
			equal("auto-apply-run-trigger", read.AutoApplyRunTrigger, true)
			at, err := read.AutoDestroyAt.Get()
			succeeds(err)
			equal("auto-destroy-at", at.UTC(), time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC))
			equal("the execution mode", read.ExecutionMode, "local")
			equal("operations", read.Operations, false)
			equal("the execution mode's own", *read.SettingOverwrites.ExecutionMode, true)
			equal("global-remote-state", read.GlobalRemoteState, true)
			equal("inherits-project-auto-destroy", read.InheritsProjectAutoDestroy, false)
			equal("queue-all-runs", read.QueueAllRuns, true)
			equal("speculative-enabled", read.SpeculativeEnabled, false)
			equal("source-name", read.SourceName, "a scenario")
			equal("source-url", read.SourceURL, "https://example.com/scenario")
			equal("structured-run-output-enabled", read.StructuredRunOutputEnabled, false)
			equal("terraform-version", read.TerraformVersion, "1.9.8")
			equal("trigger-prefixes", read.TriggerPrefixes, []string{"/modules", "/shared"})
			equal("working-directory", read.WorkingDirectory, "deploy/eu")
			equal("the project", read.Project.ID, project.ID)
			equal("the tag names", sorted(read.TagNames), []string{"blue", "green"})
		}
		bindings, err := s.client.Workspaces.ListTagBindings(s.ctx, full.ID)
		succeeds(err)
		equal("the bindings", pairs(bindings), []string{"solo=", "team=core"})
	})
	s.step("creates a workspace with a VCS repository", func() {
		token := s.newOAuthToken()
		created, err := s.client.Workspaces.Create(s.ctx, s.organization, tfe.WorkspaceCreateOptions{
			Name: tfe.String("versioned"), TriggerPatterns: []string{"/modules/**/*", "/deploy/*"},
			VCSRepo: &tfe.VCSRepoOptions{
				Identifier: tfe.String("org/repository"), OAuthTokenID: &token.ID, Branch: tfe.String("trunk"),
				IngressSubmodules: tfe.Bool(true), TagsRegex: tfe.String(""),
			},
		})
		succeeds(err)
		repository := present("vcs-repo", created.VCSRepo)
		equal("the identifier", repository.Identifier, "org/repository")
		equal("the display identifier", repository.DisplayIdentifier, "org/repository")
		equal("the branch", repository.Branch, "trunk")
		equal("ingress-submodules", repository.IngressSubmodules, true)
		equal("the OAuth token", repository.OAuthTokenID, token.ID)
		equal("the service provider", repository.ServiceProvider, "github")
		equal("the tags regex", repository.TagsRegex, "")
		equal("the trigger patterns", created.TriggerPatterns, []string{"/modules/**/*", "/deploy/*"})
	})
	s.step("starts runs for git tags that match a regular expression", func() {
		token := s.newOAuthToken()
		created, err := s.client.Workspaces.Create(s.ctx, s.organization, tfe.WorkspaceCreateOptions{
			Name: tfe.String("released"), FileTriggersEnabled: tfe.Bool(false),
			VCSRepo: &tfe.VCSRepoOptions{Identifier: tfe.String("org/other"), OAuthTokenID: &token.ID, TagsRegex: tfe.String(`v\d+`)},
		})
		succeeds(err)
		equal("the tags regex", created.VCSRepo.TagsRegex, `v\d+`)
		equal("file-triggers-enabled", created.FileTriggersEnabled, false)
	})
	s.step("removes a VCS repository, by name and by id", func() {
		removed, err := s.client.Workspaces.RemoveVCSConnection(s.ctx, s.organization, "versioned")
		succeeds(err)
		isTrue("it has no VCS repository", removed.VCSRepo == nil)
		removed, err = s.client.Workspaces.RemoveVCSConnectionByID(s.ctx, s.read("released").ID)
		succeeds(err)
		isTrue("it has no VCS repository", removed.VCSRepo == nil)
	})
	s.step("refuses a second workspace of the name", func() {
		_, err := s.client.Workspaces.Create(s.ctx, s.organization, tfe.WorkspaceCreateOptions{Name: tfe.String("plain")})
		failsSaying(err, "invalid attribute\n\nName has already been taken")
	})
	s.step("refuses an engine version that there is not", func() {
		_, err := s.client.Workspaces.Create(s.ctx, s.organization, tfe.WorkspaceCreateOptions{
			Name: tfe.String("future"), TerraformVersion: tfe.String("nonexisting"),
		})
		isTrue("it is refused", err != nil)
	})
	s.step("knows no workspace in an absent organization", func() {
		_, err := s.client.Workspaces.Create(s.ctx, "absent", tfe.WorkspaceCreateOptions{Name: tfe.String("plain")})
		failsWith(err, tfe.ErrResourceNotFound)
	})
	s.step("reads a workspace by name and by id", func() {
		byName, err := s.client.Workspaces.Read(s.ctx, s.organization, "plain")
		succeeds(err)
		byID, err := s.client.Workspaces.ReadByID(s.ctx, workspace.ID)
		succeeds(err)
		equal("the workspace", byName, byID)
		equal("the id", byName.ID, workspace.ID)
		_, err = s.client.Workspaces.Read(s.ctx, s.organization, "absent")
		failsWith(err, tfe.ErrResourceNotFound)
		_, err = s.client.Workspaces.ReadByID(s.ctx, "ws-absent")
		failsWith(err, tfe.ErrResourceNotFound)
	})
	s.step("includes what stands beside a workspace", func() {
		read, err := s.client.Workspaces.ReadByIDWithOptions(s.ctx, workspace.ID, &tfe.WorkspaceReadOptions{
			Include: []tfe.WSIncludeOpt{
				tfe.WSOrganization, tfe.WSProject, tfe.WSCurrentRun, tfe.WSCurrentRunPlan, tfe.WSCurrentStateVer,
				tfe.WSLockedBy, tfe.WSOutputs, tfe.WSReadme, tfe.WSEffectiveTagBindings, tfe.WSCurrentConfigVer,
				tfe.WSCurrentConfigVerIngress, tfe.WSCurrentRunConfigVer, tfe.WSCurrentrunConfigVerIngress,
			},
		})
		succeeds(err)
		equal("the organization's email", read.Organization.Email, "owner@example.com")
		equal("the project's name", read.Project.Name, "Default Project")
		read, err = s.client.Workspaces.ReadWithOptions(s.ctx, s.organization, "plain", &tfe.WorkspaceReadOptions{
			Include: []tfe.WSIncludeOpt{tfe.WSOrganization},
		})
		succeeds(err)
		equal("the organization's email", read.Organization.Email, "owner@example.com")
	})
	s.step("refuses to include what it does not know", func() {
		_, err := s.client.Workspaces.ReadByIDWithOptions(s.ctx, workspace.ID, &tfe.WorkspaceReadOptions{
			Include: []tfe.WSIncludeOpt{"nonsense"},
		})
		failsWith(err, tfe.ErrInvalidIncludeValue)
	})
	s.step("has no readme without a configuration", func() {
		readme, err := s.client.Workspaces.Readme(s.ctx, workspace.ID)
		succeeds(err)
		isTrue("there is none", readme == nil)
	})
	s.step("renames a workspace, by name and by id", func() {
		renamed, err := s.client.Workspaces.Update(s.ctx, s.organization, "plain", tfe.WorkspaceUpdateOptions{
			Name: tfe.String("renamed"), Description: tfe.String("new"), AutoApply: tfe.Bool(true),
		})
		succeeds(err)
		equal("the name", renamed.Name, "renamed")
		equal("the description", renamed.Description, "new")
		equal("the id", renamed.ID, workspace.ID)
		_, err = s.client.Workspaces.Read(s.ctx, s.organization, "plain")
		failsWith(err, tfe.ErrResourceNotFound)
		again, err := s.client.Workspaces.UpdateByID(s.ctx, workspace.ID, tfe.WorkspaceUpdateOptions{Name: tfe.String("again")})
		succeeds(err)
		equal("the name", again.Name, "again")
		equal("what was not given", again.AutoApply, true)
		isTrue("it was updated later", again.UpdatedAt.Compare(again.CreatedAt) >= 0)
	})
	s.step("moves a workspace to another project", func() {
		project, err := s.client.Projects.Create(s.ctx, s.organization, tfe.ProjectCreateOptions{Name: "moved"})
		succeeds(err)
		moved, err := s.client.Workspaces.UpdateByID(s.ctx, workspace.ID, tfe.WorkspaceUpdateOptions{Project: project})
		succeeds(err)
		equal("the project", moved.Project.ID, project.ID)
		stayed, err := s.client.Workspaces.UpdateByID(s.ctx, workspace.ID, tfe.WorkspaceUpdateOptions{AutoApply: tfe.Bool(false)})
		succeeds(err)
		equal("the project", stayed.Project.ID, project.ID)
	})
}

func (s *scenario) read(name string) *tfe.Workspace {
	workspace, err := s.client.Workspaces.Read(s.ctx, s.organization, name)
	succeeds(err)
	return workspace
}

func workspaceSettings(s *scenario) {
	create := func(options tfe.WorkspaceCreateOptions) (*tfe.Workspace, error) {
		options.Name = tfe.String("set-" + unique())
		return s.client.Workspaces.Create(s.ctx, s.organization, options)
	}
	update := func(workspace *tfe.Workspace, options tfe.WorkspaceUpdateOptions) *tfe.Workspace {
		updated, err := s.client.Workspaces.UpdateByID(s.ctx, workspace.ID, options)
		succeeds(err)
		return updated
	}
	var pool *tfe.AgentPool
	s.step("runs on an agent pool", func() {
		pool = s.newAgentPool("pool")
		workspace, err := create(tfe.WorkspaceCreateOptions{ExecutionMode: tfe.String("agent"), AgentPoolID: &pool.ID})
		succeeds(err)
		equal("the execution mode", workspace.ExecutionMode, "agent")
		equal("the pool", present("agent-pool", workspace.AgentPool).ID, pool.ID)
		equal("the pool's own", *workspace.SettingOverwrites.AgentPool, true)
		back := update(workspace, tfe.WorkspaceUpdateOptions{ExecutionMode: tfe.String("remote"), AgentPoolID: tfe.String("")})
		equal("the execution mode", back.ExecutionMode, "remote")
		isTrue("it has no pool", back.AgentPool == nil)
	})
	s.step("refuses a pool that is not this organization's", func() {
		_, err := create(tfe.WorkspaceCreateOptions{ExecutionMode: tfe.String("agent"), AgentPoolID: tfe.String("apool-absent")})
		isTrue("it is refused", err != nil)
	})
	s.step("inherits the organization's execution mode until it has its own, and again after", func() {
		_, err := s.client.Organizations.Update(s.ctx, s.organization, tfe.OrganizationUpdateOptions{DefaultExecutionMode: tfe.String("local")})
		succeeds(err)
		workspace, err := create(tfe.WorkspaceCreateOptions{})
		succeeds(err)
		equal("the inherited mode", workspace.ExecutionMode, "local")
		own := update(workspace, tfe.WorkspaceUpdateOptions{ExecutionMode: tfe.String("remote")})
		equal("its own mode", own.ExecutionMode, "remote")
		equal("the flag", *own.SettingOverwrites.ExecutionMode, true)
		again := update(workspace, tfe.WorkspaceUpdateOptions{
			SettingOverwrites: &tfe.WorkspaceSettingOverwritesOptions{ExecutionMode: tfe.Bool(false), AgentPool: tfe.Bool(false)},
		})
		equal("the mode inherited again", again.ExecutionMode, "local")
		equal("the flag", *again.SettingOverwrites.ExecutionMode, false)
	})
	s.step("inherits the organization's agent pool", func() {
		_, err := s.client.Organizations.Update(s.ctx, s.organization, tfe.OrganizationUpdateOptions{
			DefaultExecutionMode: tfe.String("agent"), DefaultAgentPool: pool,
		})
		succeeds(err)
		workspace, err := create(tfe.WorkspaceCreateOptions{
			SettingOverwrites: &tfe.WorkspaceSettingOverwritesOptions{ExecutionMode: tfe.Bool(false), AgentPool: tfe.Bool(false)},
		})
		succeeds(err)
		equal("the execution mode", workspace.ExecutionMode, "agent")
		equal("the pool", present("agent-pool", workspace.AgentPool).ID, pool.ID)
	})
	s.step("gives up trigger prefixes for trigger patterns", func() {
		workspace, err := create(tfe.WorkspaceCreateOptions{TriggerPrefixes: []string{"/a"}})
		succeeds(err)
		updated := update(workspace, tfe.WorkspaceUpdateOptions{TriggerPatterns: []string{"/b/**"}})
		equal("the patterns", updated.TriggerPatterns, []string{"/b/**"})
		equal("the prefixes", len(updated.TriggerPrefixes), 0)
		cleared := update(workspace, tfe.WorkspaceUpdateOptions{TriggerPatterns: []string{}})
		equal("the patterns", len(cleared.TriggerPatterns), 0)
	})
	s.step("destroys itself at a time that can be cleared", func() {
		at := time.Date(2030, 5, 6, 7, 8, 9, 0, time.UTC)
		workspace, err := create(tfe.WorkspaceCreateOptions{AutoDestroyAt: tfe.NullableTime(at)})
		succeeds(err)
		kept := update(workspace, tfe.WorkspaceUpdateOptions{AutoApply: tfe.Bool(true)})
		given, err := kept.AutoDestroyAt.Get()
		succeeds(err)
		equal("the time kept", given.UTC(), at)
		cleared := update(workspace, tfe.WorkspaceUpdateOptions{AutoDestroyAt: tfe.NullTime()})
		isTrue("there is no time", !cleared.AutoDestroyAt.IsSpecified())
	})
	s.step("destroys itself some time after the last activity", func() {
		workspace, err := create(tfe.WorkspaceCreateOptions{
			AutoDestroyActivityDuration: nullable("14d"), InheritsProjectAutoDestroy: tfe.Bool(false),
		})
		succeeds(err)
		duration, err := workspace.AutoDestroyActivityDuration.Get()
		succeeds(err)
		equal("the duration", duration, "14d")
		cleared := update(workspace, tfe.WorkspaceUpdateOptions{AutoDestroyActivityDuration: null[string]()})
		isTrue("there is no duration", !cleared.AutoDestroyActivityDuration.IsSpecified())
		isTrue("there is no time", !cleared.AutoDestroyAt.IsSpecified())
		_, err = create(tfe.WorkspaceCreateOptions{AutoDestroyActivityDuration: nullable("14w")})
		isTrue("weeks are refused", err != nil)
	})
	s.step("takes the deprecated operations for an execution mode", func() {
		workspace, err := create(tfe.WorkspaceCreateOptions{Operations: tfe.Bool(false)})
		succeeds(err)
		equal("the execution mode", workspace.ExecutionMode, "local")
		equal("operations", workspace.Operations, false)
	})
	s.step("takes constraints and the latest version as engine versions", func() {
		workspace, err := create(tfe.WorkspaceCreateOptions{TerraformVersion: tfe.String("~> 1.9.0")})
		succeeds(err)
		equal("the version", workspace.TerraformVersion, "~> 1.9.0")
		equal("the version", update(workspace, tfe.WorkspaceUpdateOptions{TerraformVersion: tfe.String("latest")}).TerraformVersion, "latest")
	})
}

func workspaceLists(s *scenario) {
	list := func(options tfe.WorkspaceListOptions) *tfe.WorkspaceList {
		found, err := s.client.Workspaces.List(s.ctx, s.organization, &options)
		succeeds(err)
		return found
	}
	finds := func(options tfe.WorkspaceListOptions, names ...string) {
		if options.Sort == "" {
			options.Sort = "name"
		}
		equal("what is found", mapped(list(options).Items, workspaceName), names)
	}
	var project *tfe.Project
	s.step("creates workspaces to look for", func() {
		var err error
		project, err = s.client.Projects.Create(s.ctx, s.organization, tfe.ProjectCreateOptions{
			Name: "east", TagBindings: []*tfe.TagBinding{{Key: "region", Value: "east"}},
		})
		succeeds(err)
		for _, options := range []tfe.WorkspaceCreateOptions{
			{Name: tfe.String("api-prod"), Tags: []*tfe.Tag{{Name: "prod"}, {Name: "api"}}, TagBindings: []*tfe.TagBinding{{Key: "team", Value: "core"}}},
			{Name: tfe.String("api-test"), Tags: []*tfe.Tag{{Name: "test"}, {Name: "api"}}, TagBindings: []*tfe.TagBinding{{Key: "team", Value: "edge"}}},
			{Name: tfe.String("web-prod"), Tags: []*tfe.Tag{{Name: "prod"}, {Name: "web"}}, Project: project},
			{Name: tfe.String("bare")},
		} {
			_, err := s.client.Workspaces.Create(s.ctx, s.organization, options)
			succeeds(err)
		}
	})
	s.step("lists all with what the documents link to", func() {
		all, err := s.client.Workspaces.List(s.ctx, s.organization, nil)
		succeeds(err)
		equal("the count", len(all.Items), 4)
		equal("the total count", all.TotalCount, 4)
		equal("the total pages", all.TotalPages, 1)
		equal("the current page", all.CurrentPage, 1)
		equal("the next page", all.NextPage, 0)
	})
	s.step("lists page by page", func() {
		var names []string
		for page := 1; page != 0; {
			found := list(tfe.WorkspaceListOptions{Sort: "name", ListOptions: tfe.ListOptions{PageNumber: page, PageSize: 3}})
			equal("the total count", found.TotalCount, 4)
			equal("the total pages", found.TotalPages, 2)
			names = append(names, mapped(found.Items, workspaceName)...)
			page = found.NextPage
		}
		equal("the names", names, []string{"api-prod", "api-test", "bare", "web-prod"})
		beyond := list(tfe.WorkspaceListOptions{ListOptions: tfe.ListOptions{PageNumber: 999, PageSize: 100}})
		equal("the items past the end", len(beyond.Items), 0)
		equal("the current page", beyond.CurrentPage, 999)
		equal("the total count", beyond.TotalCount, 4)
	})
	s.step("sorts by name, both ways", func() {
		finds(tfe.WorkspaceListOptions{Sort: "-name"}, "web-prod", "bare", "api-test", "api-prod")
		finds(tfe.WorkspaceListOptions{Sort: "name"}, "api-prod", "api-test", "bare", "web-prod")
	})
	s.step("searches by a part of the name", func() {
		finds(tfe.WorkspaceListOptions{Search: "pi-"}, "api-prod", "api-test")
		finds(tfe.WorkspaceListOptions{Search: "nothing"})
	})
	s.step("searches by a name with wildcards", func() {
		finds(tfe.WorkspaceListOptions{WildcardName: "*-prod"}, "api-prod", "web-prod")
		finds(tfe.WorkspaceListOptions{WildcardName: "api*"}, "api-prod", "api-test")
		finds(tfe.WorkspaceListOptions{WildcardName: "*i-t*"}, "api-test")
	})
	s.step("searches by tags, all of which must match", func() {
		finds(tfe.WorkspaceListOptions{Tags: "prod"}, "api-prod", "web-prod")
		finds(tfe.WorkspaceListOptions{Tags: "prod,api"}, "api-prod")
	})
	s.step("leaves out those with a tag", func() {
		finds(tfe.WorkspaceListOptions{ExcludeTags: "prod,test"}, "bare")
		finds(tfe.WorkspaceListOptions{Tags: "api", ExcludeTags: "test"}, "api-prod")
	})
	s.step("filters by project", func() {
		finds(tfe.WorkspaceListOptions{ProjectID: project.ID}, "web-prod")
	})
	s.step("filters by tag bindings, own and inherited, and by a key alone", func() {
		finds(tfe.WorkspaceListOptions{TagBindings: []*tfe.TagBinding{{Key: "team", Value: "core"}}}, "api-prod")
		finds(tfe.WorkspaceListOptions{TagBindings: []*tfe.TagBinding{{Key: "team"}}}, "api-prod", "api-test")
		finds(tfe.WorkspaceListOptions{TagBindings: []*tfe.TagBinding{{Key: "region", Value: "east"}}}, "web-prod")
		finds(tfe.WorkspaceListOptions{TagBindings: []*tfe.TagBinding{{Key: "team"}, {Key: "team", Value: "edge"}}}, "api-test")
	})
	s.step("filters by the status of the current run", func() {
		finds(tfe.WorkspaceListOptions{CurrentRunStatus: string(tfe.RunApplied)})
	})
	s.step("includes effective tag bindings", func() {
		found := list(tfe.WorkspaceListOptions{WildcardName: "web*", Include: []tfe.WSIncludeOpt{tfe.WSEffectiveTagBindings}})
		equal("the count", len(found.Items), 1)
		equal("the bindings", effectivePairs(found.Items[0].EffectiveTagBindings), []string{"region=east"})
	})
	s.step("includes the organization and what a workspace runs", func() {
		found := list(tfe.WorkspaceListOptions{Include: []tfe.WSIncludeOpt{tfe.WSOrganization, tfe.WSCurrentRun, tfe.WSProject}})
		for _, workspace := range found.Items {
			equal("the organization's email", workspace.Organization.Email, "owner@example.com")
			isTrue("the project has a name", workspace.Project.Name != "")
		}
	})
	s.step("refuses to include what it does not know", func() {
		_, err := s.client.Workspaces.List(s.ctx, s.organization, &tfe.WorkspaceListOptions{Include: []tfe.WSIncludeOpt{"nonsense"}})
		failsWith(err, tfe.ErrInvalidIncludeValue)
	})
	s.step("knows no workspaces of an absent organization", func() {
		_, err := s.client.Workspaces.List(s.ctx, "absent", nil)
		failsWith(err, tfe.ErrResourceNotFound)
	})
}
