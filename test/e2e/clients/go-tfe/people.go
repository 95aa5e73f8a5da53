package main

import (
	"time"

	tfe "github.com/hashicorp/go-tfe"
)

func teams(s *scenario) {
	var team *tfe.Team
	s.step("creates, reads and lists teams", func() {
		created, err := s.client.Teams.Create(s.ctx, s.organization, tfe.TeamCreateOptions{
			Name: tfe.String("builders"), Visibility: tfe.String("organization"),
			OrganizationAccess: &tfe.OrganizationAccessOptions{ManageWorkspaces: tfe.Bool(true), ReadProjects: tfe.Bool(true)},
		})
		succeeds(err)
		team = created
		equal("the name", team.Name, "builders")
		equal("manage-workspaces", present("organization-access", team.OrganizationAccess).ManageWorkspaces, true)
		equal("manage-projects", team.OrganizationAccess.ManageProjects, false)
		equal("the visibility", team.Visibility, "organization")
		equal("can-destroy", present("permissions", team.Permissions).CanDestroy, true)
		read, err := s.client.Teams.Read(s.ctx, team.ID)
		succeeds(err)
		equal("the team", read, team)
		all, err := s.client.Teams.List(s.ctx, s.organization, nil)
		succeeds(err)
		equal("the names", sorted(mapped(all.Items, func(t *tfe.Team) string { return t.Name })), []string{"builders", "owners"})
		named, err := s.client.Teams.List(s.ctx, s.organization, &tfe.TeamListOptions{Names: []string{"builders", "absent"}})
		succeeds(err)
		equal("the names", mapped(named.Items, func(t *tfe.Team) string { return t.Name }), []string{"builders"})
	})
	s.step("updates a team", func() {
		updated, err := s.client.Teams.Update(s.ctx, team.ID, tfe.TeamUpdateOptions{
			Name: tfe.String("our makers"), OrganizationAccess: &tfe.OrganizationAccessOptions{ManageWorkspaces: tfe.Bool(false)},
		})
		succeeds(err)
		equal("the name", updated.Name, "our makers")
		equal("manage-workspaces", updated.OrganizationAccess.ManageWorkspaces, false)
	})
	var membership *tfe.OrganizationMembership
	s.step("invites a member by email, and lists and reads the membership", func() {
		var err error
		membership, err = s.client.OrganizationMemberships.Create(s.ctx, s.organization, tfe.OrganizationMembershipCreateOptions{
			Email: tfe.String("newcomer-" + unique() + "@example.com"), Teams: []*tfe.Team{team},
		})
		succeeds(err)
		equal("the teams", mapped(membership.Teams, func(t *tfe.Team) string { return t.ID }), []string{team.ID})
		read, err := s.client.OrganizationMemberships.ReadWithOptions(s.ctx, membership.ID, tfe.OrganizationMembershipReadOptions{
			Include: []tfe.OrgMembershipIncludeOpt{tfe.OrgMembershipUser, tfe.OrgMembershipTeam},
		})
		succeeds(err)
		equal("the email", read.Email, membership.Email)
		equal("the username before the invitation is taken", present("user", read.User).Username, "")
		equal("the team's name", read.Teams[0].Name, "our makers")
		_, err = s.client.OrganizationMemberships.ReadWithOptions(s.ctx, membership.ID, tfe.OrganizationMembershipReadOptions{
			Include: []tfe.OrgMembershipIncludeOpt{"nonsense"},
		})
		failsWith(err, tfe.ErrInvalidIncludeValue)
		list, err := s.client.OrganizationMemberships.List(s.ctx, s.organization, &tfe.OrganizationMembershipListOptions{Emails: []string{membership.Email}})
		succeeds(err)
		equal("the memberships", mapped(list.Items, func(m *tfe.OrganizationMembership) string { return m.ID }), []string{membership.ID})
	})
	s.step("lists, removes and adds the members of a team", func() {
		users, err := s.client.TeamMembers.ListUsers(s.ctx, team.ID)
		succeeds(err)
		equal("the count", len(users), 1)
		equal("the username before the invitation is taken", users[0].Username, "")
		succeeds(s.client.TeamMembers.Remove(s.ctx, team.ID, tfe.TeamMemberRemoveOptions{OrganizationMembershipIDs: []string{membership.ID}}))
		users, err = s.client.TeamMembers.ListUsers(s.ctx, team.ID)
		succeeds(err)
		equal("the count", len(users), 0)
		me, err := s.client.Users.ReadCurrent(s.ctx)
		succeeds(err)
		succeeds(s.client.TeamMembers.Add(s.ctx, team.ID, tfe.TeamMemberAddOptions{Usernames: []string{me.Username}}))
		users, err = s.client.TeamMembers.ListUsers(s.ctx, team.ID)
		succeeds(err)
		equal("the usernames", mapped(users, func(u *tfe.User) string { return u.Username }), []string{me.Username})
		succeeds(s.client.TeamMembers.Remove(s.ctx, team.ID, tfe.TeamMemberRemoveOptions{Usernames: []string{me.Username}}))
		succeeds(s.client.TeamMembers.Add(s.ctx, team.ID, tfe.TeamMemberAddOptions{OrganizationMembershipIDs: []string{membership.ID}}))
		memberships, err := s.client.TeamMembers.ListOrganizationMemberships(s.ctx, team.ID)
		succeeds(err)
		equal("the memberships", mapped(memberships, func(m *tfe.OrganizationMembership) string { return m.ID }), []string{membership.ID})
		read, err := s.client.Teams.Read(s.ctx, team.ID)
		succeeds(err)
		equal("the count", read.UserCount, 1)
	})
	s.step("gives a team access to a workspace, changes it and takes it away", func() {
		workspace := s.newWorkspace("shared")
		access := s.giveAccess(team, workspace, tfe.AccessRead)
		equal("the access", access.Access, tfe.AccessRead)
		equal("the runs", access.Runs, tfe.RunsPermissionRead)
		equal("the team", present("team", access.Team).ID, team.ID)
		equal("the workspace", present("workspace", access.Workspace).ID, workspace.ID)
		updated, err := s.client.TeamAccess.Update(s.ctx, access.ID, tfe.TeamAccessUpdateOptions{Access: accessOf(tfe.AccessWrite)})
		succeeds(err)
		equal("the access", updated.Access, tfe.AccessWrite)
		equal("workspace-locking", updated.WorkspaceLocking, true)
		runs, state := tfe.RunsPermissionPlan, tfe.StateVersionsPermissionRead
		custom, err := s.client.TeamAccess.Update(s.ctx, access.ID, tfe.TeamAccessUpdateOptions{
			Access: accessOf(tfe.AccessCustom), Runs: &runs, StateVersions: &state, WorkspaceLocking: tfe.Bool(true),
		})
		succeeds(err)
		equal("the access", custom.Access, tfe.AccessCustom)
		equal("the runs", custom.Runs, runs)
		equal("the state versions", custom.StateVersions, state)
		equal("workspace-locking", custom.WorkspaceLocking, true)
		_, err = s.client.TeamAccess.Update(s.ctx, access.ID, tfe.TeamAccessUpdateOptions{Access: accessOf(tfe.AccessRead), Runs: &runs})
		failsSaying(err, "Runs is read-only when access level is 'read'")
		list, err := s.client.TeamAccess.List(s.ctx, &tfe.TeamAccessListOptions{WorkspaceID: workspace.ID})
		succeeds(err)
		equal("the accesses", mapped(list.Items, func(a *tfe.TeamAccess) string { return a.ID }), []string{access.ID})
		_, err = s.client.TeamAccess.Read(s.ctx, access.ID)
		succeeds(err)
		succeeds(s.client.TeamAccess.Remove(s.ctx, access.ID))
		_, err = s.client.TeamAccess.Read(s.ctx, access.ID)
		failsWith(err, tfe.ErrResourceNotFound)
	})
	s.step("gives a team access to a project", func() {
		project, err := s.client.Projects.Create(s.ctx, s.organization, tfe.ProjectCreateOptions{Name: "shared"})
		succeeds(err)
		access, err := s.client.TeamProjectAccess.Add(s.ctx, tfe.TeamProjectAccessAddOptions{Access: tfe.TeamProjectAccessRead, Team: team, Project: project})
		succeeds(err)
		equal("the access", access.Access, tfe.TeamProjectAccessRead)
		maintain := tfe.TeamProjectAccessMaintain
		updated, err := s.client.TeamProjectAccess.Update(s.ctx, access.ID, tfe.TeamProjectAccessUpdateOptions{Access: &maintain})
		succeeds(err)
		equal("the access", updated.Access, maintain)
		list, err := s.client.TeamProjectAccess.List(s.ctx, tfe.TeamProjectAccessListOptions{ProjectID: project.ID})
		succeeds(err)
		equal("the count", len(list.Items), 1)
		succeeds(s.client.TeamProjectAccess.Remove(s.ctx, access.ID))
	})
	s.step("shows a member only what the member may see, with what the member may do", func() {
		seen, hidden := s.newWorkspace("seen"), s.newWorkspace("hidden")
		readers := s.newTeam("readers")
		s.giveAccess(readers, seen, tfe.AccessRead)
		_, member := s.newMember(readers)
		read, err := member.Workspaces.ReadByID(s.ctx, seen.ID)
		succeeds(err)
		equal("can-lock", read.Permissions.CanLock, false)
		equal("can-update", read.Permissions.CanUpdate, false)
		equal("can-queue-run", read.Permissions.CanQueueRun, false)
		_, err = member.Workspaces.ReadByID(s.ctx, hidden.ID)
		failsWith(err, tfe.ErrResourceNotFound)
		_, err = member.Workspaces.UpdateByID(s.ctx, seen.ID, tfe.WorkspaceUpdateOptions{Name: tfe.String("mine")})
		failsWith(err, tfe.ErrResourceNotFound)
		_, err = member.Workspaces.Create(s.ctx, s.organization, tfe.WorkspaceCreateOptions{Name: tfe.String("mine")})
		failsWith(err, tfe.ErrResourceNotFound)
		list, err := member.Workspaces.List(s.ctx, s.organization, nil)
		succeeds(err)
		equal("the workspaces", mapped(list.Items, workspaceName), []string{"seen"})
	})
	s.step("removes a membership and deletes a team", func() {
		succeeds(s.client.OrganizationMemberships.Delete(s.ctx, membership.ID))
		_, err := s.client.OrganizationMemberships.Read(s.ctx, membership.ID)
		failsWith(err, tfe.ErrResourceNotFound)
		succeeds(s.client.Teams.Delete(s.ctx, team.ID))
		_, err = s.client.Teams.Read(s.ctx, team.ID)
		failsWith(err, tfe.ErrResourceNotFound)
	})
}

func accessOf(access tfe.AccessType) *tfe.AccessType { return &access }

func tokens(s *scenario) {
	reaches := func(secret string) error {
		client, err := connect(s.address, secret)
		succeeds(err)
		_, err = client.Workspaces.List(s.ctx, s.organization, nil)
		return err
	}
	expiry := time.Now().Add(48 * time.Hour).UTC().Truncate(time.Second)
	s.step("creates, lists, reads and deletes a user's token", func() {
		user, err := s.client.Users.ReadCurrent(s.ctx)
		succeeds(err)
		token, err := s.client.UserTokens.Create(s.ctx, user.ID, tfe.UserTokenCreateOptions{Description: "laptop", ExpiredAt: &expiry})
		succeeds(err)
		equal("the description", token.Description, "laptop")
		equal("the expiry", token.ExpiredAt.UTC(), expiry)
		succeeds(reaches(token.Token))
		read, err := s.client.UserTokens.Read(s.ctx, token.ID)
		succeeds(err)
		equal("the secret", read.Token, "")
		equal("the description", read.Description, "laptop")
		list, err := s.client.UserTokens.List(s.ctx, user.ID)
		succeeds(err)
		isTrue("it is listed", len(list.Items) > 0)
		succeeds(s.client.UserTokens.Delete(s.ctx, token.ID))
		failsWith(reaches(token.Token), tfe.ErrUnauthorized)
		_, err = s.client.UserTokens.Read(s.ctx, token.ID)
		failsWith(err, tfe.ErrResourceNotFound)
	})
	s.step("creates, replaces and deletes an organization's token", func() {
		token, err := s.client.OrganizationTokens.Create(s.ctx, s.organization)
		succeeds(err)
		succeeds(reaches(token.Token))
		next, err := s.client.OrganizationTokens.CreateWithOptions(s.ctx, s.organization, tfe.OrganizationTokenCreateOptions{ExpiredAt: &expiry})
		succeeds(err)
		equal("the expiry", next.ExpiredAt.UTC(), expiry)
		failsWith(reaches(token.Token), tfe.ErrUnauthorized)
		read, err := s.client.OrganizationTokens.Read(s.ctx, s.organization)
		succeeds(err)
		equal("the id", read.ID, next.ID)
		equal("the secret", read.Token, "")
		succeeds(s.client.OrganizationTokens.Delete(s.ctx, s.organization))
		failsWith(reaches(next.Token), tfe.ErrUnauthorized)
		_, err = s.client.OrganizationTokens.Read(s.ctx, s.organization)
		failsWith(err, tfe.ErrResourceNotFound)
	})
	s.step("creates, replaces and deletes a team's token", func() {
		team := s.newTeam("tokened")
		token, err := s.client.TeamTokens.Create(s.ctx, team.ID)
		succeeds(err)
		succeeds(reaches(token.Token))
		next, err := s.client.TeamTokens.CreateWithOptions(s.ctx, team.ID, tfe.TeamTokenCreateOptions{ExpiredAt: &expiry})
		succeeds(err)
		failsWith(reaches(token.Token), tfe.ErrUnauthorized)
		read, err := s.client.TeamTokens.Read(s.ctx, team.ID)
		succeeds(err)
		equal("the id", read.ID, next.ID)
		equal("the team", present("team", read.Team).ID, team.ID)
		succeeds(s.client.TeamTokens.Delete(s.ctx, team.ID))
		failsWith(reaches(next.Token), tfe.ErrUnauthorized)
	})
	s.step("creates and deletes one of several tokens of a team", func() {
		team := s.newTeam("several")
		token, err := s.client.TeamTokens.CreateWithOptions(s.ctx, team.ID, tfe.TeamTokenCreateOptions{Description: tfe.String("for CI")})
		succeeds(err)
		succeeds(reaches(token.Token))
		read, err := s.client.TeamTokens.ReadByID(s.ctx, token.ID)
		succeeds(err)
		equal("the description", *present("description", read.Description), "for CI")
		succeeds(s.client.TeamTokens.DeleteByID(s.ctx, token.ID))
		failsWith(reaches(token.Token), tfe.ErrUnauthorized)
	})
}
