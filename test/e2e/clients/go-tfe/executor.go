package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	tfe "github.com/hashicorp/go-tfe"
)

// Reports on a run as the documents say; the public client has no word for it.
type executor struct {
	address, token, claim string
	size                  map[string]int
}

type document struct {
	Data struct {
		ID         string `json:"id"`
		Attributes struct {
			Size int `json:"size"`
		} `json:"attributes"`
	} `json:"data"`
}

func (e *executor) call(path, contentType string, body []byte) document {
	request, err := http.NewRequest("POST", e.address+"/api/v2"+path, bytes.NewReader(body))
	succeeds(err)
	request.Header.Set("Authorization", "Bearer "+e.token)
	request.Header.Set("Content-Type", contentType)
	response, err := http.DefaultClient.Do(request)
	succeeds(err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	succeeds(err)
	if response.StatusCode >= 300 {
		panic(broken(fmt.Sprintf("%s was answered %d: %s", path, response.StatusCode, text)))
	}
	var read document
	succeeds(json.Unmarshal(text, &read))
	return read
}

func (s *scenario) claimRun(token, path string) *executor {
	e := &executor{address: s.address, token: token, size: map[string]int{}}
	e.claim = e.call(path+"/run-claims", "application/vnd.api+json", []byte(`{"data":{"type":"run-claims"}}`)).Data.ID
	return e
}

func (e *executor) report(attributes string) {
	body := fmt.Sprintf(`{"data":{"type":"runs","attributes":%s}}`, attributes)
	e.call("/run-claims/"+e.claim+"/actions/report", "application/vnd.api+json", []byte(body))
}

func (e *executor) say(stage, text string) {
	path := fmt.Sprintf("/run-claims/%s/logs/%s?offset=%d", e.claim, stage, e.size[stage])
	e.size[stage] = e.call(path, "application/octet-stream", []byte(text)).Data.Attributes.Size
}

func executedRuns(s *scenario) {
	pool := s.newAgentPool("edge")
	var token *tfe.AgentToken
	s.step("gives an agent a token of its own", func() {
		var err error
		token, err = s.client.AgentTokens.Create(s.ctx, pool.ID, tfe.AgentTokenCreateOptions{Description: tfe.String("worker")})
		succeeds(err)
		isTrue("the token is shown", token.Token != "")
		list, err := s.client.AgentTokens.List(s.ctx, pool.ID)
		succeeds(err)
		equal("the ids", mapped(list.Items, func(t *tfe.AgentToken) string { return t.ID }), []string{token.ID})
		read, err := s.client.AgentTokens.Read(s.ctx, token.ID)
		succeeds(err)
		equal("the description", read.Description, "worker")
	})
	workspace, err := s.client.Workspaces.Create(s.ctx, s.organization, tfe.WorkspaceCreateOptions{
		Name: tfe.String("executed"), ExecutionMode: tfe.String("agent"), AgentPoolID: tfe.String(pool.ID),
	})
	succeeds(err)
	var run *tfe.Run
	var agent *executor
	s.step("queues a run with all that can be asked for", func() {
		run, err = s.client.Runs.Create(s.ctx, tfe.RunCreateOptions{
			Workspace: workspace, AllowEmptyApply: tfe.Bool(true), Refresh: tfe.Bool(true),
			TargetAddrs: []string{"terraform_data.a"}, ReplaceAddrs: []string{"terraform_data.b"},
			Variables: []*tfe.RunVariable{{Key: "region", Value: `"eu"`}},
		})
		succeeds(err)
		equal("the targets", run.TargetAddrs, []string{"terraform_data.a"})
		equal("the replacements", run.ReplaceAddrs, []string{"terraform_data.b"})
		equal("the variable", *run.Variables[0], tfe.RunVariableAttr{Key: "region", Value: `"eu"`})
		all, err := s.client.Runs.ListForOrganization(s.ctx, s.organization, &tfe.RunListForOrganizationOptions{
			AgentPoolNames: pool.Name, StatusGroup: "non_final", Operation: string(tfe.RunOperationEmptyApply),
		})
		succeeds(err)
		equal("the runs", mapped(all.Items, func(r *tfe.Run) string { return r.ID }), []string{run.ID})
	})
	s.step("is claimed by the agent, and its plan is followed while it is made", func() {
		agent = s.claimRun(token.Token, "/agent-pools/"+pool.ID)
		agent.report(`{"status":"planning"}`)
		agent.say("plan", "Refreshing state...\n")
		logs, err := s.client.Plans.Logs(s.ctx, run.Plan.ID)
		succeeds(err)
		trouble := make(chan string)
		go func() {
			trouble <- attempt(func() {
				time.Sleep(300 * time.Millisecond)
				agent.say("plan", "Plan: 2 to add, 1 to change, 0 to destroy.\n")
				agent.report(`{"status":"planned","resource-additions":2,"resource-changes":1,"resource-imports":1}`)
			})
		}()
		text, err := io.ReadAll(logs)
		succeeds(err)
		equal("the executor's trouble", <-trouble, "")
		equal("the log", string(text), "Refreshing state...\nPlan: 2 to add, 1 to change, 0 to destroy.\n")
		plan, err := s.client.Plans.Read(s.ctx, run.Plan.ID)
		succeeds(err)
		equal("the plan's status", plan.Status, tfe.PlanFinished)
		isTrue("it has changes", plan.HasChanges)
		equal("its counts", []int{plan.ResourceAdditions, plan.ResourceChanges, plan.ResourceDestructions, plan.ResourceImports}, []int{2, 1, 0, 1})
	})
	s.step("is applied, and the apply is read from its log", func() {
		succeeds(s.client.Runs.Apply(s.ctx, run.ID, tfe.RunApplyOptions{}))
		agent.report(`{"status":"applying"}`)
		agent.say("apply", "Apply complete!\n")
		agent.report(`{"status":"applied","resource-additions":2}`)
		logs, err := s.client.Applies.Logs(s.ctx, run.Apply.ID)
		succeeds(err)
		text, err := io.ReadAll(logs)
		succeeds(err)
		equal("the log", string(text), "Apply complete!\n")
		apply, err := s.client.Applies.Read(s.ctx, run.Apply.ID)
		succeeds(err)
		equal("the additions", apply.ResourceAdditions, 2)
		read, err := s.client.Runs.Read(s.ctx, run.ID)
		succeeds(err)
		equal("the status", read.Status, tfe.RunApplied)
	})
	s.step("queues nothing where runs execute locally", func() {
		local, err := s.client.Workspaces.Create(s.ctx, s.organization, tfe.WorkspaceCreateOptions{
			Name: tfe.String("local"), ExecutionMode: tfe.String("local"),
		})
		succeeds(err)
		_, err = s.client.Runs.Create(s.ctx, tfe.RunCreateOptions{Workspace: local})
		failsSaying(err, "execution mode is local")
	})
	s.step("takes the agent's token back", func() {
		succeeds(s.client.AgentTokens.Delete(s.ctx, token.ID))
		_, err := s.client.AgentTokens.Read(s.ctx, token.ID)
		failsWith(err, tfe.ErrResourceNotFound)
	})
}
