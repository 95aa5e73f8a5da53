package main

import (
	tfe "github.com/hashicorp/go-tfe"
)

func locks(s *scenario) {
	var workspace *tfe.Workspace
	var owner *tfe.User
	s.step("locks a workspace and says who holds it", func() {
		var err error
		workspace = s.newWorkspace("contended")
		owner, err = s.client.Users.ReadCurrent(s.ctx)
		succeeds(err)
		locked, err := s.client.Workspaces.Lock(s.ctx, workspace.ID, tfe.WorkspaceLockOptions{Reason: tfe.String("at work")})
		succeeds(err)
		equal("locked", locked.Locked, true)
		read, err := s.client.Workspaces.ReadByIDWithOptions(s.ctx, workspace.ID, &tfe.WorkspaceReadOptions{Include: []tfe.WSIncludeOpt{tfe.WSLockedBy}})
		succeeds(err)
		holder := present("the user", present("locked-by", read.LockedBy).User)
		equal("the holder", holder.ID, owner.ID)
		equal("the holder's name", holder.Username, "root")
	})
	s.step("refuses a second lock", func() {
		_, err := s.client.Workspaces.Lock(s.ctx, workspace.ID, tfe.WorkspaceLockOptions{})
		failsWith(err, tfe.ErrWorkspaceLocked)
	})
	s.step("unlocks a workspace once", func() {
		unlocked, err := s.client.Workspaces.Unlock(s.ctx, workspace.ID)
		succeeds(err)
		equal("locked", unlocked.Locked, false)
		_, err = s.client.Workspaces.Unlock(s.ctx, workspace.ID)
		failsWith(err, tfe.ErrWorkspaceNotLocked)
	})
	s.step("keeps another user from unlocking, and says that a user holds the lock", func() {
		team := s.newTeam("writers")
		s.giveAccess(team, workspace, tfe.AccessWrite)
		_, other := s.newMember(team)
		_, err := s.client.Workspaces.Lock(s.ctx, workspace.ID, tfe.WorkspaceLockOptions{})
		succeeds(err)
		_, err = other.Workspaces.Lock(s.ctx, workspace.ID, tfe.WorkspaceLockOptions{})
		failsWith(err, tfe.ErrWorkspaceLocked)
		_, err = other.Workspaces.Unlock(s.ctx, workspace.ID)
		failsWith(err, tfe.ErrWorkspaceLockedByUser)
		_, err = other.Workspaces.ForceUnlock(s.ctx, workspace.ID)
		failsWith(err, tfe.ErrResourceNotFound)
	})
	s.step("unlocks by force once", func() {
		unlocked, err := s.client.Workspaces.ForceUnlock(s.ctx, workspace.ID)
		succeeds(err)
		equal("locked", unlocked.Locked, false)
		_, err = s.client.Workspaces.ForceUnlock(s.ctx, workspace.ID)
		failsWith(err, tfe.ErrWorkspaceNotLocked)
	})
	s.step("says that a team holds the lock", func() {
		team := s.newTeam("robots")
		s.giveAccess(team, workspace, tfe.AccessWrite)
		token, err := s.client.TeamTokens.Create(s.ctx, team.ID)
		succeeds(err)
		robot, err := connect(s.address, token.Token)
		succeeds(err)
		locked, err := robot.Workspaces.Lock(s.ctx, workspace.ID, tfe.WorkspaceLockOptions{})
		succeeds(err)
		equal("the holder", present("the team", present("locked-by", locked.LockedBy).Team).ID, team.ID)
		_, err = s.client.Workspaces.Unlock(s.ctx, workspace.ID)
		failsWith(err, tfe.ErrWorkspaceLockedByTeam)
		_, err = robot.Workspaces.Unlock(s.ctx, workspace.ID)
		succeeds(err)
	})
	s.announceExecutor()
	s.step("says that a run holds the lock", func() {
		run, err := s.client.Runs.Create(s.ctx, tfe.RunCreateOptions{Workspace: workspace, ConfigurationVersion: s.newConfiguration(workspace)})
		succeeds(err)
		read, err := s.client.Workspaces.ReadByID(s.ctx, workspace.ID)
		succeeds(err)
		if !read.Locked {
			s.advance(run, "planning")
		}
		_, err = s.client.Workspaces.Unlock(s.ctx, workspace.ID)
		failsWith(err, tfe.ErrWorkspaceLockedByRun)
		read, err = s.client.Workspaces.ReadByID(s.ctx, workspace.ID)
		succeeds(err)
		equal("the holder", present("the run", present("locked-by", read.LockedBy).Run).ID, run.ID)
	})
	s.step("knows no lock of an absent workspace", func() {
		_, err := s.client.Workspaces.Lock(s.ctx, "ws-absent", tfe.WorkspaceLockOptions{})
		failsWith(err, tfe.ErrResourceNotFound)
	})
}

func deletion(s *scenario) {
	s.step("deletes a workspace by name and by id", func() {
		s.newWorkspace("first")
		succeeds(s.client.Workspaces.Delete(s.ctx, s.organization, "first"))
		_, err := s.client.Workspaces.Read(s.ctx, s.organization, "first")
		failsWith(err, tfe.ErrResourceNotFound)
		second := s.newWorkspace("second")
		succeeds(s.client.Workspaces.DeleteByID(s.ctx, second.ID))
		failsWith(s.client.Workspaces.DeleteByID(s.ctx, second.ID), tfe.ErrResourceNotFound)
	})
	s.step("deletes a workspace without resources safely, by name and by id", func() {
		s.newWorkspace("first")
		succeeds(s.client.Workspaces.SafeDelete(s.ctx, s.organization, "first"))
		second := s.newWorkspace("second")
		succeeds(s.client.Workspaces.SafeDeleteByID(s.ctx, second.ID))
		failsWith(s.client.Workspaces.SafeDeleteByID(s.ctx, second.ID), tfe.ErrResourceNotFound)
	})
	s.step("does not delete a locked workspace safely", func() {
		workspace := s.newWorkspace("locked")
		_, err := s.client.Workspaces.Lock(s.ctx, workspace.ID, tfe.WorkspaceLockOptions{})
		succeeds(err)
		failsWith(s.client.Workspaces.SafeDelete(s.ctx, s.organization, "locked"), tfe.ErrWorkspaceLockedCannotDelete)
		failsWith(s.client.Workspaces.SafeDeleteByID(s.ctx, workspace.ID), tfe.ErrWorkspaceLockedCannotDelete)
	})
	s.step("does not delete a workspace safely whose state has resources", func() {
		workspace := s.newWorkspace("managing")
		s.upload(workspace, 1, stateWithResources)
		failsWith(s.client.Workspaces.SafeDelete(s.ctx, s.organization, "managing"), tfe.ErrWorkspaceNotSafeToDelete)
		failsWith(s.client.Workspaces.SafeDeleteByID(s.ctx, workspace.ID), tfe.ErrWorkspaceNotSafeToDelete)
		equal("is-destroyable", s.read("managing").Actions.IsDestroyable, true)
		equal("the resource count", s.read("managing").ResourceCount, 2)
		succeeds(s.client.Workspaces.DeleteByID(s.ctx, workspace.ID))
	})
	s.step("lets a workspace's administrators delete it by force only where the organization says so", func() {
		workspace := s.newWorkspace("administered")
		team := s.newTeam("administrators")
		s.giveAccess(team, workspace, tfe.AccessAdmin)
		_, administrator := s.newMember(team)
		read, err := administrator.Workspaces.ReadByID(s.ctx, workspace.ID)
		succeeds(err)
		equal("can-force-delete", *present("can-force-delete", read.Permissions.CanForceDelete), false)
		isTrue("it is forbidden", administrator.Workspaces.DeleteByID(s.ctx, workspace.ID) != nil)
		_, err = s.client.Organizations.Update(s.ctx, s.organization, tfe.OrganizationUpdateOptions{AllowForceDeleteWorkspaces: tfe.Bool(true)})
		succeeds(err)
		succeeds(administrator.Workspaces.DeleteByID(s.ctx, workspace.ID))
	})
}
