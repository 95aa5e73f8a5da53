package main

import (
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	tfe "github.com/hashicorp/go-tfe"
)

func variables(s *scenario) {
	var workspace *tfe.Workspace
	var variable *tfe.Variable
	category := tfe.CategoryTerraform
	s.step("creates variables of both categories, and shows no sensitive value", func() {
		var err error
		workspace = s.newWorkspace("variable")
		variable, err = s.client.Variables.Create(s.ctx, workspace.ID, tfe.VariableCreateOptions{
			Key: tfe.String("region"), Value: tfe.String("eu"), Description: tfe.String("where"), Category: &category, HCL: tfe.Bool(false),
		})
		succeeds(err)
		equal("the key", variable.Key, "region")
		equal("the value", variable.Value, "eu")
		equal("the description", variable.Description, "where")
		equal("the category", variable.Category, tfe.CategoryTerraform)
		equal("the workspace", present("configurable", variable.Workspace).ID, workspace.ID)
		environment := tfe.CategoryEnv
		secret, err := s.client.Variables.Create(s.ctx, workspace.ID, tfe.VariableCreateOptions{
			Key: tfe.String("TOKEN"), Value: tfe.String("hidden"), Category: &environment, Sensitive: tfe.Bool(true),
		})
		succeeds(err)
		equal("the value", secret.Value, "")
		equal("sensitive", secret.Sensitive, true)
	})
	s.step("lists and reads variables", func() {
		list, err := s.client.Variables.List(s.ctx, workspace.ID, nil)
		succeeds(err)
		equal("the keys", sorted(mapped(list.Items, func(v *tfe.Variable) string { return v.Key })), []string{"TOKEN", "region"})
		read, err := s.client.Variables.Read(s.ctx, workspace.ID, variable.ID)
		succeeds(err)
		equal("the variable", read, variable)
	})
	s.step("lists variables with those of variable sets, of which there are none", func() {
		list, err := s.client.Variables.ListAll(s.ctx, workspace.ID, nil)
		succeeds(err)
		equal("the keys", sorted(mapped(list.Items, func(v *tfe.Variable) string { return v.Key })), []string{"TOKEN", "region"})
	})
	s.step("updates a variable", func() {
		updated, err := s.client.Variables.Update(s.ctx, workspace.ID, variable.ID, tfe.VariableUpdateOptions{
			Key: tfe.String("zone"), Value: tfe.String("[1]"), HCL: tfe.Bool(true),
		})
		succeeds(err)
		equal("the key", updated.Key, "zone")
		equal("the value", updated.Value, "[1]")
		equal("hcl", updated.HCL, true)
		equal("the description", updated.Description, "where")
		isTrue("the version is another", updated.VersionID != variable.VersionID)
	})
	s.step("takes an update that changes nothing", func() {
		same, err := s.client.Variables.Update(s.ctx, workspace.ID, variable.ID, tfe.VariableUpdateOptions{})
		succeeds(err)
		equal("the key", same.Key, "zone")
		equal("the value", same.Value, "[1]")
	})
	s.step("refuses a second variable of the key", func() {
		_, err := s.client.Variables.Create(s.ctx, workspace.ID, tfe.VariableCreateOptions{Key: tfe.String("zone"), Category: &category})
		isTrue("it is refused", err != nil)
	})
	s.step("deletes a variable", func() {
		succeeds(s.client.Variables.Delete(s.ctx, workspace.ID, variable.ID))
		_, err := s.client.Variables.Read(s.ctx, workspace.ID, variable.ID)
		failsWith(err, tfe.ErrResourceNotFound)
	})
}

const lineage = "2f7e4a9c-2d3b-4c55-9d50-9a3f1c7f4f10"

func emptyState(serial int64) []byte {
	return fmt.Appendf(nil, `{"version":4,"terraform_version":"1.9.8","serial":%d,"lineage":%q,"outputs":{},"resources":[]}`, serial, lineage)
}

func stateWithResources(serial int64) []byte {
	return fmt.Appendf(nil, `{
  "version": 4, "terraform_version": "1.9.8", "serial": %d, "lineage": %q,
  "outputs": {
    "address": {"value": "10.0.0.1", "type": "string"},
    "ports": {"value": [80, 443], "type": ["list", "number"]},
    "password": {"value": "hunter2", "type": "string", "sensitive": true}
  },
  "resources": [
    {"mode": "managed", "type": "null_resource", "name": "one", "provider": "provider[\"registry.terraform.io/hashicorp/null\"]",
     "instances": [{"schema_version": 0, "attributes": {"id": "1"}}]},
    {"mode": "managed", "type": "null_resource", "name": "two", "provider": "provider[\"registry.terraform.io/hashicorp/null\"]",
     "instances": [{"schema_version": 0, "attributes": {"id": "2"}}]}
  ]
}`, serial, lineage)
}

func creation(state []byte, serial int64) tfe.StateVersionCreateOptions {
	sum := md5.Sum(state)
	return tfe.StateVersionCreateOptions{
		Lineage: tfe.String(lineage), MD5: tfe.String(hex.EncodeToString(sum[:])), Serial: &serial,
	}
}

// Locks, uploads as the command line does, and unlocks.
func (s *scenario) upload(workspace *tfe.Workspace, serial int64, stateOf func(int64) []byte) *tfe.StateVersion {
	state := stateOf(serial)
	_, err := s.client.Workspaces.Lock(s.ctx, workspace.ID, tfe.WorkspaceLockOptions{Reason: tfe.String("upload")})
	succeeds(err)
	version, err := s.client.StateVersions.Upload(s.ctx, workspace.ID, tfe.StateVersionUploadOptions{
		StateVersionCreateOptions: creation(state, serial), RawState: state, RawJSONState: []byte(`{"format_version":"1.0"}`),
	})
	succeeds(err)
	_, err = s.client.Workspaces.Unlock(s.ctx, workspace.ID)
	succeeds(err)
	return version
}

func stateVersions(s *scenario) {
	var workspace *tfe.Workspace
	s.step("has no state at first", func() {
		workspace = s.newWorkspace("stateful")
		_, err := s.client.StateVersions.ReadCurrent(s.ctx, workspace.ID)
		failsWith(err, tfe.ErrResourceNotFound)
	})
	s.step("takes no state while the workspace is not locked", func() {
		options := creation(emptyState(1), 1)
		options.State = tfe.String(base64.StdEncoding.EncodeToString(emptyState(1)))
		_, err := s.client.StateVersions.Create(s.ctx, workspace.ID, options)
		isTrue("it is refused", err != nil)
	})
	s.step("takes a state inline", func() {
		_, err := s.client.Workspaces.Lock(s.ctx, workspace.ID, tfe.WorkspaceLockOptions{})
		succeeds(err)
		options := creation(emptyState(1), 1)
		options.State = tfe.String(base64.StdEncoding.EncodeToString(emptyState(1)))
		version, err := s.client.StateVersions.Create(s.ctx, workspace.ID, options)
		succeeds(err)
		equal("the serial", version.Serial, int64(1))
		equal("the status", version.Status, tfe.StateVersionFinalized)
		_, err = s.client.Workspaces.Unlock(s.ctx, workspace.ID)
		succeeds(err)
	})
	var version *tfe.StateVersion
	s.step("takes a state in two steps and reads what it holds", func() {
		uploaded := s.upload(workspace, 2, stateWithResources)
		equal("the status", uploaded.Status, tfe.StateVersionFinalized)
		read, err := s.client.StateVersions.ReadWithOptions(s.ctx, uploaded.ID, &tfe.StateVersionReadOptions{
			Include: []tfe.StateVersionIncludeOpt{tfe.SVoutputs, tfe.SVcreatedby, tfe.SVrun},
		})
		succeeds(err)
		version = read
		equal("the serial", version.Serial, int64(2))
		equal("the format", version.StateVersion, 4)
		equal("the engine's version", version.TerraformVersion, "1.9.8")
		equal("resources-processed", version.ResourcesProcessed, true)
		equal("the outputs", len(version.Outputs), 3)
		equal("the resources", len(version.Resources), 2)
		equal("the type of one", version.Resources[0].Type, "null_resource")
		equal("the count of one", version.Resources[0].Count, 1)
		equal("the root module's", version.Modules.Root.NullResource, 2)
		isTrue("it was created", !version.CreatedAt.IsZero())
	})
	s.step("gives the state back as it was", func() {
		state, err := s.client.StateVersions.Download(s.ctx, version.DownloadURL)
		succeeds(err)
		equal("the state", string(state), string(stateWithResources(2)))
		document, err := s.client.StateVersions.Download(s.ctx, version.JSONDownloadURL)
		succeeds(err)
		equal("the JSON state", string(document), `{"format_version":"1.0"}`)
	})
	s.step("shows the current state, in the workspace too", func() {
		current, err := s.client.StateVersions.ReadCurrentWithOptions(s.ctx, workspace.ID, &tfe.StateVersionCurrentOptions{
			Include: []tfe.StateVersionIncludeOpt{tfe.SVoutputs},
		})
		succeeds(err)
		equal("the id", current.ID, version.ID)
		equal("the outputs", len(current.Outputs), 3)
		read, err := s.client.Workspaces.ReadByIDWithOptions(s.ctx, workspace.ID, &tfe.WorkspaceReadOptions{
			Include: []tfe.WSIncludeOpt{tfe.WSOutputs, tfe.WSCurrentStateVer},
		})
		succeeds(err)
		equal("the workspace's", present("current-state-version", read.CurrentStateVersion).ID, version.ID)
		equal("its serial", read.CurrentStateVersion.Serial, int64(2))
		equal("the resource count", read.ResourceCount, 2)
		equal("the outputs", sorted(mapped(read.Outputs, func(o *tfe.WorkspaceOutputs) string { return o.Name + ":" + o.Type })),
			[]string{"address:string", "password:string", "ports:array"})
	})
	s.step("lists versions, newest first, by page", func() {
		list, err := s.client.StateVersions.List(s.ctx, &tfe.StateVersionListOptions{Organization: s.organization, Workspace: "stateful"})
		succeeds(err)
		equal("the serials", mapped(list.Items, func(v *tfe.StateVersion) int64 { return v.Serial }), []int64{2, 1})
		equal("the total count", list.TotalCount, 2)
		beyond, err := s.client.StateVersions.List(s.ctx, &tfe.StateVersionListOptions{
			ListOptions: tfe.ListOptions{PageNumber: 999, PageSize: 100}, Organization: s.organization, Workspace: "stateful",
		})
		succeeds(err)
		equal("the items past the end", len(beyond.Items), 0)
		equal("the total count", beyond.TotalCount, 2)
	})
	s.step("shows the outputs of a version, sensitive ones too", func() {
		outputs, err := s.client.StateVersions.ListOutputs(s.ctx, version.ID, nil)
		succeeds(err)
		values := map[string]string{}
		for _, output := range outputs.Items {
			value, err := json.Marshal(output.Value)
			succeeds(err)
			values[output.Name] = output.Type + " " + string(value)
		}
		equal("the values", values, map[string]string{
			"address": `string "10.0.0.1"`, "ports": "array [80,443]", "password": `string "hunter2"`,
		})
	})
	s.step("shows the current outputs without sensitive values, and each of them with its value", func() {
		outputs, err := s.client.StateVersionOutputs.ReadCurrent(s.ctx, workspace.ID)
		succeeds(err)
		equal("the count", len(outputs.Items), 3)
		for _, output := range outputs.Items {
			if output.Sensitive {
				equal("the value", output.Value, nil)
				read, err := s.client.StateVersionOutputs.Read(s.ctx, output.ID)
				succeeds(err)
				equal("the value", read.Value, any("hunter2"))
			}
		}
	})
	s.step("refuses the same serial with another state", func() {
		_, err := s.client.Workspaces.Lock(s.ctx, workspace.ID, tfe.WorkspaceLockOptions{})
		succeeds(err)
		_, err = s.client.StateVersions.Create(s.ctx, workspace.ID, creation(emptyState(2), 2))
		isTrue("it is refused", err != nil)
		_, err = s.client.Workspaces.Unlock(s.ctx, workspace.ID)
		succeeds(err)
	})
	s.step("lets only the holder of the lock upload", func() {
		team := s.newTeam("uploaders")
		s.giveAccess(team, workspace, tfe.AccessWrite)
		_, other := s.newMember(team)
		_, err := s.client.Workspaces.Lock(s.ctx, workspace.ID, tfe.WorkspaceLockOptions{})
		succeeds(err)
		_, err = other.StateVersions.Create(s.ctx, workspace.ID, creation(emptyState(3), 3))
		isTrue("it is refused", err != nil)
	})
	s.step("keeps a workspace locked while an upload is pending", func() {
		_, err := s.client.StateVersions.Create(s.ctx, workspace.ID, creation(emptyState(3), 3))
		succeeds(err)
		_, err = s.client.Workspaces.Unlock(s.ctx, workspace.ID)
		failsWith(err, tfe.ErrWorkspaceLockedStateVersionStillPending)
		_, err = s.client.Workspaces.ForceUnlock(s.ctx, workspace.ID)
		succeeds(err)
		current, err := s.client.StateVersions.ReadCurrent(s.ctx, workspace.ID)
		succeeds(err)
		equal("the current version", current.ID, version.ID)
	})
}

func (s *scenario) newConfiguration(workspace *tfe.Workspace) *tfe.ConfigurationVersion {
	configuration, err := s.client.ConfigurationVersions.Create(s.ctx, workspace.ID, tfe.ConfigurationVersionCreateOptions{
		AutoQueueRuns: tfe.Bool(false),
	})
	succeeds(err)
	return configuration
}

// What executes runs tells the server so; the public client has no call for it.
func (s *scenario) advance(run *tfe.Run, status tfe.RunStatus) {
	body := struct {
		Status tfe.RunStatus `json:"status"`
	}{status}
	request, err := s.client.NewRequest("POST", "runs/"+run.ID+"/actions/transition", &body)
	succeeds(err)
	succeeds(request.Do(s.ctx, nil))
}

// Asks once for a run, as an executor does. The server rejects runs of an organization for which none ever asked.
func (s *scenario) announceExecutor() {
	s.step("is asked for a run by an executor", func() {
		request, err := s.client.NewRequest("POST", "organizations/"+s.organization+"/run-claims", nil)
		succeeds(err)
		succeeds(request.Do(s.ctx, nil))
	})
}

func runs(s *scenario) {
	var workspace *tfe.Workspace
	var configuration *tfe.ConfigurationVersion
	s.step("creates, reads and lists configuration versions", func() {
		workspace = s.newWorkspace("running")
		configuration = s.newConfiguration(workspace)
		equal("auto-queue-runs", configuration.AutoQueueRuns, false)
		equal("speculative", configuration.Speculative, false)
		equal("the source", configuration.Source, tfe.ConfigurationSourceAPI)
		read, err := s.client.ConfigurationVersions.Read(s.ctx, configuration.ID)
		succeeds(err)
		equal("the id", read.ID, configuration.ID)
		list, err := s.client.ConfigurationVersions.List(s.ctx, workspace.ID, nil)
		succeeds(err)
		equal("the ids", mapped(list.Items, func(c *tfe.ConfigurationVersion) string { return c.ID }), []string{configuration.ID})
	})
	s.step("uploads a configuration, and downloads what it uploaded", func() {
		folder, err := os.MkdirTemp("", "configuration")
		succeeds(err)
		defer os.RemoveAll(folder)
		succeeds(os.WriteFile(filepath.Join(folder, "main.tf"), []byte("terraform {}\n"), 0o600))
		succeeds(os.WriteFile(filepath.Join(folder, "README.md"), []byte("# From Go\n"), 0o600))
		succeeds(s.client.ConfigurationVersions.Upload(s.ctx, configuration.UploadURL, folder))
		read, err := s.client.ConfigurationVersions.Read(s.ctx, configuration.ID)
		succeeds(err)
		equal("the status", read.Status, tfe.ConfigurationUploaded)
		archive, err := s.client.ConfigurationVersions.Download(s.ctx, configuration.ID)
		succeeds(err)
		unpacked, err := gzip.NewReader(bytes.NewReader(archive))
		succeeds(err)
		text, err := io.ReadAll(unpacked)
		succeeds(err)
		isTrue("it holds the file", bytes.Contains(text, []byte("terraform {}")))
		readme, err := s.client.Workspaces.Readme(s.ctx, workspace.ID)
		succeeds(err)
		content, err := io.ReadAll(readme)
		succeeds(err)
		equal("the readme", string(content), "# From Go\n")
	})
	s.step("is refused an upload to an address that was used, and archives what is not current any more", func() {
		isTrue("it is refused", s.client.ConfigurationVersions.UploadTarGzip(s.ctx, configuration.UploadURL, bytes.NewReader(nil)) != nil)
		isTrue("the current one stays", s.client.ConfigurationVersions.Archive(s.ctx, configuration.ID) != nil)
	})
	s.step("rejects runs while no agent serves the organization", func() {
		_, err := s.client.Runs.Create(s.ctx, tfe.RunCreateOptions{Workspace: workspace, ConfigurationVersion: configuration})
		failsSaying(err, "No agent serves organization "+s.organization)
	})
	s.announceExecutor()
	var run *tfe.Run
	s.step("creates and reads a run", func() {
		var err error
		run, err = s.client.Runs.Create(s.ctx, tfe.RunCreateOptions{
			Workspace: workspace, ConfigurationVersion: configuration, Message: tfe.String("go"), AutoApply: tfe.Bool(false),
		})
		succeeds(err)
		equal("the message", run.Message, "go")
		equal("the status", run.Status, tfe.RunPending)
		equal("the workspace", present("workspace", run.Workspace).ID, workspace.ID)
		isTrue("it has a plan", present("plan", run.Plan).ID != "")
		isTrue("it has an apply", present("apply", run.Apply).ID != "")
		read, err := s.client.Runs.ReadWithOptions(s.ctx, run.ID, &tfe.RunReadOptions{
			Include: []tfe.RunIncludeOpt{tfe.RunCreatedBy, tfe.RunPlan, tfe.RunConfigVer, tfe.RunWorkspace},
		})
		succeeds(err)
		equal("the id", read.ID, run.ID)
		equal("the creator", present("created-by", read.CreatedBy).Username, "root")
		equal("the workspace's name", read.Workspace.Name, "running")
	})
	s.step("creates and confirms a run with the token of a team, which acts as a user", func() {
		team := s.newTeam("runners")
		elsewhere := s.newWorkspace("of-runners")
		s.giveAccess(team, elsewhere, tfe.AccessWrite)
		token, err := s.client.TeamTokens.Create(s.ctx, team.ID)
		succeeds(err)
		client, err := connect(s.address, token.Token)
		succeeds(err)
		created, err := client.Runs.Create(s.ctx, tfe.RunCreateOptions{Workspace: elsewhere})
		succeeds(err)
		equal("the creator", present("created-by", created.CreatedBy).ID, team.ID)
		for _, status := range []tfe.RunStatus{tfe.RunPlanning, tfe.RunPlanned} {
			s.advance(created, status)
		}
		succeeds(client.Runs.Apply(s.ctx, created.ID, tfe.RunApplyOptions{Comment: tfe.String("yes")}))
		read, err := client.Runs.ReadWithOptions(s.ctx, created.ID, &tfe.RunReadOptions{Include: []tfe.RunIncludeOpt{tfe.RunCreatedBy}})
		succeeds(err)
		equal("the name", present("created-by", read.CreatedBy).Username, "api-"+s.organization+"-runners")
		isTrue("it is a service account", read.CreatedBy.IsServiceAccount)
		equal("who confirmed it", present("confirmed-by", read.ConfirmedBy).ID, team.ID)
		events, err := client.RunEvents.List(s.ctx, created.ID, &tfe.RunEventListOptions{Include: []tfe.RunEventIncludeOpt{tfe.RunEventActor}})
		succeeds(err)
		equal("the actor", present("actor", events.Items[0].Actor).Username, "api-"+s.organization+"-runners")
	})
	s.step("lists runs, all and by status", func() {
		list, err := s.client.Runs.List(s.ctx, workspace.ID, nil)
		succeeds(err)
		equal("the ids", mapped(list.Items, func(r *tfe.Run) string { return r.ID }), []string{run.ID})
		none, err := s.client.Runs.List(s.ctx, workspace.ID, &tfe.RunListOptions{Status: string(tfe.RunApplied)})
		succeeds(err)
		equal("the applied runs", len(none.Items), 0)
	})
	s.step("plans and waits for a word", func() {
		for _, status := range []tfe.RunStatus{tfe.RunPlanning, tfe.RunPlanned, tfe.RunPolicyChecking, tfe.RunPolicyChecked} {
			s.advance(run, status)
		}
		read, err := s.client.Runs.Read(s.ctx, run.ID)
		succeeds(err)
		equal("is-confirmable", present("actions", read.Actions).IsConfirmable, true)
		equal("can-apply", present("permissions", read.Permissions).CanApply, true)
		isTrue("it knows when it was planned", !present("status-timestamps", read.StatusTimestamps).PlannedAt.IsZero())
		plan, err := s.client.Plans.Read(s.ctx, run.Plan.ID)
		succeeds(err)
		equal("the plan's status", plan.Status, tfe.PlanFinished)
	})
	s.step("is the workspace's current run", func() {
		read, err := s.client.Workspaces.ReadByIDWithOptions(s.ctx, workspace.ID, &tfe.WorkspaceReadOptions{
			Include: []tfe.WSIncludeOpt{tfe.WSCurrentRun, tfe.WSCurrentRunPlan},
		})
		succeeds(err)
		equal("the current run", present("current-run", read.CurrentRun).ID, run.ID)
		equal("its status", read.CurrentRun.Status, tfe.RunPolicyChecked)
		equal("its plan's status", present("plan", read.CurrentRun.Plan).Status, tfe.PlanFinished)
		list, err := s.client.Workspaces.List(s.ctx, s.organization, &tfe.WorkspaceListOptions{
			CurrentRunStatus: string(tfe.RunPolicyChecked) + "," + string(tfe.RunPlanned), Sort: "-current-run.created-at",
		})
		succeeds(err)
		equal("the workspaces", mapped(list.Items, workspaceName), []string{"running"})
	})
	s.step("applies, and gives the lock back", func() {
		succeeds(s.client.Runs.Apply(s.ctx, run.ID, tfe.RunApplyOptions{Comment: tfe.String("yes")}))
		for _, status := range []tfe.RunStatus{tfe.RunApplying, tfe.RunApplied} {
			s.advance(run, status)
		}
		read, err := s.client.Workspaces.ReadByID(s.ctx, workspace.ID)
		succeeds(err)
		equal("locked", read.Locked, false)
		equal("the number of runs", read.RunsCount, 1)
		apply, err := s.client.Applies.Read(s.ctx, run.Apply.ID)
		succeeds(err)
		equal("the apply's status", apply.Status, tfe.ApplyFinished)
	})
	s.step("discards and cancels runs", func() {
		create := func() *tfe.Run {
			created, err := s.client.Runs.Create(s.ctx, tfe.RunCreateOptions{Workspace: workspace, ConfigurationVersion: configuration})
			succeeds(err)
			return created
		}
		waiting := create()
		succeeds(s.client.Runs.Discard(s.ctx, waiting.ID, tfe.RunDiscardOptions{}))
		interrupted := create()
		isTrue("a waiting run can be canceled", interrupted.Actions.IsCancelable)
		succeeds(s.client.Runs.Cancel(s.ctx, interrupted.ID, tfe.RunCancelOptions{}))
		working := create()
		s.advance(working, tfe.RunPlanning)
		succeeds(s.client.Runs.Cancel(s.ctx, working.ID, tfe.RunCancelOptions{Comment: tfe.String("no")}))
		read, err := s.client.Runs.Read(s.ctx, working.ID)
		succeeds(err)
		equal("the status", read.Status, tfe.RunCanceled)
		isTrue("it cannot be applied", s.client.Runs.Apply(s.ctx, working.ID, tfe.RunApplyOptions{}) != nil)
	})
	s.step("knows no absent run", func() {
		_, err := s.client.Runs.Read(s.ctx, "run-absent")
		failsWith(err, tfe.ErrResourceNotFound)
	})
}

func (s *scenario) newOAuthClient() *tfe.OAuthClient {
	provider := tfe.ServiceProviderGithub
	client, err := s.client.OAuthClients.Create(s.ctx, s.organization, tfe.OAuthClientCreateOptions{
		Name: tfe.String("code"), APIURL: tfe.String("https://api.github.com"), HTTPURL: tfe.String("https://github.com"),
		OAuthToken: tfe.String("secret-" + unique()), ServiceProvider: &provider,
	})
	succeeds(err)
	return client
}

func (s *scenario) newOAuthToken() *tfe.OAuthToken {
	client := s.newOAuthClient()
	isTrue("the client has a token", len(client.OAuthTokens) == 1)
	return client.OAuthTokens[0]
}

func vcsConnections(s *scenario) {
	var client *tfe.OAuthClient
	s.step("creates, reads and lists clients", func() {
		client = s.newOAuthClient()
		equal("the name", *present("name", client.Name), "code")
		equal("the provider", client.ServiceProvider, tfe.ServiceProviderGithub)
		equal("the address", client.APIURL, "https://api.github.com")
		read, err := s.client.OAuthClients.Read(s.ctx, client.ID)
		succeeds(err)
		equal("the client", read, client)
		list, err := s.client.OAuthClients.List(s.ctx, s.organization, &tfe.OAuthClientListOptions{
			Include: []tfe.OAuthClientIncludeOpt{tfe.OauthClientOauthTokens},
		})
		succeeds(err)
		equal("the ids", mapped(list.Items, func(c *tfe.OAuthClient) string { return c.ID }), []string{client.ID})
	})
	s.step("reads and lists their tokens", func() {
		token, err := s.client.OAuthTokens.Read(s.ctx, client.OAuthTokens[0].ID)
		succeeds(err)
		equal("the client", present("oauth-client", token.OAuthClient).ID, client.ID)
		list, err := s.client.OAuthTokens.List(s.ctx, s.organization, nil)
		succeeds(err)
		equal("the ids", mapped(list.Items, func(t *tfe.OAuthToken) string { return t.ID }), []string{token.ID})
	})
	s.step("renames a client and replaces its secret", func() {
		updated, err := s.client.OAuthClients.Update(s.ctx, client.ID, tfe.OAuthClientUpdateOptions{
			Name: tfe.String("forge"), OAuthToken: tfe.String("written again"),
		})
		succeeds(err)
		equal("the name", *present("name", updated.Name), "forge")
		equal("the address", updated.APIURL, client.APIURL)
	})
	s.step("reads an installed app", func() {
		body := struct {
			Type   string `jsonapi:"primary,github-app-installations"`
			Name   string `jsonapi:"attr,name"`
			Number int    `jsonapi:"attr,installation-id"`
		}{Name: "app", Number: 42}
		request, err := s.client.NewRequest("POST", "organizations/"+s.organization+"/github-app/installations", &body)
		succeeds(err)
		made := &tfe.GHAInstallation{}
		succeeds(request.Do(s.ctx, made))
		read, err := s.client.GHAInstallations.Read(s.ctx, *present("id", made.ID))
		succeeds(err)
		equal("the name", *present("name", read.Name), "app")
		equal("the number", *present("installation-id", read.InstallationID), 42)
	})
	s.step("deletes a client with its tokens", func() {
		succeeds(s.client.OAuthClients.Delete(s.ctx, client.ID))
		_, err := s.client.OAuthClients.Read(s.ctx, client.ID)
		failsWith(err, tfe.ErrResourceNotFound)
		_, err = s.client.OAuthTokens.Read(s.ctx, client.OAuthTokens[0].ID)
		failsWith(err, tfe.ErrResourceNotFound)
	})
}
