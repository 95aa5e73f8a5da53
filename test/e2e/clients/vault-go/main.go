// Walks through the certificate API with the public Go clients of it, as the tools that link them do. Prints one line of JSON
// for each step, and ends with status 0 when every step could be tried, whatever became of it: the reader judges the lines.
//
// CHANCERY_ADDRESS and CHANCERY_TOKEN (of a site administrator) name the server.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	vault "github.com/hashicorp/vault/api"
)

var scenarios = []struct {
	name string
	tell func(*scenario)
}{
	{"connection", connection},
	{"mounts", mounts},
	{"preflights", preflights},
	{"roots", roots},
	{"intermediates", intermediates},
	{"settings", settings},
	{"roles", roles},
	{"certificates", certificates},
	{"revocation", revocation},
	{"open reads", openReads},
	{"leases", leases},
	{"policies", policies},
	{"capabilities", capabilities},
	{"tokens", tokens},
	{"token renewal", tokenRenewal},
	{"auth methods", authMethods},
	{"AppRole", appRoles},
	{"Kubernetes", kubernetesLogins},
	{"refusals", refusals},
	{"OpenBao's client", openBao},
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
		// What stands outside of the steps is a step as well.
		s.step("is told to its end", func() { each.tell(s) })
	}
}

func connect(address, token string) (*vault.Client, error) {
	config := vault.DefaultConfig()
	if config.Error != nil {
		return nil, config.Error
	}
	config.Address = address
	client, err := vault.NewClient(config)
	if err != nil {
		return nil, err
	}
	client.SetToken(token)
	return client, nil
}
