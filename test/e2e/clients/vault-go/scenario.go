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

	vault "github.com/hashicorp/vault/api"
)

// One scenario has mounts, policies and tokens of its own, so that no scenario depends on another.
type scenario struct {
	name    string
	ctx     context.Context
	address string
	client  *vault.Client
	out     *json.Encoder
}

type line struct {
	Scenario string `json:"scenario"`
	Name     string `json:"name"`
	OK       bool   `json:"ok"`
	Detail   string `json:"detail"`
}

type values = map[string]any

// Thrown by a check that does not hold, and caught by the step it stands in.
type broken string

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

// As the client's own error, with the status and the sentences of the answer, in their order.
func failsWith(err error, status int, sentences ...string) {
	var refused *vault.ResponseError
	if !errors.As(err, &refused) {
		panic(broken(fmt.Sprintf("ended with %v, which is no error of the client's", err)))
	}
	equal("the status", refused.StatusCode, status)
	equal("raw error", refused.RawError, false)
	equal("the sentences", refused.Errors, sentences)
}

// For what the client puts into words of its own.
func failsSaying(err error, part string) {
	if err == nil || !strings.Contains(err.Error(), part) {
		panic(broken(fmt.Sprintf("ended with %v, which does not say %q", err, part)))
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

// The client tells what is not there by neither a secret nor an error.
func absent(secret *vault.Secret, err error) {
	succeeds(err)
	isTrue("there is nothing", secret == nil)
}

func sorted(texts []string) []string {
	return slices.Sorted(slices.Values(texts))
}

func in(list []string, one string) bool { return slices.Contains(list, one) }

func textIn(data values, name string) string {
	text, isText := data[name].(string)
	isTrue(name+" is text", isText)
	return text
}

// Numbers come as the client decodes them, exactly.
func numberIn(data values, name string) int64 {
	number, isNumber := data[name].(json.Number)
	isTrue(name+" is a number", isNumber)
	whole, err := number.Int64()
	succeeds(err)
	return whole
}

func textsIn(data values, name string) []string {
	list, isList := data[name].([]any)
	isTrue(name+" is a list", isList)
	texts := make([]string, 0, len(list))
	for _, each := range list {
		text, isText := each.(string)
		isTrue("each of "+name+" is text", isText)
		texts = append(texts, text)
	}
	return texts
}

func (s *scenario) write(path string, data values) *vault.Secret {
	secret, err := s.client.Logical().WriteWithContext(s.ctx, path, data)
	succeeds(err)
	return secret
}

func (s *scenario) read(path string) values {
	secret, err := s.client.Logical().ReadWithContext(s.ctx, path)
	succeeds(err)
	return present(path, secret).Data
}

func (s *scenario) keys(path string) []string {
	secret, err := s.client.Logical().ListWithContext(s.ctx, path)
	succeeds(err)
	return textsIn(present(path, secret).Data, "keys")
}

// The path of a mount without issuers.
func (s *scenario) newMount() string {
	path := "pki-" + unique()
	// An authority outlives what it signs, which has the system's usual time unless it is said.
	config := vault.MountConfigInput{MaxLeaseTTL: "87600h"}
	succeeds(s.client.Sys().MountWithContext(s.ctx, path, &vault.MountInput{Type: "pki", Config: config}))
	return path
}

// The path of a mount whose root signs for whatever is asked by the role "any".
func (s *scenario) newAuthority() string {
	path := s.newMount()
	s.write(path+"/root/generate/internal", values{"common_name": "Scenario Root", "key_type": "ec", "ttl": "87600h"})
	s.write(path+"/roles/any", values{"allow_any_name": true, "key_type": "ec"})
	return path
}

// A client whose token has these policies and "default".
func (s *scenario) newClient(policies ...string) (*vault.Client, *vault.SecretAuth) {
	secret, err := s.client.Auth().Token().CreateWithContext(s.ctx, &vault.TokenCreateRequest{Policies: policies, TTL: "1h"})
	succeeds(err)
	auth := present("the login", present("the token", secret).Auth)
	client, err := connect(s.address, auth.ClientToken)
	succeeds(err)
	return client, auth
}

func (s *scenario) newPolicy(rules string) string {
	name := "policy-" + unique()
	succeeds(s.client.Sys().PutPolicyWithContext(s.ctx, name, rules))
	return name
}
