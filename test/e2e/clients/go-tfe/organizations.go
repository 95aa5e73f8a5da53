package main

import (
	tfe "github.com/hashicorp/go-tfe"
)

func connection(s *scenario) {
	s.step("declares an API version that clients accept", func() {
		isTrue("the version is at least 2.5: "+s.client.RemoteAPIVersion(), s.client.RemoteAPIVersion() >= "2.5")
	})
	s.step("shows the account behind the token", func() {
		user, err := s.client.Users.ReadCurrent(s.ctx)
		succeeds(err)
		equal("the user's name", user.Username, "root")
	})
	s.step("refuses an unknown token", func() {
		stranger, err := connect(s.address, "nobody.atlasv1.knows")
		succeeds(err)
		_, err = stranger.Users.ReadCurrent(s.ctx)
		failsWith(err, tfe.ErrUnauthorized)
	})
	s.step("declares that runs execute on agents, and that it keeps the state", func() {
		entitlements, err := s.client.Organizations.ReadEntitlements(s.ctx, s.organization)
		succeeds(err)
		equal("operations", entitlements.Operations, true)
		equal("state storage", entitlements.StateStorage, true)
		equal("agents", entitlements.Agents, true)
	})
	s.step("knows no entitlements of an absent organization", func() {
		_, err := s.client.Organizations.ReadEntitlements(s.ctx, "absent")
		failsWith(err, tfe.ErrResourceNotFound)
	})
}

func organizations(s *scenario) {
	s.step("reads an organization", func() {
		organization, err := s.client.Organizations.Read(s.ctx, s.organization)
		succeeds(err)
		equal("the name", organization.Name, s.organization)
		equal("the email", organization.Email, "owner@example.com")
		equal("the default execution mode", organization.DefaultExecutionMode, "remote")
		equal("can-create-workspace", present("permissions", organization.Permissions).CanCreateWorkspace, true)
		equal("can-destroy", organization.Permissions.CanDestroy, true)
		isTrue("it has a default project", present("default-project", organization.DefaultProject).ID != "")
		isTrue("it has an external id", organization.ExternalID != "")
		isTrue("it has a time of creation", !organization.CreatedAt.IsZero())
	})
	s.step("includes the default project", func() {
		organization, err := s.client.Organizations.ReadWithOptions(s.ctx, s.organization, tfe.OrganizationReadOptions{
			Include: []tfe.OrganizationIncludeOpt{tfe.OrganizationDefaultProject},
		})
		succeeds(err)
		equal("the default project's name", present("default-project", organization.DefaultProject).Name, "Default Project")
	})
	s.step("refuses a second organization of the name", func() {
		_, err := s.client.Organizations.Create(s.ctx, tfe.OrganizationCreateOptions{
			Name: tfe.String(s.organization), Email: tfe.String("other@example.com"),
		})
		failsSaying(err, "Name has already been taken")
	})
	s.step("updates an organization", func() {
		organization, err := s.client.Organizations.Update(s.ctx, s.organization, tfe.OrganizationUpdateOptions{
			Email:                      tfe.String("new@example.com"),
			DefaultExecutionMode:       tfe.String("local"),
			AllowForceDeleteWorkspaces: tfe.Bool(true),
			CostEstimationEnabled:      tfe.Bool(true),
			AssessmentsEnforced:        tfe.Bool(false),
		})
		succeeds(err)
		equal("the email", organization.Email, "new@example.com")
		equal("the default execution mode", organization.DefaultExecutionMode, "local")
		equal("allow-force-delete-workspaces", organization.AllowForceDeleteWorkspaces, true)
	})
	s.step("makes an agent pool the default", func() {
		pool := s.newAgentPool("default")
		organization, err := s.client.Organizations.Update(s.ctx, s.organization, tfe.OrganizationUpdateOptions{
			DefaultExecutionMode: tfe.String("agent"), DefaultAgentPool: pool,
		})
		succeeds(err)
		equal("the default agent pool", present("default-agent-pool", organization.DefaultAgentPool).ID, pool.ID)
	})
	s.step("lists organizations and finds one by a part of its name", func() {
		list, err := s.client.Organizations.List(s.ctx, &tfe.OrganizationListOptions{Query: s.organization[3:]})
		succeeds(err)
		equal("the names", mapped(list.Items, func(o *tfe.Organization) string { return o.Name }), []string{s.organization})
		equal("the total count", list.TotalCount, 1)
	})
	s.step("renames and deletes an organization", func() {
		name, next := "scenario-"+unique(), "scenario-"+unique()
		_, err := s.client.Organizations.Create(s.ctx, tfe.OrganizationCreateOptions{Name: &name, Email: tfe.String("a@example.com")})
		succeeds(err)
		renamed, err := s.client.Organizations.Update(s.ctx, name, tfe.OrganizationUpdateOptions{Name: &next})
		succeeds(err)
		equal("the name", renamed.Name, next)
		_, err = s.client.Organizations.Read(s.ctx, name)
		failsWith(err, tfe.ErrResourceNotFound)
		succeeds(s.client.Organizations.Delete(s.ctx, next))
		_, err = s.client.Organizations.Read(s.ctx, next)
		failsWith(err, tfe.ErrResourceNotFound)
	})
}

func projects(s *scenario) {
	var project *tfe.Project
	s.step("creates a project with tag bindings", func() {
		var err error
		project, err = s.client.Projects.Create(s.ctx, s.organization, tfe.ProjectCreateOptions{
			Name:        "payments",
			Description: tfe.String("what customers pay"),
			TagBindings: []*tfe.TagBinding{{Key: "team", Value: "money"}, {Key: "tier", Value: "1"}},
		})
		succeeds(err)
		equal("the name", project.Name, "payments")
		equal("the description", project.Description, "what customers pay")
		equal("the organization", present("organization", project.Organization).Name, s.organization)
	})
	s.step("reads a project", func() {
		read, err := s.client.Projects.Read(s.ctx, project.ID)
		succeeds(err)
		equal("the name", read.Name, "payments")
	})
	s.step("reads a project with its effective tag bindings", func() {
		read, err := s.client.Projects.ReadWithOptions(s.ctx, project.ID, tfe.ProjectReadOptions{
			Include: []tfe.ProjectIncludeOpt{tfe.ProjectEffectiveTagBindings},
		})
		succeeds(err)
		equal("the bindings", effectivePairs(read.EffectiveTagBindings), []string{"team=money", "tier=1"})
	})
	s.step("lists projects by name, by search and by page", func() {
		named, err := s.client.Projects.List(s.ctx, s.organization, &tfe.ProjectListOptions{Name: "payments"})
		succeeds(err)
		equal("the ids", mapped(named.Items, projectID), []string{project.ID})
		searched, err := s.client.Projects.List(s.ctx, s.organization, &tfe.ProjectListOptions{Query: "PAY"})
		succeeds(err)
		equal("the ids", mapped(searched.Items, projectID), []string{project.ID})
		all, err := s.client.Projects.List(s.ctx, s.organization, nil)
		succeeds(err)
		equal("the total count", all.TotalCount, 2)
		beyond, err := s.client.Projects.List(s.ctx, s.organization, &tfe.ProjectListOptions{ListOptions: tfe.ListOptions{PageNumber: 999, PageSize: 100}})
		succeeds(err)
		equal("the items of a page past the end", len(beyond.Items), 0)
		equal("the current page", beyond.CurrentPage, 999)
		equal("the total count", beyond.TotalCount, 2)
	})
	s.step("updates a project and replaces its tag bindings", func() {
		updated, err := s.client.Projects.Update(s.ctx, project.ID, tfe.ProjectUpdateOptions{
			Name:        tfe.String("billing"),
			Description: tfe.String("what we send"),
			TagBindings: []*tfe.TagBinding{{Key: "team", Value: "bills"}},
		})
		succeeds(err)
		equal("the name", updated.Name, "billing")
		equal("the description", updated.Description, "what we send")
		bindings, err := s.client.Projects.ListTagBindings(s.ctx, project.ID)
		succeeds(err)
		equal("the bindings", pairs(bindings), []string{"team=bills"})
	})
	s.step("adds, changes and removes tag bindings of a project", func() {
		added, err := s.client.Projects.AddTagBindings(s.ctx, project.ID, tfe.ProjectAddTagBindingsOptions{
			TagBindings: []*tfe.TagBinding{{Key: "team", Value: "books"}, {Key: "region", Value: "eu"}},
		})
		succeeds(err)
		equal("the bindings", pairs(added), []string{"region=eu", "team=books"})
		succeeds(s.client.Projects.DeleteAllTagBindings(s.ctx, project.ID))
		none, err := s.client.Projects.ListTagBindings(s.ctx, project.ID)
		succeeds(err)
		equal("the bindings", pairs(none), []string{})
	})
	s.step("refuses a project of the same name, and a name that is none", func() {
		_, err := s.client.Projects.Create(s.ctx, s.organization, tfe.ProjectCreateOptions{Name: "billing"})
		failsSaying(err, "taken")
		_, err = s.client.Projects.Create(s.ctx, s.organization, tfe.ProjectCreateOptions{Name: "not / ok"})
		failsSaying(err, "invalid attribute\n\nName may only contain")
	})
	s.step("keeps a project that has workspaces, and deletes an empty one", func() {
		workspace, err := s.client.Workspaces.Create(s.ctx, s.organization, tfe.WorkspaceCreateOptions{Name: tfe.String("inside"), Project: project})
		succeeds(err)
		isTrue("a project with workspaces stays", s.client.Projects.Delete(s.ctx, project.ID) != nil)
		succeeds(s.client.Workspaces.DeleteByID(s.ctx, workspace.ID))
		succeeds(s.client.Projects.Delete(s.ctx, project.ID))
		_, err = s.client.Projects.Read(s.ctx, project.ID)
		failsWith(err, tfe.ErrResourceNotFound)
	})
}

func projectID(project *tfe.Project) string { return project.ID }

func pairs(bindings []*tfe.TagBinding) []string {
	return sorted(mapped(bindings, func(b *tfe.TagBinding) string { return b.Key + "=" + b.Value }))
}

func effectivePairs(bindings []*tfe.EffectiveTagBinding) []string {
	return sorted(mapped(bindings, func(b *tfe.EffectiveTagBinding) string { return b.Key + "=" + b.Value }))
}
