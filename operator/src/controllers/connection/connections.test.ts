import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { EngineError, type Engine, type EngineErrorCode, type EngineOptions, openEngine } from "@chancery/engine"
import { expect, onTestFinished, test } from "vitest"
import { manualClock } from "../../../../engine/testing/manual-clock.ts"
import { manualTimers } from "../../../../engine/testing/manual-timers.ts"
import type { Changed, Followed } from "../../kube/cluster.ts"
import { includes } from "./connection-policy.ts"
import { reconcileConnections } from "./connections.ts"
import { EngineConnections } from "../engine-connections.ts"
import type { KubernetesObject } from "../../kube/kubernetes-object.ts"
import { ObjectStore } from "../../kube/object-store.ts"
import { refused, NotReadyError } from "../reconcile-result.ts"
import type { ReconcileRequest } from "../reconciler.ts"

const base64 = (text: string) => Buffer.from(text).toString("base64")
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const { signal } = new AbortController()

interface Asked {
  readonly lookup?: () => Promise<unknown>
  readonly organization?: (name: string) => Promise<unknown>
  readonly version?: () => Promise<string>
}

/** A cluster with Secrets, and fake engines that record how they were opened. */
function open({ lookup, organization, version }: Asked = {}) {
  const clock = manualClock()
  const timers = manualTimers(clock)
  const secrets = new Map<string, KubernetesObject>()
  const followed = new Map<string, { store: ObjectStore; changed: Changed }>()
  const opened: { url: string; options: EngineOptions; closed: boolean }[] = []
  const touched: string[] = []
  const connections = new ObjectStore()
  const clusterConnections = new ObjectStore()
  const namespaces = new ObjectStore()
  const engines = new EngineConnections({
    nameRequest: () => "operator",
    cluster: {
      follow({ namespace, name }: Followed, store: ObjectStore, changed: Changed) {
        const key = `${namespace}/${name}`
        followed.set(key, { store, changed })
        const found = secrets.get(key)
        if (found !== undefined) store.set(found)
        return { hasSynced: true, whenSynced: async () => {}, stop: async () => void followed.delete(key) }
      },
      get: async (_resource, key) => secrets.get(key),
    },
    runtime: { clock, log: silent, timers, stopwatch: () => clock.now(), random: () => 0.5 },
    connections,
    clusterConnections,
    namespaces,
    namespace: "operators",
    addresses: { kinds: ["private"], ranges: [] },
    async open(url, options) {
      const entry = { url, options, closed: false }
      opened.push(entry)
      const engine: Partial<Engine> = {
        serviceTokens: { lookup: lookup ?? (async () => ({ expiresAt: null })) } as unknown as Engine["serviceTokens"],
        users: { account: async () => ({}) } as unknown as Engine["users"],
        discovery: { apiVersion: version ?? (async () => "2.6") },
        organizations: { get: organization ?? (async () => ({})) } as unknown as Engine["organizations"],
        async [Symbol.asyncDispose]() {
          entry.closed = true
        },
      }
      return engine as Engine
    },
    secretChanged: (kind, key) => touched.push(`${kind} ${key}`),
  })
  const putSecret = (key: string, data: Record<string, string>) => {
    const [namespace = "", name = ""] = key.split("/")
    const encoded = Object.fromEntries(Object.entries(data).map(([each, text]) => [each, base64(text)]))
    const secret = { metadata: { namespace, name }, data: encoded }
    secrets.set(key, secret)
    const watch = followed.get(key)
    if (watch !== undefined) watch.changed(key, "changed", watch.store.set(secret))
  }
  const dropSecret = (key: string) => {
    secrets.delete(key)
    const watch = followed.get(key)
    if (watch !== undefined) watch.changed(key, "changed", watch.store.delete(key))
  }
  const put = (object: KubernetesObject) => {
    const { namespace, name } = object.metadata
    const isCluster = namespace === undefined
    const key = isCluster ? name : `${namespace}/${name}`
    ;(isCluster ? clusterConnections : connections).set(object)
    engines.changed(isCluster ? "ClusterConnection" : "Connection", key, object)
    return object
  }
  return { engines, opened, touched, followed, namespaces, putSecret, dropSecret, put, timers }
}

const ready = { observedGeneration: 1, conditions: [{ type: "Ready", status: "True" }] }
const connection = (spec: Record<string, unknown> = {}, status: unknown = ready): KubernetesObject => ({
  metadata: { name: "default", namespace: "team", generation: 1 },
  spec: { baseURL: "https://engine.example", tokenSecretRef: { name: "engine" }, ...spec },
  status,
})
const clusterConnection = (spec: Record<string, unknown> = {}): KubernetesObject => ({
  metadata: { name: "default", generation: 1 },
  spec: { baseURL: "https://engine.example", tokenSecretRef: { name: "engine" }, ...spec },
  status: ready,
})
const request: ReconcileRequest = {
  signal,
  now: 0,
  quiet: false,
  partial: false,
  turn: 0,
  status: {},
  saveStatus: async () => {},
  record: async () => {},
}
const reasonOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work
    return "none"
  } catch (error) {
    if (error instanceof NotReadyError) return `${error.outcome.health.is} ${error.outcome.health.reason}`
    throw error
  }
}
const own = { kind: "Connection", name: "default" } as const
const shared = { kind: "ClusterConnection", name: "default" } as const

test("all objects of a connection share one client with its settings", async () => {
  const { engines, opened, putSecret, put } = open()
  putSecret("team/engine", { token: "abc\n", other: "xyz" })
  putSecret("team/authority", { "ca.crt": "PEM" })
  const spec = {
    tokenSecretRef: { name: "engine", key: "other" },
    caSecretRef: { name: "authority" },
    proxyURL: "http://proxy.example:3128",
    organization: "acme",
  }
  put(connection(spec))
  const first = await engines.connect(own, "team", signal)
  const second = await engines.connect(own, "team", signal)
  expect(second.engine).toBe(first.engine)
  expect(first).toMatchObject({ organization: "acme", url: "https://engine.example" })
  expect(opened).toMatchObject([
    {
      url: "https://engine.example",
      options: {
        token: "xyz",
        certificateAuthority: "PEM",
        proxyUrl: "http://proxy.example:3128",
        // A tenant's connection may reach only the addresses that tenants are permitted.
        addresses: { kinds: ["private"], ranges: [] },
        attempts: 1,
      },
    },
  ])
})

test("a changed token is used from the next reconciliation on, and running requests finish with the old one", async () => {
  const { engines, opened, touched, putSecret, put, timers } = open()
  putSecret("team/engine", { token: "old" })
  put(connection({ rateLimit: { rps: 5 } }))
  await engines.connect(own, "team", signal)
  putSecret("team/engine", { token: "new" })
  expect(touched).toEqual(["Connection team/default"])
  await engines.connect(own, "team", signal)
  expect(opened.map(({ options }) => options.token)).toEqual(["old", "new"])
  expect(opened[1]?.options.pace).toBe(opened[0]?.options.pace)
  expect(opened.map(({ closed }) => closed)).toEqual([false, false])
  await timers.advance(30_000, async () => {})
  expect(opened.map(({ closed }) => closed)).toEqual([true, false])
})

test("the operator watches a Secret only while a connection refers to it", async () => {
  const { engines, followed, put } = open()
  put(connection({ caSecretRef: { name: "authority" } }))
  put(clusterConnection())
  expect([...followed.keys()].toSorted()).toEqual(["operators/engine", "team/authority", "team/engine"])
  put(connection())
  expect([...followed.keys()].toSorted()).toEqual(["operators/engine", "team/engine"])
  engines.changed("Connection", "team/default", undefined)
  expect([...followed.keys()]).toEqual(["operators/engine"])
})

test.each([
  { why: "there is no connection", put: undefined, is: "stalled ConnectionMissing" },
  { why: "it was not looked at yet", put: connection({}, null), is: "reconciling ConnectionNotReady" },
  {
    why: "it was looked at before it was changed",
    put: connection({}, { ...ready, observedGeneration: 0 }),
    is: "reconciling ConnectionNotReady",
  },
  { why: "it names a Secret that is not there", put: connection(), is: "stalled SecretMissing" },
  {
    why: "the Secret lacks the key",
    put: connection({ tokenSecretRef: { name: "other" } }),
    is: "stalled SecretKeyMissing",
  },
  { why: "it is from before the schema was stricter", put: connection({ baseURL: 5 }), is: "stalled InvalidSpec" },
])("an object waits for its connection if $why", async ({ put: object, is }) => {
  const { engines, putSecret, put, opened } = open()
  putSecret("team/other", { unused: "abc" })
  if (object !== undefined) put(object)
  expect(await reasonOf(engines.connect(own, "team", signal))).toBe(is)
  expect(opened).toEqual([])
})

test.each([
  { allowed: undefined, may: false },
  { allowed: {}, may: false },
  { allowed: { matchNames: ["others"] }, may: false },
  { allowed: { matchNames: ["team"] }, may: true },
  { allowed: { matchNames: ["*"] }, may: true },
  { allowed: { labelSelector: { matchLabels: { tier: "gold" } } }, may: true },
  { allowed: { labelSelector: { matchLabels: { tier: "gold", colour: "red" } } }, may: false },
  { allowed: { matchNames: ["others"], labelSelector: {} }, may: true },
  {
    allowed: { labelSelector: { matchExpressions: [{ key: "tier", operator: "In" as const, values: ["gold"] }] } },
    may: true,
  },
  {
    allowed: { labelSelector: { matchExpressions: [{ key: "tier", operator: "NotIn" as const, values: ["gold"] }] } },
    may: false,
  },
  {
    allowed: { labelSelector: { matchExpressions: [{ key: "colour", operator: "NotIn" as const, values: ["red"] }] } },
    may: true,
  },
  { allowed: { labelSelector: { matchExpressions: [{ key: "tier", operator: "Exists" as const }] } }, may: true },
  {
    allowed: { labelSelector: { matchExpressions: [{ key: "tier", operator: "DoesNotExist" as const }] } },
    may: false,
  },
])("a namespace with the label gold may use a connection that allows $allowed: $may", async ({ allowed, may }) => {
  expect(includes(allowed, { name: "team", labels: { tier: "gold" } })).toBe(may)
  const { engines, namespaces, putSecret, put, opened } = open()
  putSecret("operators/engine", { token: "abc" })
  namespaces.set({ metadata: { name: "team", labels: { tier: "gold" } } })
  put(clusterConnection(allowed === undefined ? {} : { allowedNamespaces: allowed }))
  const reason = await reasonOf(engines.connect(shared, "team", signal))
  expect(reason).toBe(may ? "none" : "stalled NamespaceNotAllowed")
  // An administrator's connection may reach any address.
  expect(opened.map(({ options }) => "addresses" in options)).toEqual(may ? [false] : [])
})

test.each<{ code: EngineErrorCode; reason: string }>([
  { code: "unauthenticated", reason: "stalled TokenRefused" },
  { code: "not-found", reason: "stalled OrganizationNotFound" },
  { code: "unprocessable", reason: "stalled AddressNotAllowed" },
  { code: "invalid", reason: "stalled EngineRefused" },
  { code: "unavailable", reason: "reconciling EngineUnavailable" },
  { code: "busy", reason: "reconciling EngineUnavailable" },
])("a connection has the reason $reason when its engine returns $code", async ({ code, reason }) => {
  const { engines, putSecret, put } = open({
    async organization() {
      throw new EngineError(code, "words of the engine")
    },
  })
  putSecret("team/engine", { token: "abc" })
  const object = put(connection({ organization: "acme" }))
  const { reconcile } = reconcileConnections({
    kind: "Connection",
    log: silent,
    engines,
    referencesTo: () => 0,
    mayHaveRecorded: () => false,
  })
  expect(await reasonOf(reconcile(object, request))).toBe(reason)
})

test("a ready connection has the token expiry, the number of references and the API version in its status", async () => {
  const expiresAt = Date.parse("2030-01-01T00:00:00Z")
  const { engines, putSecret, put } = open({ lookup: async () => ({ expiresAt }) })
  putSecret("team/engine", { token: "abc" })
  const object = put(connection({}, null))
  const { reconcile } = reconcileConnections({
    kind: "Connection",
    log: silent,
    engines,
    referencesTo: () => 3,
    mayHaveRecorded: () => false,
  })
  expect(await reconcile(object, request)).toMatchObject({
    health: { is: "ready", reason: "Connected" },
    status: { apiVersion: "2.6", references: 3, tokenExpiresAt: "2030-01-01T00:00:00Z" },
  })
})

test("a connection is ready with a token that may not look itself up", async () => {
  const { engines, putSecret, put } = open({
    async lookup() {
      throw new EngineError("forbidden", "no policy allows it")
    },
  })
  putSecret("team/engine", { token: "abc" })
  const { reconcile } = reconcileConnections({
    kind: "Connection",
    log: silent,
    engines,
    referencesTo: () => 0,
    mayHaveRecorded: () => false,
  })
  expect(await reconcile(put(connection()), request)).toMatchObject({
    health: { is: "ready" },
    status: { references: 0 },
  })
})

test("the poll of a ready connection is one request, for its organization, token or version in turn", async () => {
  const asked: string[] = []
  const { engines, putSecret, put } = open({
    lookup: async () => {
      asked.push("token")
      return { expiresAt: Date.parse("2030-01-01T00:00:00Z") }
    },
    organization: async () => asked.push("organization"),
    version: async () => {
      asked.push("version")
      return "2.6"
    },
  })
  putSecret("team/engine", { token: "abc" })
  const object = put(connection({ organization: "acme" }))
  const { reconcile } = reconcileConnections({
    kind: "Connection",
    log: silent,
    engines,
    referencesTo: () => 0,
    mayHaveRecorded: () => false,
  })
  const status = { apiVersion: "2.6", references: 0, tokenExpiresAt: "2030-01-01T00:00:00Z" }
  for (const turn of [0, 1, 2])
    expect(await reconcile(object, { ...request, quiet: true, partial: true, turn, status })).toMatchObject({ status })
  expect(asked).toEqual(["organization", "token", "version"])
  await reconcile(object, request)
  expect(asked.slice(3)).toEqual(["version", "token", "organization"])
})

test("a connection is deleted only after the last object that uses it", async () => {
  const { engines } = open()
  let references = 1
  let mayHaveRecorded = false
  const { finalize } = reconcileConnections({
    kind: "Connection",
    log: silent,
    engines,
    referencesTo: () => references,
    mayHaveRecorded: () => mayHaveRecorded,
  })
  expect(await reasonOf(Promise.resolve(finalize?.(connection(), request)))).toBe("reconciling ConnectionInUse")
  // A Certificate has just recorded the connection, and the cache does not have that yet.
  references = 0
  mayHaveRecorded = true
  await expect(finalize?.(connection(), request)).rejects.toMatchObject({ name: "RequeueAfter", againAfterMs: 250 })
  mayHaveRecorded = false
  expect(await finalize?.(connection(), request)).toBeUndefined()
})

test("an embedded engine requires no ClusterConnection object", async () => {
  const engine = {} as Engine
  const { engines } = open()
  const withEmbedded = new EngineConnections({
    ...({} as ConstructorParameters<typeof EngineConnections>[0]),
    clusterConnections: new ObjectStore(),
    embedded: { name: "embedded", engine, organization: "acme" },
    runtime: {
      clock: { now: () => 0 },
      log: silent,
      timers: { after: () => () => {} },
      stopwatch: () => 0,
      random: () => 0,
    },
  })
  const ref = { kind: "ClusterConnection", name: "embedded" } as const
  expect(await withEmbedded.connect(ref, "team", signal)).toEqual({ engine, organization: "acme" })
  expect(await reasonOf(engines.connect(ref, "team", signal))).toBe("stalled ConnectionMissing")
})

test("[F-K9] a ClusterConnection with the embedded engine's name restricts its namespaces", async () => {
  const engine = {} as Engine
  const clusterConnections = new ObjectStore()
  const engines = new EngineConnections({
    ...({} as ConstructorParameters<typeof EngineConnections>[0]),
    clusterConnections,
    namespaces: new ObjectStore(),
    embedded: { name: "default", engine },
    runtime: {
      clock: { now: () => 0 },
      log: silent,
      timers: { after: () => () => {} },
      stopwatch: () => 0,
      random: () => 0,
    },
  })
  const ref = { kind: "ClusterConnection", name: "default" } as const
  const declare = (allowedNamespaces?: object) =>
    clusterConnections.set({
      metadata: { name: "default" },
      spec: { baseURL: "https://engine.example", tokenSecretRef: { name: "engine" }, allowedNamespaces },
    })
  declare({ matchNames: ["team"] })
  expect(await engines.connect(ref, "team", signal)).toEqual({ engine })
  expect(await engines.connect(ref, undefined, signal)).toEqual({ engine })
  expect(await reasonOf(engines.connect(ref, "other", signal))).toBe("stalled NamespaceNotAllowed")
  declare()
  expect(await reasonOf(engines.connect(ref, "team", signal))).toBe("stalled NamespaceNotAllowed")
})

test.each([
  { answer: "a page for every path", body: "<html></html>", status: 200 },
  { answer: "404 for every path", body: '{"errors":[]}', status: 404 },
])(
  "[F-K8] a connection to another server that returns $answer is stalled with NotAnEngine, and logged",
  async (row) => {
    const server = createServer((_request, response) => void response.writeHead(row.status).end(row.body))
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    await using engine = await openEngine(`http://127.0.0.1:${port}`, { token: "abc", attempts: 1 })
    const logged: unknown[] = []
    const log = { ...silent, warn: (_text: string, facts: unknown) => void logged.push(facts) }
    const engines = { client: async () => ({ engine }) }
    const { reconcile } = reconcileConnections({
      kind: "Connection",
      log,
      engines,
      referencesTo: () => 0,
      mayHaveRecorded: () => false,
    })
    expect(await reasonOf(reconcile(connection(), request))).toBe("stalled NotAnEngine")
    expect(logged).toEqual([expect.objectContaining({ key: "team/default", reason: "NotAnEngine" })])
  },
)

test("[F-K8] the message names the cause when the port is closed", async () => {
  const server = createServer()
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => void server.close(resolve))
  await using engine = await openEngine(`http://127.0.0.1:${port}`, { token: "abc", attempts: 1 })
  const engines = { client: async () => ({ engine }) }
  const { reconcile } = reconcileConnections({
    kind: "Connection",
    log: silent,
    engines,
    referencesTo: () => 0,
    mayHaveRecorded: () => false,
  })
  await expect(reconcile(connection(), request)).rejects.toThrow(
    `http://127.0.0.1:${port} cannot be reached (ECONNREFUSED).`,
  )
})

test.each([
  { code: "ECONNREFUSED", is: "reconciling EngineUnavailable" },
  { code: "EAI_AGAIN", is: "reconciling EngineUnavailable" },
  { code: "UND_ERR_CONNECT_TIMEOUT", is: "reconciling EngineUnavailable" },
  { code: "ENOTFOUND", is: "stalled HostNotFound" },
  { code: "DEPTH_ZERO_SELF_SIGNED_CERT", is: "stalled CertificateNotTrusted" },
  { code: "SELF_SIGNED_CERT_IN_CHAIN", is: "stalled CertificateNotTrusted" },
  { code: "UNABLE_TO_VERIFY_LEAF_SIGNATURE", is: "stalled CertificateNotTrusted" },
  { code: "ERR_TLS_CERT_ALTNAME_INVALID", is: "stalled CertificateNotTrusted" },
  { code: "CERT_HAS_EXPIRED", is: "stalled CertificateNotTrusted" },
  { code: "ERR_SSL_WRONG_VERSION_NUMBER", is: "stalled NotAnEngine" },
  { code: "HPE_INVALID_CONSTANT", is: "stalled NotAnEngine" },
])("[F-K8] an engine that fails with $code is $is, with the cause in the message", async ({ code, is }) => {
  const cause = Object.assign(new Error("no connection"), { code })
  const told = refused(new EngineError("unavailable", `https://engine.example gave no answer (${code}).`, { cause }))
  expect(await reasonOf(Promise.reject(told))).toBe(is)
  expect(told.message).toContain(code)
})

test("[F-K4] an object uses its connection during deletion after the token was deleted", async () => {
  const { engines, opened, putSecret, put, dropSecret } = open()
  putSecret("team/engine", { token: "abc" })
  put(connection())
  const { engine } = await engines.connect(own, "team", signal)
  dropSecret("team/engine")
  expect(await reasonOf(engines.connect(own, "team", signal))).toBe("stalled SecretMissing")
  expect((await engines.connect(own, "team", signal, { isCleaningUp: true })).engine).toBe(engine)
  expect(opened).toHaveLength(1)
})
