package main

import (
	tfe "github.com/hashicorp/go-tfe"
)

func remoteStateConsumers(s *scenario) {
	var producer *tfe.Workspace
	consumers := make([]*tfe.Workspace, 3)
	list := func() []string {
		found, err := s.client.Workspaces.ListRemoteStateConsumers(s.ctx, producer.ID, nil)
		succeeds(err)
		return sorted(mapped(found.Items, workspaceName))
	}
	s.step("starts with none", func() {
		producer = s.newWorkspace("producer")
		for index, name := range []string{"a", "b", "c"} {
			consumers[index] = s.newWorkspace(name)
		}
		equal("the consumers", list(), []string{})
	})
	s.step("adds consumers, and a present one once", func() {
		succeeds(s.client.Workspaces.AddRemoteStateConsumers(s.ctx, producer.ID, tfe.WorkspaceAddRemoteStateConsumersOptions{Workspaces: consumers[:1]}))
		succeeds(s.client.Workspaces.AddRemoteStateConsumers(s.ctx, producer.ID, tfe.WorkspaceAddRemoteStateConsumersOptions{Workspaces: consumers[:2]}))
		equal("the consumers", list(), []string{"a", "b"})
	})
	s.step("lists consumers by page", func() {
		page, err := s.client.Workspaces.ListRemoteStateConsumers(s.ctx, producer.ID, &tfe.RemoteStateConsumersListOptions{ListOptions: tfe.ListOptions{PageNumber: 2, PageSize: 1}})
		succeeds(err)
		equal("the items", len(page.Items), 1)
		equal("the total count", page.TotalCount, 2)
	})
	s.step("replaces consumers", func() {
		succeeds(s.client.Workspaces.UpdateRemoteStateConsumers(s.ctx, producer.ID, tfe.WorkspaceUpdateRemoteStateConsumersOptions{Workspaces: consumers[1:]}))
		equal("the consumers", list(), []string{"b", "c"})
	})
	s.step("removes consumers, and nothing for an absent one", func() {
		succeeds(s.client.Workspaces.RemoveRemoteStateConsumers(s.ctx, producer.ID, tfe.WorkspaceRemoveRemoteStateConsumersOptions{Workspaces: consumers[:2]}))
		equal("the consumers", list(), []string{"c"})
	})
	s.step("refuses a workspace as its own consumer", func() {
		err := s.client.Workspaces.AddRemoteStateConsumers(s.ctx, producer.ID, tfe.WorkspaceAddRemoteStateConsumersOptions{Workspaces: []*tfe.Workspace{producer}})
		isTrue("it is refused", err != nil)
	})
	s.step("lists every other workspace once the state is global, and takes no changes then", func() {
		_, err := s.client.Workspaces.UpdateByID(s.ctx, producer.ID, tfe.WorkspaceUpdateOptions{GlobalRemoteState: tfe.Bool(true)})
		succeeds(err)
		equal("the consumers", list(), []string{"a", "b", "c"})
		isTrue("it is refused", s.client.Workspaces.AddRemoteStateConsumers(s.ctx, producer.ID, tfe.WorkspaceAddRemoteStateConsumersOptions{Workspaces: consumers[:1]}) != nil)
	})
	s.step("knows no consumers of an absent workspace", func() {
		_, err := s.client.Workspaces.ListRemoteStateConsumers(s.ctx, "ws-absent", nil)
		failsWith(err, tfe.ErrResourceNotFound)
	})
}

const privateKey = "-----BEGIN OPENSSH PRIVATE KEY-----\nbm90IGEga2V5\n-----END OPENSSH PRIVATE KEY-----\n"

func sshKeys(s *scenario) {
	var key *tfe.SSHKey
	var workspace *tfe.Workspace
	s.step("creates, reads and lists keys without their values", func() {
		var err error
		key, err = s.client.SSHKeys.Create(s.ctx, s.organization, tfe.SSHKeyCreateOptions{Name: tfe.String("deploy"), Value: tfe.String(privateKey)})
		succeeds(err)
		equal("the name", key.Name, "deploy")
		read, err := s.client.SSHKeys.Read(s.ctx, key.ID)
		succeeds(err)
		equal("the key", read, key)
		list, err := s.client.SSHKeys.List(s.ctx, s.organization, nil)
		succeeds(err)
		equal("the keys", list.Items, []*tfe.SSHKey{key})
		equal("the total count", list.TotalCount, 1)
	})
	s.step("renames a key", func() {
		renamed, err := s.client.SSHKeys.Update(s.ctx, key.ID, tfe.SSHKeyUpdateOptions{Name: tfe.String("release")})
		succeeds(err)
		equal("the name", renamed.Name, "release")
	})
	s.step("assigns a key to a workspace and takes it away", func() {
		workspace = s.newWorkspace("keyed")
		assigned, err := s.client.Workspaces.AssignSSHKey(s.ctx, workspace.ID, tfe.WorkspaceAssignSSHKeyOptions{SSHKeyID: &key.ID})
		succeeds(err)
		equal("the key", present("ssh-key", assigned.SSHKey).ID, key.ID)
		unassigned, err := s.client.Workspaces.UnassignSSHKey(s.ctx, workspace.ID)
		succeeds(err)
		isTrue("it has no key", unassigned.SSHKey == nil)
	})
	s.step("assigns no key that there is not", func() {
		_, err := s.client.Workspaces.AssignSSHKey(s.ctx, workspace.ID, tfe.WorkspaceAssignSSHKeyOptions{SSHKeyID: tfe.String("sshkey-absent")})
		failsWith(err, tfe.ErrResourceNotFound)
	})
	s.step("deletes a key", func() {
		succeeds(s.client.SSHKeys.Delete(s.ctx, key.ID))
		_, err := s.client.SSHKeys.Read(s.ctx, key.ID)
		failsWith(err, tfe.ErrResourceNotFound)
	})
}

func agentPools(s *scenario) {
	var pool *tfe.AgentPool
	s.step("creates, reads and lists pools", func() {
		pool = s.newAgentPool("builders")
		equal("the name", pool.Name, "builders")
		equal("organization-scoped", pool.OrganizationScoped, true)
		read, err := s.client.AgentPools.Read(s.ctx, pool.ID)
		succeeds(err)
		equal("the name", read.Name, "builders")
		equal("the agents", read.AgentCount, 0)
		equal("the organization", present("organization", read.Organization).Name, s.organization)
		list, err := s.client.AgentPools.List(s.ctx, s.organization, &tfe.AgentPoolListOptions{Query: "build"})
		succeeds(err)
		equal("the pools", mapped(list.Items, func(p *tfe.AgentPool) string { return p.Name }), []string{"builders"})
	})
	s.step("renames a pool", func() {
		renamed, err := s.client.AgentPools.Update(s.ctx, pool.ID, tfe.AgentPoolUpdateOptions{Name: tfe.String("makers")})
		succeeds(err)
		equal("the name", renamed.Name, "makers")
	})
	s.step("shows the workspaces that use a pool", func() {
		workspace, err := s.client.Workspaces.Create(s.ctx, s.organization, tfe.WorkspaceCreateOptions{
			Name: tfe.String("made"), ExecutionMode: tfe.String("agent"), AgentPoolID: &pool.ID,
		})
		succeeds(err)
		read, err := s.client.AgentPools.Read(s.ctx, pool.ID)
		succeeds(err)
		equal("the workspaces", mapped(read.Workspaces, func(w *tfe.Workspace) string { return w.ID }), []string{workspace.ID})
		succeeds(s.client.Workspaces.DeleteByID(s.ctx, workspace.ID))
	})
	s.step("deletes a pool", func() {
		succeeds(s.client.AgentPools.Delete(s.ctx, pool.ID))
		_, err := s.client.AgentPools.Read(s.ctx, pool.ID)
		failsWith(err, tfe.ErrResourceNotFound)
	})
}

func dataRetentionPolicies(s *scenario) {
	var workspace *tfe.Workspace
	s.step("has none at first", func() {
		workspace = s.newWorkspace("kept")
		choice, err := s.client.Workspaces.ReadDataRetentionPolicyChoice(s.ctx, workspace.ID)
		succeeds(err)
		isTrue("there is none", choice == nil || (choice.DataRetentionPolicyDeleteOlder == nil && choice.DataRetentionPolicyDontDelete == nil))
	})
	var older *tfe.DataRetentionPolicyDeleteOlder
	s.step("sets one that deletes what is old", func() {
		var err error
		older, err = s.client.Workspaces.SetDataRetentionPolicyDeleteOlder(s.ctx, workspace.ID, tfe.DataRetentionPolicyDeleteOlderSetOptions{DeleteOlderThanNDays: 33})
		succeeds(err)
		equal("the days", older.DeleteOlderThanNDays, 33)
		choice, err := s.client.Workspaces.ReadDataRetentionPolicyChoice(s.ctx, workspace.ID)
		succeeds(err)
		equal("the policy", present("the policy", choice.DataRetentionPolicyDeleteOlder), older)
		read, err := s.client.Workspaces.ReadByID(s.ctx, workspace.ID)
		succeeds(err)
		equal("the workspace's policy", present("data-retention-policy", read.DataRetentionPolicyChoice).DataRetentionPolicyDeleteOlder.ID, older.ID)
		equal("the deprecated form", present("the deprecated form", read.DataRetentionPolicy).ID, older.ID)
	})
	s.step("changes the days of the same policy", func() {
		changed, err := s.client.Workspaces.SetDataRetentionPolicyDeleteOlder(s.ctx, workspace.ID, tfe.DataRetentionPolicyDeleteOlderSetOptions{DeleteOlderThanNDays: 44})
		succeeds(err)
		equal("the id", changed.ID, older.ID)
		equal("the days", changed.DeleteOlderThanNDays, 44)
	})
	s.step("replaces it by one that deletes nothing", func() {
		never, err := s.client.Workspaces.SetDataRetentionPolicyDontDelete(s.ctx, workspace.ID, tfe.DataRetentionPolicyDontDeleteSetOptions{})
		succeeds(err)
		isTrue("the id is another", never.ID != older.ID)
		choice, err := s.client.Workspaces.ReadDataRetentionPolicyChoice(s.ctx, workspace.ID)
		succeeds(err)
		equal("the policy", present("the policy", choice.DataRetentionPolicyDontDelete).ID, never.ID)
		isTrue("the other is gone", choice.DataRetentionPolicyDeleteOlder == nil)
	})
	s.step("takes the form of older clients", func() {
		//lint:ignore SA1019 what older clients send is what is tried here
		policy, err := s.client.Workspaces.SetDataRetentionPolicy(s.ctx, workspace.ID, tfe.DataRetentionPolicySetOptions{DeleteOlderThanNDays: 55})
		succeeds(err)
		equal("the days", policy.DeleteOlderThanNDays, 55)
	})
	s.step("deletes a policy", func() {
		succeeds(s.client.Workspaces.DeleteDataRetentionPolicy(s.ctx, workspace.ID))
		read, err := s.client.Workspaces.ReadByID(s.ctx, workspace.ID)
		succeeds(err)
		isTrue("it has none", read.DataRetentionPolicyChoice == nil)
	})
	s.step("sets, reads and deletes an organization's", func() {
		set, err := s.client.Organizations.SetDataRetentionPolicyDeleteOlder(s.ctx, s.organization, tfe.DataRetentionPolicyDeleteOlderSetOptions{DeleteOlderThanNDays: 66})
		succeeds(err)
		choice, err := s.client.Organizations.ReadDataRetentionPolicyChoice(s.ctx, s.organization)
		succeeds(err)
		equal("the policy", present("the policy", choice.DataRetentionPolicyDeleteOlder), set)
		succeeds(s.client.Organizations.DeleteDataRetentionPolicy(s.ctx, s.organization))
	})
}
