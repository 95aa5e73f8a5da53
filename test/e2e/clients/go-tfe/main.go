// Walks through the API with the public Go client, as the tools that link it do. Prints one line of JSON for each step,
// and ends with status 0 when every step could be tried, whatever became of it: the reader judges the lines.
//
// CHANCERY_ADDRESS and CHANCERY_TOKEN (of a site administrator) name the server.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	tfe "github.com/hashicorp/go-tfe"
)

var scenarios = []struct {
	name string
	tell func(*scenario)
}{
	{"connection", connection},
	{"organizations", organizations},
	{"projects", projects},
	{"workspaces", workspaces},
	{"workspace settings", workspaceSettings},
	{"workspace lists", workspaceLists},
	{"locks", locks},
	{"deletion", deletion},
	{"flat tags", flatTags},
	{"tag bindings", tagBindings},
	{"remote state consumers", remoteStateConsumers},
	{"SSH keys", sshKeys},
	{"agent pools", agentPools},
	{"data retention policies", dataRetentionPolicies},
	{"teams", teams},
	{"tokens", tokens},
	{"variables", variables},
	{"state versions", stateVersions},
	{"runs", runs},
	{"executed runs", executedRuns},
	{"VCS connections", vcsConnections},
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	address := os.Getenv("CHANCERY_ADDRESS")
	client, err := connect(address, os.Getenv("CHANCERY_TOKEN"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	out := json.NewEncoder(os.Stdout)
	for _, each := range scenarios {
		s := &scenario{name: each.name, ctx: ctx, address: address, client: client, out: out}
		s.begin()
		each.tell(s)
	}
}

func connect(address, token string) (*tfe.Client, error) {
	return tfe.NewClient(&tfe.Config{Address: address, Token: token})
}
