package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"time"

	vault "github.com/hashicorp/vault/api"
	"github.com/hashicorp/vault/api/auth/approle"
	"github.com/hashicorp/vault/api/auth/kubernetes"
)

func authMethods(s *scenario) {
	sys := s.client.Sys()
	path := "approle-" + unique()
	s.step("enables a method, and lists it", func() {
		succeeds(sys.EnableAuthWithOptionsWithContext(s.ctx, path, &vault.EnableAuthOptions{Type: "approle", Description: "for programs"}))
		methods, err := sys.ListAuthWithContext(s.ctx)
		succeeds(err)
		method := present("the method", methods[path+"/"])
		equal("the type", method.Type, "approle")
		equal("the description", method.Description, "for programs")
		equal("the type of the tokens' own", present("the tokens' own", methods["token/"]).Type, "token")
	})
	s.step("tunes it", func() {
		succeeds(sys.TuneMountWithContext(s.ctx, "auth/"+path, vault.MountConfigInput{DefaultLeaseTTL: "10m", MaxLeaseTTL: "1h"}))
		config, err := sys.MountConfigWithContext(s.ctx, "auth/"+path)
		succeeds(err)
		equal("the usual time", config.DefaultLeaseTTL, 600)
		equal("the longest time", config.MaxLeaseTTL, 3_600)
	})
	s.step("disables it, once and again", func() {
		for range 2 {
			succeeds(sys.DisableAuthWithContext(s.ctx, path))
		}
		methods, err := sys.ListAuthWithContext(s.ctx)
		succeeds(err)
		isTrue("it is not listed", methods[path+"/"] == nil)
	})
}

// The path of a new method of the type.
func (s *scenario) newMethod(kind string) string {
	path := kind + "-" + unique()
	succeeds(s.client.Sys().EnableAuthWithOptionsWithContext(s.ctx, path, &vault.EnableAuthOptions{Type: kind}))
	return path
}

// Somebody without a token, who logs in.
func (s *scenario) loggedIn(method vault.AuthMethod) (*vault.Client, *vault.Secret, error) {
	client, err := connect(s.address, "")
	succeeds(err)
	secret, err := client.Auth().Login(s.ctx, method)
	return client, secret, err
}

func appRoles(s *scenario) {
	path, policy := s.newMethod("approle"), s.newPolicy(`path "pki/issue/web" { capabilities = ["update"] }`)
	role := "auth/" + path + "/role/web"
	var roleID string
	newSecretID := func() *vault.Secret { return s.write(role+"/secret-id", values{"metadata": `{"host": "web-1"}`}) }
	logIn := func(secretID string) (*vault.Client, *vault.Secret, error) {
		method, err := approle.NewAppRoleAuth(roleID, &approle.SecretID{FromString: secretID}, approle.WithMountPath(path))
		succeeds(err)
		return s.loggedIn(method)
	}
	s.step("writes a role, and reads its id", func() {
		s.write(role, values{"token_policies": policy, "token_ttl": "20m", "token_max_ttl": "4h", "secret_id_num_uses": 1})
		data := s.read(role)
		equal("the policies", textsIn(data, "token_policies"), []string{policy})
		equal("the time", numberIn(data, "token_ttl"), 1_200)
		roleID = textIn(s.read(role+"/role-id"), "role_id")
		equal("the roles", s.keys("auth/"+path+"/role"), []string{"web"})
	})
	s.step("logs in once with a secret id, and may what the policy says", func() {
		secretID := textIn(newSecretID().Data, "secret_id")
		client, secret, err := logIn(secretID)
		succeeds(err)
		auth := present("the login", secret.Auth)
		equal("the token that the client goes on with", client.Token(), auth.ClientToken)
		equal("the policies", sorted(auth.Policies), sorted([]string{"default", policy}))
		equal("the metadata", auth.Metadata, map[string]string{"host": "web-1", "role_name": "web"})
		equal("renewable", auth.Renewable, true)
		isTrue("it lasts twenty minutes", auth.LeaseDuration > 1_100 && auth.LeaseDuration <= 1_200)
		granted, err := client.Sys().CapabilitiesSelfWithContext(s.ctx, "pki/issue/web")
		succeeds(err)
		equal("what is granted", granted, []string{"update"})
		_, _, err = logIn(secretID)
		failsWith(err, 400, "invalid role or secret ID")
	})
	s.step("has the token renewed by a watcher", func() {
		client, secret, err := logIn(textIn(newSecretID().Data, "secret_id"))
		succeeds(err)
		watcher, err := client.NewLifetimeWatcher(&vault.LifetimeWatcherInput{Secret: secret})
		succeeds(err)
		go watcher.Start()
		defer watcher.Stop()
		select {
		case renewal := <-watcher.RenewCh():
			equal("the token", present("the login", renewal.Secret.Auth).ClientToken, secret.Auth.ClientToken)
		case err := <-watcher.DoneCh():
			succeeds(err)
			panic(broken("the watcher has ended"))
		case <-s.ctx.Done():
			panic(broken("nothing was renewed"))
		}
	})
	s.step("looks at a secret id by its accessor, and destroys it", func() {
		made := newSecretID()
		accessor := textIn(made.Data, "secret_id_accessor")
		looked := s.write(role+"/secret-id-accessor/lookup", values{"secret_id_accessor": accessor})
		equal("how often it may be used", numberIn(looked.Data, "secret_id_num_uses"), 1)
		isTrue("it is listed", in(s.keys(role+"/secret-id"), accessor))
		s.write(role+"/secret-id-accessor/destroy", values{"secret_id_accessor": accessor})
		_, _, err := logIn(textIn(made.Data, "secret_id"))
		failsWith(err, 400, "invalid role or secret ID")
	})
}

func kubernetesLogins(s *scenario) {
	path, policy := s.newMethod("kubernetes"), s.newPolicy(`path "pki/issue/web" { capabilities = ["update"] }`)
	cluster, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	succeeds(err)
	stranger, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	succeeds(err)
	logIn := func(role, jwt string) (*vault.Client, *vault.Secret, error) {
		method, err := kubernetes.NewKubernetesAuth(role, kubernetes.WithServiceAccountToken(jwt), kubernetes.WithMountPath(path))
		succeeds(err)
		return s.loggedIn(method)
	}
	s.step("says whose tokens count, and which accounts", func() {
		written := s.write("auth/"+path+"/config", values{"pem_keys": publicKeyPEM(cluster)})
		isTrue("it is warned that nobody is asked", written != nil && len(written.Warnings) == 1)
		s.write("auth/"+path+"/role/web", values{
			"bound_service_account_names": "web", "bound_service_account_namespaces": "shop", "audience": "chancery",
			"token_policies": policy, "token_ttl": "20m",
		})
		equal("the names", textsIn(s.read("auth/"+path+"/role/web"), "bound_service_account_names"), []string{"web"})
		equal("the roles", s.keys("auth/"+path+"/role"), []string{"web"})
	})
	s.step("logs an account in, which may what the policy says", func() {
		client, secret, err := logIn("web", accountToken(cluster, "shop", "web"))
		succeeds(err)
		auth := present("the login", secret.Auth)
		equal("the policies", sorted(auth.Policies), sorted([]string{"default", policy}))
		equal("the account", auth.Metadata["service_account_name"], "web")
		equal("the namespace", auth.Metadata["service_account_namespace"], "shop")
		granted, err := client.Sys().CapabilitiesSelfWithContext(s.ctx, "pki/issue/web")
		succeeds(err)
		equal("what is granted", granted, []string{"update"})
	})
	s.step("logs no other account in, and nobody that the cluster has not vouched for", func() {
		for _, jwt := range []string{
			accountToken(cluster, "shop", "other"), accountToken(cluster, "other", "web"), accountToken(stranger, "shop", "web"),
		} {
			_, _, err := logIn("web", jwt)
			failsWith(err, 403, "permission denied")
		}
		_, _, err := logIn("absent", accountToken(cluster, "shop", "web"))
		failsSaying(err, `invalid role name "absent"`)
	})
}

func publicKeyPEM(key *ecdsa.PrivateKey) string {
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	succeeds(err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

// As a cluster projects it into a pod, for ten minutes (RFC 7519, ES256 of RFC 7518).
func accountToken(key *ecdsa.PrivateKey, namespace, name string) string {
	now := time.Now()
	signed := jsonPart(values{"alg": "ES256", "typ": "JWT"}) + "." + jsonPart(values{
		"iss": "https://kubernetes.default.svc", "aud": []string{"chancery"},
		"iat": now.Unix(), "nbf": now.Unix(), "exp": now.Add(10 * time.Minute).Unix(),
		"sub":           "system:serviceaccount:" + namespace + ":" + name,
		"kubernetes.io": values{"namespace": namespace, "serviceaccount": values{"name": name, "uid": "uid-" + name}},
	})
	digest := sha256.Sum256([]byte(signed))
	r, t, err := ecdsa.Sign(rand.Reader, key, digest[:])
	succeeds(err)
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	t.FillBytes(signature[32:])
	return signed + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func jsonPart(part values) string {
	text, err := json.Marshal(part)
	succeeds(err)
	return base64.RawURLEncoding.EncodeToString(text)
}
