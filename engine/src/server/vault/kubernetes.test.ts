import { generateKeyPairSync } from "node:crypto"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import {
  type ApiServer,
  clusterKeys,
  projectedToken,
  reviewed,
  secretToken,
  startApiServer,
  webAccount,
  webReviewed,
} from "../../../testing/api-server.ts"
import { openDatabase } from "../../storage/sql/database.ts"
import { testTlsPem } from "../../../testing/policy-server.ts"
import {
  type Answer,
  openTestEngine,
  origin,
  type TestEngine,
  type TestEngineOptions,
} from "../../../testing/test-engine.ts"

const audience = "vault://shop/issuer"
const reviewerJwt = await projectedToken({ aud: ["https://kubernetes.default.svc"] })
const jwt = await projectedToken()
const publicKey = clusterKeys.publicKey.export({ type: "spki", format: "pem" })
const denied = { status: 403, body: { errors: ["permission denied"] } }

interface Logged {
  readonly level: string
  readonly event: string
  readonly fields: Readonly<Record<string, unknown>> | undefined
}

interface Stage extends TestEngine {
  readonly cluster: ApiServer
  readonly logged: readonly Logged[]
}

/** Mounts `auth/kubernetes`, not configured yet, with a policy `web`. The API server accepts every token as one of the account `web`. */
async function opened(options: TestEngineOptions = {}): Promise<Stage> {
  const cluster = await startApiServer(webReviewed)
  onTestFinished(() => cluster[Symbol.asyncDispose]())
  const logged: Logged[] = []
  const write = (level: string) => (event: string, fields?: Logged["fields"]) =>
    void logged.push({ level, event, fields })
  const log = { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") }
  const world = await openTestEngine({
    runtime: systemRuntime(log),
    outgoing: { kinds: ["loopback"], ranges: [] },
    ...options,
  })
  onTestFinished(() => world[Symbol.asyncDispose]())
  await done(world.pki("POST", "/sys/auth/kubernetes", { body: { type: "kubernetes" } }))
  await world.engine.policies.put("web", 'path "pki/issue/web" { capabilities = ["update"] }')
  return { ...world, cluster, logged }
}

async function done(answer: Promise<Answer>): Promise<void> {
  const { status, body } = await answer
  expect({ status, body }).toMatchObject({ status: expect.toBeOneOf([200, 204]) as number })
}

const configured = (stage: Stage, body: object = {}) =>
  done(
    stage.pki("POST", "/auth/kubernetes/config", {
      body: {
        kubernetes_host: stage.cluster.url,
        kubernetes_ca_cert: stage.cluster.authorities,
        token_reviewer_jwt: reviewerJwt,
        ...body,
      },
    }),
  )
const bound = { bound_service_account_names: "web", bound_service_account_namespaces: "shop", audience }
const withRole = (stage: Stage, body: object = {}) =>
  done(stage.pki("POST", "/auth/kubernetes/role/issuer", { body: { ...bound, token_policies: "web", ...body } }))
const logIn = ({ pki }: TestEngine, body: object = {}, headers: Readonly<Record<string, string>> = {}) =>
  pki("POST", "/auth/kubernetes/login", { token: null, body: { role: "issuer", jwt, ...body }, headers })
const vault = { "x-vault-request": "true" }

describe("the configuration", () => {
  test("is read as it was set, without the reviewer's token", async () => {
    const stage = await opened()
    expect(await stage.pki("GET", "/auth/kubernetes/config")).toMatchObject({ status: 404 })
    await configured(stage, { pem_keys: [publicKey], issuer: "https://issuer" })
    const { status, body } = await stage.pki("GET", "/auth/kubernetes/config")
    expect({ status, data: body.data }).toEqual({
      status: 200,
      data: {
        kubernetes_host: stage.cluster.url,
        kubernetes_ca_cert: stage.cluster.authorities,
        pem_keys: [publicKey],
        issuer: "https://issuer",
        disable_iss_validation: true,
        disable_local_ca_jwt: false,
        token_reviewer_jwt_set: true,
        use_annotations_as_alias_metadata: false,
      },
    })
    expect(JSON.stringify(body)).not.toContain(reviewerJwt)
  })

  test("replaces the previous configuration, including the reviewer's token", async () => {
    const stage = await opened()
    await configured(stage, { disable_iss_validation: "false", disable_local_ca_jwt: "true" })
    await done(stage.pki("PUT", "/auth/kubernetes/config", { body: { kubernetes_host: "10.96.0.1" } }))
    expect((await stage.pki("GET", "/auth/kubernetes/config")).body.data).toMatchObject({
      kubernetes_host: "10.96.0.1",
      kubernetes_ca_cert: "",
      disable_iss_validation: true,
      disable_local_ca_jwt: false,
      token_reviewer_jwt_set: false,
    })
  })

  test.each([
    { why: "nothing", body: {}, names: "kubernetes_host" },
    { why: "http", body: { kubernetes_host: "http://10.96.0.1" }, names: "kubernetes_host" },
    { why: "no certificate", body: { kubernetes_host: "h", kubernetes_ca_cert: "none" }, names: "kubernetes_ca_cert" },
    { why: "no token", body: { kubernetes_host: "h", token_reviewer_jwt: "s.e.cret" }, names: "token_reviewer_jwt" },
    { why: "no key", body: { pem_keys: "none" }, names: "pem_keys" },
    {
      why: "annotations",
      body: { kubernetes_host: "h", use_annotations_as_alias_metadata: true },
      names: "use_annotations_as_alias_metadata",
    },
  ])("is rejected with $why, by name, and changes nothing", async ({ body, names }) => {
    const stage = await opened()
    const { status, body: answer } = await stage.pki("POST", "/auth/kubernetes/config", { body })
    expect({ status, errors: answer.errors }).toEqual({ status: 400, errors: [expect.stringContaining(names)] })
    expect(JSON.stringify(answer)).not.toContain("s.e.cret")
    expect(await stage.pki("GET", "/auth/kubernetes/config")).toMatchObject({ status: 404 })
  })
})

describe("a role", () => {
  test("is written, read, listed and deleted regardless of the case of its name", async () => {
    const stage = await opened()
    const body = { ...bound, bound_service_account_names: "web,api-*", token_policies: "Web", token_ttl: "20m" }
    const written = await stage.pki("POST", "/auth/kubernetes/role/Issuer", { body, headers: vault })
    expect(written.status).toBe(204)
    const read = await stage.pki("GET", "/auth/kubernetes/role/issuer")
    expect(read.body.data).toEqual({
      bound_service_account_names: ["web", "api-*"],
      bound_service_account_namespaces: ["shop"],
      bound_service_account_namespace_selector: "",
      audience,
      alias_name_source: "serviceaccount_uid",
      token_policies: ["web"],
      token_ttl: 1_200,
      token_max_ttl: 0,
      token_explicit_max_ttl: 0,
      token_period: 0,
      token_bound_cidrs: [],
      token_no_default_policy: false,
      token_num_uses: 0,
      token_type: "default",
    })
    expect((await stage.pki("LIST", "/auth/kubernetes/role")).body.data).toEqual({ keys: ["issuer"] })
    await done(stage.pki("DELETE", "/auth/kubernetes/role/ISSUER"))
    await done(stage.pki("DELETE", "/auth/kubernetes/role/ISSUER"))
    expect(await stage.pki("GET", "/auth/kubernetes/role/issuer")).toMatchObject({ status: 404 })
    expect(await stage.pki("LIST", "/auth/kubernetes/role")).toMatchObject({ status: 404, body: { errors: [] } })
  })

  test("accepts the older names of token parameters, over which the newer take precedence", async () => {
    const stage = await opened()
    const older = { policies: "web", ttl: "10m", max_ttl: 7_200, period: "0s", num_uses: 3, bound_cidrs: "10.0.0.0/8" }
    await withRole(stage, { ...older, token_policies: undefined, token_ttl: "20m" })
    expect((await stage.pki("GET", "/auth/kubernetes/role/issuer")).body.data).toMatchObject({
      token_policies: ["web"],
      token_ttl: 1_200,
      token_max_ttl: 7_200,
      token_period: 0,
      token_num_uses: 3,
      token_bound_cidrs: ["10.0.0.0/8"],
    })
    await done(stage.pki("POST", "/auth/kubernetes/role/issuer", { body: { token_num_uses: 0 } }))
    expect((await stage.pki("GET", "/auth/kubernetes/role/issuer")).body.data).toMatchObject({
      audience,
      token_ttl: 1_200,
      token_num_uses: 0,
    })
  })

  test.each([
    { why: "no names", body: { ...bound, bound_service_account_names: "" }, names: "bound_service_account_names" },
    { why: "no namespaces", body: { bound_service_account_names: "*" }, names: "bound_service_account_namespaces" },
    {
      why: "a selector",
      body: { ...bound, bound_service_account_namespace_selector: '{"matchLabels":{"a":"b"}}' },
      names: "bound_service_account_namespace_selector",
    },
    { why: "an unknown source", body: { ...bound, alias_name_source: "pod" }, names: "alias_name_source" },
    { why: "batch tokens", body: { ...bound, token_type: "batch" }, names: "token_type" },
    { why: "the policy root", body: { ...bound, token_policies: "root" }, names: "token_policies" },
    {
      why: "a lifetime beyond its maximum",
      body: { ...bound, token_ttl: "2h", token_max_ttl: "1h" },
      names: "token_ttl",
    },
  ])("with $why is rejected by name and not stored", async ({ body, names }) => {
    const stage = await opened()
    const { status, body: answer } = await stage.pki("POST", "/auth/kubernetes/role/issuer", { body })
    expect({ status, errors: answer.errors }).toEqual({ status: 400, errors: [expect.stringContaining(names)] })
    expect(await stage.pki("GET", "/auth/kubernetes/role/issuer")).toMatchObject({ status: 404 })
  })

  test("without an audience is stored with a warning", async () => {
    const stage = await opened()
    const body = { ...bound, audience: undefined }
    const written = await stage.pki("POST", "/auth/kubernetes/role/issuer", { body, headers: vault })
    expect(written.body.warnings).toEqual([expect.stringContaining('no "audience"')])
  })
})

describe("a login", () => {
  test("returns a token as Vault clients expect, with the policies of the role", async () => {
    const stage = await opened()
    await configured(stage)
    await withRole(stage, { token_ttl: "20m", token_max_ttl: "1h" })
    const { status, body } = await logIn(stage, {}, vault)
    expect(status).toBe(200)
    const metadata = {
      role: "issuer",
      service_account_name: "web",
      service_account_namespace: "shop",
      service_account_secret_name: "",
      service_account_uid: webAccount.uid,
    }
    expect(body).toMatchObject({ data: null, warnings: null })
    expect(body.auth).toEqual({
      client_token: expect.stringMatching(/^chy_/),
      accessor: expect.stringMatching(/^at-/),
      policies: ["default", "web"],
      token_policies: ["default", "web"],
      metadata,
      lease_duration: 1_200,
      renewable: true,
      entity_id: "",
      token_type: "service",
      orphan: true,
      mfa_requirement: null,
      num_uses: 0,
    })
    const token = body.auth.client_token as string
    expect((await stage.pki("GET", "/auth/token/lookup-self", { token })).body.data).toMatchObject({
      display_name: "kubernetes-shop-web",
      meta: metadata,
      orphan: true,
      path: "auth/kubernetes/login",
      policies: ["default", "web"],
    })
    const capabilities = await stage.pki("POST", "/sys/capabilities-self", {
      token,
      body: { paths: ["pki/issue/web", "auth/kubernetes/role/issuer"] },
    })
    expect(capabilities.body.data).toMatchObject({
      "pki/issue/web": ["update"],
      "auth/kubernetes/role/issuer": ["deny"],
    })
    expect(stage.cluster.seen).toMatchObject([
      { authorization: `Bearer ${reviewerJwt}`, document: { spec: { token: jwt, audiences: [audience] } } },
    ])
  })

  test("accepts the role in any case, at any path, and white space around the token", async () => {
    const stage = await opened()
    await done(stage.pki("POST", "/sys/auth/clusters/blue", { body: { type: "kubernetes" } }))
    const at = "/auth/clusters/blue"
    const { url, authorities } = stage.cluster
    await done(stage.pki("POST", `${at}/config`, { body: { kubernetes_host: url, kubernetes_ca_cert: authorities } }))
    await done(stage.pki("POST", `${at}/role/issuer`, { body: bound }))
    const answer = await stage.pki("PUT", `${at}/login`, { token: null, body: { role: "ISSUER", jwt: `${jwt}\n` } })
    expect(answer.body.auth.metadata).toMatchObject({ role: "issuer" })
    expect(await logIn(stage)).toMatchObject({ status: 400 })
  })

  test("reviews with its own token when no reviewer token is configured", async () => {
    const stage = await opened()
    await configured(stage, { token_reviewer_jwt: "" })
    await withRole(stage)
    expect(await logIn(stage)).toMatchObject({ status: 200 })
    expect(stage.cluster.seen).toMatchObject([{ authorization: `Bearer ${jwt}` }])
    // The API server rejects the client's own token as the reviewer's, so the login is denied as for any invalid token.
    stage.cluster.answerWith(reviewed({}, 401))
    expect(await logIn(stage)).toMatchObject(denied)
    stage.cluster.answerWith(reviewed({}, 403))
    expect(await logIn(stage)).toMatchObject(denied)
  })

  test("is reviewed for the token's audiences when the role has none", async () => {
    const stage = await opened()
    await configured(stage)
    await withRole(stage, { audience: "" })
    expect(await logIn(stage)).toMatchObject({ status: 200 })
    const legacy = await secretToken({ ...webAccount, secretName: "web-token" }, clusterKeys.privateKey)
    const answer = await logIn(stage, { jwt: legacy })
    expect(answer.body.auth.metadata).toMatchObject({ service_account_secret_name: "web-token" })
    expect(stage.cluster.seen.map(({ document }) => document.spec.audiences)).toEqual([[audience], undefined])
  })

  test.each([
    {
      why: "another account",
      claims: { sub: undefined, "kubernetes.io": { namespace: "shop", serviceaccount: { name: "api", uid: "u" } } },
      asked: 0,
    },
    {
      why: "another namespace",
      claims: { sub: undefined, "kubernetes.io": { namespace: "shop2", serviceaccount: { name: "web", uid: "u" } } },
      asked: 0,
    },
    { why: "another audience", claims: { aud: ["vault"] }, asked: 0 },
    { why: "an end that has passed", claims: { exp: 1_700_000_001 }, asked: 0 },
    { why: "a beginning to come", claims: { nbf: 4_000_000_000 - 1 }, asked: 0 },
    {
      why: "an account of that name that is gone",
      claims: {
        sub: undefined,
        "kubernetes.io": { namespace: "shop", serviceaccount: { name: "web", uid: "an-older-one" } },
      },
      asked: 1,
    },
  ])("with a token of $why is denied without a reason after $asked API server requests", async ({ claims, asked }) => {
    const stage = await opened()
    await configured(stage)
    await withRole(stage)
    const token = await projectedToken(claims)
    expect(await logIn(stage, { jwt: token })).toMatchObject(denied)
    expect(stage.cluster.seen).toHaveLength(asked)
    expect(stage.logged).toContainEqual({
      level: "debug",
      event: "kubernetes-login-refused",
      fields: { method: "kubernetes", role: "issuer", reason: expect.any(String) },
    })
    expect(JSON.stringify(stage.logged)).not.toContain(token)
  })

  test.each([
    { why: "not genuine", status: { authenticated: false, error: "expired" } },
    {
      why: "another account's",
      status: {
        authenticated: true,
        user: { username: "system:serviceaccount:shop:api", uid: webAccount.uid },
        audiences: [audience],
      },
    },
    {
      why: "another namespace's",
      status: {
        authenticated: true,
        user: { username: "system:serviceaccount:web:web", uid: webAccount.uid },
        audiences: [audience],
      },
    },
    {
      why: "a later account's",
      status: {
        authenticated: true,
        user: { username: "system:serviceaccount:shop:web", uid: "later" },
        audiences: [audience],
      },
    },
    {
      why: "an account's of which no uid is known",
      status: { authenticated: true, user: { username: "system:serviceaccount:shop:web" }, audiences: [audience] },
    },
    {
      why: "for other audiences",
      status: {
        authenticated: true,
        user: { username: "system:serviceaccount:shop:web", uid: webAccount.uid },
        audiences: ["other"],
      },
    },
    {
      why: "for an audience that is not said",
      status: { authenticated: true, user: { username: "system:serviceaccount:shop:web", uid: webAccount.uid } },
    },
  ])("is denied without a reason when the API server reports that the token is $why", async ({ status }) => {
    const stage = await opened()
    await configured(stage)
    await withRole(stage)
    stage.cluster.answerWith(reviewed(status))
    expect(await logIn(stage)).toMatchObject(denied)
  })

  test.each([
    { why: "no role", body: { role: "" }, errors: ["missing role"] },
    { why: "no token", body: { jwt: undefined }, errors: ["missing jwt"] },
    { why: "a role that is not there", body: { role: "none" }, errors: ['invalid role name "none"'] },
    { why: "a role that is not a name", body: { role: '"\n' }, errors: [String.raw`invalid role name "\"\n"`] },
    { why: "a token that is a list", body: { jwt: [jwt] }, errors: [expect.stringContaining('"jwt"')] },
  ])("is rejected with an error for $why", async ({ body, errors }) => {
    const stage = await opened()
    await configured(stage)
    await withRole(stage)
    expect(await logIn(stage, body)).toMatchObject({ status: 400, body: { errors } })
  })

  test("is rejected with an error when no cluster is configured", async () => {
    const stage = await opened()
    await withRole(stage)
    expect(await logIn(stage)).toMatchObject({
      status: 400,
      body: { errors: [expect.stringContaining("auth/kubernetes/config") as string] },
    })
  })

  test("is denied without a reason from an address outside the role's bound CIDRs", async () => {
    const stage = await opened()
    await configured(stage)
    await withRole(stage, { token_bound_cidrs: ["192.0.2.0/24"] })
    const from = (remoteAddress: string | undefined) =>
      stage.app.fetch(
        new Request(`${origin}/v1/auth/kubernetes/login`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ role: "issuer", jwt }),
        }),
        { requestId: "test", route: undefined, remoteAddress },
      )
    expect((await from("198.51.100.7")).status).toBe(403)
    expect((await from(undefined)).status).toBe(403)
    expect(stage.cluster.seen).toHaveLength(0)
    expect((await from("192.0.2.7")).status).toBe(200)
  })

  test.each([
    { why: "cannot be reached", body: { kubernetes_host: "https://localhost:1" } },
    { why: "is another", body: { kubernetes_ca_cert: testTlsPem("certificate") } },
    { why: "is where this server may not go", body: { kubernetes_host: "https://169.254.169.254" } },
  ])("answers 503 without the host when the API server $why", async ({ body }) => {
    const stage = await opened()
    await configured(stage, body)
    await withRole(stage)
    expect(await logIn(stage)).toMatchObject({
      status: 503,
      body: { errors: ["The Kubernetes API server could not review the token."] },
    })
    expect(stage.cluster.seen).toHaveLength(0)
    expect(stage.logged).toContainEqual({
      level: "warn",
      event: "kubernetes-token-not-reviewed",
      fields: { method: "kubernetes", reason: expect.any(String) },
    })
    for (const token of [jwt, reviewerJwt]) expect(JSON.stringify(stage.logged)).not.toContain(token)
  })

  test.each([401, 403, 500])("answers 503 when the API server answers the reviewer's token with %i", async (code) => {
    const stage = await opened()
    await configured(stage)
    await withRole(stage)
    stage.cluster.answerWith(reviewed({}, code))
    expect(await logIn(stage)).toMatchObject({ status: 503 })
  })

  test("is denied when the role or the method is deleted during the token review", async () => {
    const stage = await opened()
    await configured(stage)
    await withRole(stage)
    stage.cluster.answerWith(async (...question) => {
      await stage.engine.kubernetesLogins("kubernetes").deleteRole("issuer")
      webReviewed(...question)
    })
    expect(await logIn(stage)).toMatchObject({ status: 400, body: { errors: ['invalid role name "issuer"'] } })
    await withRole(stage)
    stage.cluster.answerWith(async (...question) => {
      await withRole(stage, { bound_service_account_namespaces: "other" })
      webReviewed(...question)
    })
    expect(await logIn(stage)).toMatchObject(denied)
    await withRole(stage)
    stage.cluster.answerWith(async (...question) => {
      await stage.engine.authMethods.disable("kubernetes")
      webReviewed(...question)
    })
    expect(await logIn(stage)).toMatchObject({ status: 404 })
    expect(await stage.engine.serviceTokens.list()).toEqual([])
  })

  test("allows renewals of its token as long as the role exists", async () => {
    const stage = await opened()
    await configured(stage)
    await withRole(stage, { token_period: "10m" })
    const token = (await logIn(stage)).body.auth.client_token as string
    const renew = () => stage.pki("POST", "/auth/token/renew-self", { token, body: {} })
    expect(await renew()).toMatchObject({ status: 200, body: { auth: { renewable: true } } })
    await done(stage.pki("DELETE", "/auth/kubernetes/role/issuer"))
    expect(await renew()).toMatchObject({
      status: 400,
      body: { errors: [expect.stringContaining('"issuer"') as string] },
    })
    expect(await stage.pki("GET", "/auth/token/lookup-self", { token })).toMatchObject({ status: 200 })
  })

  test("loses its token when the method is disabled", async () => {
    const stage = await opened()
    await configured(stage)
    await withRole(stage)
    const token = (await logIn(stage)).body.auth.client_token as string
    expect(await stage.pki("GET", "/auth/token/lookup-self", { token })).toMatchObject({ status: 200 })
    await stage.engine.authMethods.disable("kubernetes")
    expect(await stage.pki("GET", "/auth/token/lookup-self", { token })).toMatchObject(denied)
    await done(stage.pki("POST", "/sys/auth/kubernetes", { body: { type: "kubernetes" } }))
    expect(await stage.pki("GET", "/auth/kubernetes/config")).toMatchObject({ status: 404 })
    expect(await stage.pki("GET", "/auth/kubernetes/role/issuer")).toMatchObject({ status: 404 })
  })
})

describe("public keys of the cluster", () => {
  const stranger = generateKeyPairSync("ec", { namedCurve: "P-256" })

  test("decide alone when no host is configured", async () => {
    const stage = await opened()
    const body = { pem_keys: [publicKey] }
    const { body: answer } = await stage.pki("POST", "/auth/kubernetes/config", { body, headers: vault })
    expect(answer.warnings).toEqual([expect.stringContaining("until they expire")])
    await withRole(stage)
    expect(await logIn(stage)).toMatchObject({ status: 200 })
    expect(await logIn(stage, { jwt: await projectedToken({}, stranger.privateKey) })).toMatchObject(denied)
    expect(await logIn(stage, { jwt: await projectedToken({ exp: undefined }) })).toMatchObject(denied)
    const [header, , signature] = jwt.split(".")
    const [, claims] = (
      await projectedToken({ "kubernetes.io": { namespace: "shop", serviceaccount: { name: "web", uid: "x" } } })
    ).split(".")
    expect(await logIn(stage, { jwt: [header, claims, signature].join(".") })).toMatchObject(denied)
    expect(stage.cluster.seen).toEqual([])
  })

  test("are checked before the token review when a host is configured", async () => {
    const stage = await opened()
    await configured(stage, { pem_keys: [publicKey] })
    await withRole(stage)
    expect(await logIn(stage, { jwt: await projectedToken({}, stranger.privateKey) })).toMatchObject(denied)
    expect(stage.cluster.seen).toHaveLength(0)
    expect(await logIn(stage)).toMatchObject({ status: 200 })
    stage.cluster.answerWith(reviewed({ authenticated: false }))
    expect(await logIn(stage)).toMatchObject(denied)
    expect(stage.cluster.seen).toHaveLength(2)
  })
})

test.each([
  { why: "neither a host nor keys", config: { kubernetesHost: "", pemKeys: [] } },
  { why: "a host without TLS", config: { kubernetesHost: "http://10.96.0.1", pemKeys: [] } },
])("a login is denied when the stored configuration has $why", async ({ config }) => {
  const folder = await mkdtemp(join(tmpdir(), "chancery-logins-"))
  onTestFinished(() => rm(folder, { recursive: true }))
  const url = `sqlite:${join(folder, "chancery.db")}`
  const stage = await opened({ url })
  await configured(stage)
  await withRole(stage)
  expect(await logIn(stage)).toMatchObject({ status: 200 })
  await using database = await openDatabase(url)
  const changed = { ...(await stage.engine.kubernetesLogins("kubernetes").getConfig()), ...config }
  await database.transact((session) =>
    session.execute(session.db.updateTable("kubernetes_clusters").set({ config: JSON.stringify(changed) })),
  )
  expect(await logIn(stage)).toMatchObject(denied)
  expect(stage.cluster.seen).toHaveLength(1)
})

describe("in a pod", () => {
  async function inPod() {
    const podAccountFolder = await mkdtemp(join(tmpdir(), "chancery-pod-"))
    onTestFinished(() => rm(podAccountFolder, { recursive: true }))
    await writeFile(join(podAccountFolder, "ca.crt"), testTlsPem("authority"))
    const rotate = (token: string) => writeFile(join(podAccountFolder, "token"), token)
    await rotate("the-first")
    const stage = await opened({ podAccountFolder })
    await withRole(stage)
    const bearers = () => stage.cluster.seen.map(({ authorization }) => authorization)
    return { stage, rotate, bearers }
  }

  test("the pod's CA certificates and token are used, as read at each login", async () => {
    const { stage, rotate, bearers } = await inPod()
    await configured(stage, { kubernetes_ca_cert: "", token_reviewer_jwt: "" })
    expect(await logIn(stage)).toMatchObject({ status: 200 })
    await rotate("the-second\n")
    expect(await logIn(stage)).toMatchObject({ status: 200 })
    await configured(stage, { token_reviewer_jwt: "" })
    expect(await logIn(stage)).toMatchObject({ status: 200 })
    expect(bearers()).toEqual(["Bearer the-first", "Bearer the-second", "Bearer the-second"])
  })

  test("the pod's files are not used with disable_local_ca_jwt or with another token", async () => {
    const { stage, bearers } = await inPod()
    await configured(stage)
    expect(await logIn(stage)).toMatchObject({ status: 200 })
    await configured(stage, { token_reviewer_jwt: "", disable_local_ca_jwt: true })
    expect(await logIn(stage)).toMatchObject({ status: 200 })
    expect(bearers()).toEqual([`Bearer ${reviewerJwt}`, `Bearer ${jwt}`])
  })

  test("the pod's token is not sent to a server that other CA certificates verify", async () => {
    const { stage, bearers } = await inPod()
    await configured(stage, {
      kubernetes_ca_cert: `${testTlsPem("authority")}\n${testTlsPem("certificate")}`,
      token_reviewer_jwt: "",
    })
    expect(await logIn(stage)).toMatchObject({ status: 200 })
    expect(bearers()).toEqual([`Bearer ${jwt}`])
  })
})

test("the audit log contains each login without its token or the reviewer's", async () => {
  const folder = await mkdtemp(join(tmpdir(), "chancery-audit-"))
  onTestFinished(() => rm(folder, { recursive: true }))
  const auditFile = join(folder, "audit.log")
  const stage = await opened({ auditFile })
  await configured(stage)
  await withRole(stage)
  const answer = await logIn(stage)
  expect(answer.status).toBe(200)
  expect(await logIn(stage, { jwt: await projectedToken({ aud: ["other"] }) })).toMatchObject(denied)
  const text = await readFile(auditFile, "utf8")
  const logins = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { readonly type: string; readonly [member: string]: unknown })
    .filter((entry) => JSON.stringify(entry).includes("auth/kubernetes/login"))
  expect(logins).toHaveLength(2)
  for (const secret of [jwt, reviewerJwt, answer.body.auth.client_token as string]) {
    expect(text).not.toContain(secret)
    for (const part of secret.split(".")) expect(text).not.toContain(part)
  }
})

describe("rights", () => {
  test("are required on each path except logins", async () => {
    const stage = await opened()
    await configured(stage)
    await withRole(stage)
    const holder = async (rules: string) => {
      await stage.engine.policies.put("holder", rules)
      return (await stage.engine.serviceTokens.create({ policies: ["holder"] })).secret
    }
    const token = await holder(`
      path "auth/kubernetes/role/web-*" { capabilities = ["create", "read"] }
      path "auth/kubernetes/role/web-secret" { capabilities = ["deny"] }
      path "auth/kubernetes/role" { capabilities = ["list"] }`)
    const ask = async (method: string, path: string, body?: object) =>
      (await stage.pki(method, `/auth/kubernetes${path}`, { token, ...(body === undefined ? {} : { body }) })).status
    expect(await ask("POST", "/role/web-1", bound)).toBe(200)
    expect(await ask("POST", "/role/web-1", bound)).toBe(403)
    expect(await ask("GET", "/role/web-1")).toBe(200)
    expect(await ask("LIST", "/role")).toBe(200)
    expect(await ask("DELETE", "/role/web-1")).toBe(403)
    expect(await ask("GET", "/role/issuer")).toBe(403)
    expect(await ask("GET", "/role/WEB-1")).toBe(200)
    for (const name of ["web-secret", "web-Secret"]) {
      expect(await ask("POST", `/role/${name}`, bound)).toBe(403)
      expect(await ask("GET", `/role/${name}`)).toBe(403)
    }
    expect(await ask("GET", "/config")).toBe(403)
    expect(await ask("POST", "/config", { kubernetes_host: "https://h" })).toBe(403)
    expect(await stage.pki("GET", "/auth/kubernetes/config", { token: null })).toMatchObject({ status: 403 })
    // Login ignores a token that the request carries.
    expect(
      await stage.pki("POST", "/auth/kubernetes/login", { token: "none", body: { role: "issuer", jwt } }),
    ).toMatchObject({
      status: 200,
    })
  })
})
