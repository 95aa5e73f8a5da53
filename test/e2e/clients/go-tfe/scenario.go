package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	tfe "github.com/hashicorp/go-tfe"
)

// One scenario has an organization of its own, so that no scenario depends on another.
type scenario struct {
	name         string
	ctx          context.Context
	address      string
	client       *tfe.Client
	organization string
	out          *json.Encoder
}

type line struct {
	Scenario string `json:"scenario"`
	Name     string `json:"name"`
	OK       bool   `json:"ok"`
	Detail   string `json:"detail"`
}

// Thrown by a check that does not hold, and caught by the step it stands in.
type broken string

func (s *scenario) begin() {
	s.step("has an organization of its own", func() {
		name := "scenario-" + unique()
		_, err := s.client.Organizations.Create(s.ctx, tfe.OrganizationCreateOptions{
			Name: tfe.String(name), Email: tfe.String("owner@example.com"),
		})
		succeeds(err)
		s.organization = name
	})
}

// A step that fails is written down, and the scenario goes on: later steps may fail for it, none is left out.
func (s *scenario) step(name string, try func()) {
	detail := attempt(try)
	if err := s.out.Encode(line{s.name, name, detail == "", detail}); err != nil {
		panic(err)
	}
}

func attempt(try func()) (detail string) {
	defer func() {
		if cause := recover(); cause != nil {
			detail = fmt.Sprint(cause)
		}
	}()
	try()
	return ""
}

func unique() string {
	bytes := make([]byte, 6)
	_, _ = rand.Read(bytes)
	return hex.EncodeToString(bytes)
}

func succeeds(err error) {
	if err != nil {
		panic(broken(fmt.Sprintf("failed: %v", err)))
	}
}

// The very error value of the client.
func failsWith(err, want error) {
	if !errors.Is(err, want) {
		panic(broken(fmt.Sprintf("ended with %q instead of %q", fmt.Sprint(err), want)))
	}
}

// For what the client has no error value: the text that it shows.
func failsSaying(err error, part string) {
	if err == nil || !strings.Contains(err.Error(), part) {
		panic(broken(fmt.Sprintf("ended with %q, which does not say %q", fmt.Sprint(err), part)))
	}
}

func equal[T any](what string, got, want T) {
	if !reflect.DeepEqual(got, want) && !(empty(got) && empty(want)) {
		panic(broken(fmt.Sprintf("%s is %+v instead of %+v", what, got, want)))
	}
}

// An empty list that was made and one that was not are the same to these checks.
func empty(value any) bool {
	list := reflect.ValueOf(value)
	return list.Kind() == reflect.Slice && list.Len() == 0
}

func isTrue(what string, holds bool) {
	if !holds {
		panic(broken("not so: " + what))
	}
}

func present[T any](what string, value *T) *T {
	if value == nil {
		panic(broken(what + " is missing"))
	}
	return value
}

func mapped[T, U any](items []T, to func(T) U) []U {
	result := make([]U, 0, len(items))
	for _, item := range items {
		result = append(result, to(item))
	}
	return result
}

func sorted(texts []string) []string {
	return slices.Sorted(slices.Values(texts))
}

func (s *scenario) newWorkspace(name string) *tfe.Workspace {
	workspace, err := s.client.Workspaces.Create(s.ctx, s.organization, tfe.WorkspaceCreateOptions{Name: &name})
	succeeds(err)
	return workspace
}

// A user with nothing but the rights of a member and of the teams named, and a client that acts as that user.
func (s *scenario) newMember(teams ...*tfe.Team) (*tfe.OrganizationMembership, *tfe.Client) {
	membership, err := s.client.OrganizationMemberships.Create(s.ctx, s.organization, tfe.OrganizationMembershipCreateOptions{
		Email: tfe.String("member-" + unique() + "@example.com"), Teams: teams,
	})
	succeeds(err)
	token, err := s.client.UserTokens.Create(s.ctx, present("the member's user", membership.User).ID, tfe.UserTokenCreateOptions{
		Description: "scenario",
	})
	succeeds(err)
	client, err := connect(s.address, token.Token)
	succeeds(err)
	return membership, client
}

func (s *scenario) newTeam(name string) *tfe.Team {
	team, err := s.client.Teams.Create(s.ctx, s.organization, tfe.TeamCreateOptions{Name: &name})
	succeeds(err)
	return team
}

func (s *scenario) giveAccess(team *tfe.Team, workspace *tfe.Workspace, access tfe.AccessType) *tfe.TeamAccess {
	given, err := s.client.TeamAccess.Add(s.ctx, tfe.TeamAccessAddOptions{Access: &access, Team: team, Workspace: workspace})
	succeeds(err)
	return given
}

func (s *scenario) newAgentPool(name string) *tfe.AgentPool {
	pool, err := s.client.AgentPools.Create(s.ctx, s.organization, tfe.AgentPoolCreateOptions{Name: &name})
	succeeds(err)
	return pool
}
