// Workspaces and connections that the API server rejects by the CRDs alone. The same rules in TypeScript, which apply without an API
// server, reject them too.
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { clusterConnection } from "../../../operator/src/api/cluster-connection.ts"
import { connection } from "../../../operator/src/api/connection.ts"
import type { Kind } from "../../../operator/src/api/definition.ts"
import { specFaults } from "../../../operator/src/api/rules.ts"
import { workspace } from "../../../operator/src/api/workspace.ts"
import { sharedCluster } from "./cluster.ts"
import { openRawApi } from "./raw-api.ts"

const cluster = sharedCluster()
const { kubectl } = cluster ?? { kubectl: async () => "" }
// Uses a raw client: each kubectl process would first read which kinds exist.
const api = cluster && (await openRawApi(cluster.adminAccess()))
afterAll(() => api?.[Symbol.asyncDispose]())

interface Document {
  readonly path: string
  readonly object: unknown
}

function document({ kind, group, version, plural, scope }: Kind<unknown>, spec: unknown, name = "admitted"): Document {
  const namespace = scope === "Namespaced" ? "default" : undefined
  const folder = namespace === undefined ? "" : `namespaces/${namespace}/`
  return {
    path: `/apis/${group}/${version}/${folder}${plural}/${name}`,
    object: { apiVersion: `${group}/${version}`, kind, metadata: { name, namespace }, spec },
  }
}
const strict = { fieldValidation: "Strict" }
const apply = async ({ path, object }: Document) => api?.apply(path, object, strict)
const tried = async ({ path, object }: Document) => api?.apply(path, object, { ...strict, dryRun: "All" })

const connectionRef = { name: "engine" }
const secret = { baseURL: "https://chancery.example.com", tokenSecretRef: { name: "engine" } }
const long = (length: number) => "x".repeat(length)
const many = <Item>(count: number, item: (index: number) => Item) =>
  Array.from({ length: count }, (_, index) => item(index))
const repo = { identifier: "acme/infra", oauthTokenID: "ot-1" }

interface Case {
  readonly kind: Kind<unknown>
  readonly good: Record<string, unknown>
  /** Undefined if only the API server has the rule, as for the shape of lists. */
  readonly bad: Record<string, unknown>
  readonly message: RegExp
}

const base = { connectionRef }
const secretValue = { valueFrom: { secretKeyRef: { name: "s", key: "k" } } }
const eitherValue = /each of variables requires exactly one of value, valueFrom/
const own = (good: Record<string, unknown>, bad: Record<string, unknown>, message: RegExp): Case => ({
  kind: workspace,
  good: { ...base, ...good },
  bad: { ...base, ...bad },
  message,
})
const reach = (good: Record<string, unknown>, bad: Record<string, unknown>, message: RegExp): Case => ({
  kind: connection,
  good: { ...secret, ...good },
  bad: { ...secret, ...bad },
  message,
})
const shared = (good: Record<string, unknown>, bad: Record<string, unknown>, message: RegExp): Case => ({
  ...reach(good, bad, message),
  kind: clusterConnection,
})

const cases: readonly Case[] = [
  { kind: workspace, good: base, bad: {}, message: /spec\.connectionRef: Required/ },
  own(
    { connectionRef: { name: "e", kind: "ClusterConnection" } },
    { connectionRef: { name: "e", kind: "Engine" } },
    /connectionRef\.kind/,
  ),
  own({ organization: "acme" }, { organization: "a" }, /spec\.organization/),
  own({ name: "Web_1" }, { name: "web.1" }, /spec\.name/),
  own({ name: long(90) }, { name: long(91) }, /spec\.name/),
  own(
    { externalID: "ws-Abc1", adoptionPolicy: "MustExist" },
    { externalID: "Abc1", adoptionPolicy: "MustExist" },
    /spec\.externalID/,
  ),
  own({ externalID: "ws-1", adoptionPolicy: "IfExists" }, { externalID: "ws-1" }, /externalID requires adoptionPolicy/),
  own({ adoptionPolicy: "Never" }, { adoptionPolicy: "Always" }, /spec\.adoptionPolicy/),
  own({ deletionPolicy: "Retain" }, { deletionPolicy: "Delete" }, /spec\.deletionPolicy/),
  own({ driftPolicy: "Report" }, { driftPolicy: "Ignore" }, /spec\.driftPolicy/),
  own({ reconcileInterval: "1h30m" }, { reconcileInterval: "1d" }, /spec\.reconcileInterval/),
  own({ reconcileInterval: "30s" }, { reconcileInterval: "29s" }, /reconcileInterval must be at least 30s/),
  own({ description: "" }, { description: long(10_001) }, /spec\.description/),
  own({ workingDirectory: "a/b" }, { workingDirectory: long(1_025) }, /spec\.workingDirectory/),
  own({ engineVersion: "~> 1.9" }, { engineVersion: "" }, /spec\.engineVersion/),
  own({ project: { name: "Default Project" } }, { project: {} }, /project requires exactly one of id, name/),
  own(
    { project: { id: "prj-1" } },
    { project: { id: "prj-1", name: "x" } },
    /project requires exactly one of id, name/,
  ),
  own({ executionMode: "local" }, { executionMode: "cloud" }, /spec\.executionMode/),
  own(
    { executionMode: "agent", agentPool: { name: "p" } },
    { executionMode: "agent" },
    /agentPool is required with executionMode agent/,
  ),
  own(
    { executionMode: "agent", agentPool: { id: "p" } },
    { agentPool: { id: "p" } },
    /agentPool is required with executionMode agent/,
  ),
  own(
    { settingOverwrites: { executionMode: true }, executionMode: "local" },
    { settingOverwrites: { executionMode: true } },
    /executionMode is required/,
  ),
  own(
    { settingOverwrites: { executionMode: false, agentPool: false } },
    { settingOverwrites: { executionMode: false, agentPool: true } },
    /agentPool is required if/,
  ),
  own({ autoApply: false }, { autoApply: "yes" }, /spec\.autoApply/),
  own(
    { globalRemoteState: false, remoteStateConsumers: [{ id: "ws-1" }] },
    { remoteStateConsumers: [{ id: "ws-1" }] },
    /remoteStateConsumers requires globalRemoteState false/,
  ),
  own(
    { globalRemoteState: false, remoteStateConsumers: [] },
    { globalRemoteState: true, remoteStateConsumers: [] },
    /remoteStateConsumers requires globalRemoteState false/,
  ),
  own(
    { globalRemoteState: false, projectRemoteState: true },
    { globalRemoteState: true, projectRemoteState: true },
    /globalRemoteState and projectRemoteState are mutually exclusive/,
  ),
  own(
    { globalRemoteState: false, remoteStateConsumers: [{ workspaceRef: "web" }] },
    { globalRemoteState: false, remoteStateConsumers: [{ name: "a", id: "b" }] },
    /each of remoteStateConsumers requires exactly one of id, name, workspaceRef/,
  ),
  own(
    { globalRemoteState: false, remoteStateConsumers: many(500, (index) => ({ id: `ws-${index}` })) },
    { globalRemoteState: false, remoteStateConsumers: many(501, (index) => ({ id: `ws-${index}` })) },
    /remoteStateConsumers/,
  ),
  own(
    { autoDestroy: { activityDuration: "14d" } },
    { autoDestroy: { activityDuration: "0d" } },
    /autoDestroy\.activityDuration/,
  ),
  own({ autoDestroy: { at: "2030-01-01T00:00:00Z" } }, { autoDestroy: { at: "tomorrow" } }, /autoDestroy\.at/),
  own({ autoDestroy: { inherit: true } }, { autoDestroy: {} }, /autoDestroy/),
  own(
    { triggerPatterns: ["a/**"] },
    { triggerPatterns: ["a/**"], triggerPrefixes: ["b"] },
    /triggerPatterns and triggerPrefixes are mutually exclusive/,
  ),
  own({ triggerPrefixes: many(100, String) }, { triggerPrefixes: many(101, String) }, /spec\.triggerPrefixes/),
  own(
    { vcsRepo: repo },
    { vcsRepo: { identifier: "acme/infra" } },
    /vcsRepo requires exactly one of oauthTokenID, githubAppInstallationID/,
  ),
  own(
    { vcsRepo: { ...repo, branch: "main", tagsRegex: "v.*" } },
    { vcsRepo: { ...repo, githubAppInstallationID: "ghain-1" } },
    /vcsRepo requires exactly one/,
  ),
  own(
    { sshKey: { name: "deploy key" } },
    { sshKey: { name: "a", id: "b" } },
    /sshKey requires exactly one of id, name/,
  ),
  own({ tagsPolicy: "Exclusive" }, { tagsPolicy: "All" }, /spec\.tagsPolicy/),
  own({ tags: ["team:web"] }, { tags: ["-web"] }, /spec\.tags/),
  own({ tags: many(100, (index) => `t${index}`) }, { tags: many(101, (index) => `t${index}`) }, /spec\.tags/),
  own({ tagBindings: [{ key: "a", value: "b" }] }, { tagBindings: [{ key: "a", value: "" }] }, /tagBindings.*value/),
  own(
    { tagBindings: many(10, (index) => ({ key: `k${index}`, value: "v" })) },
    { tagBindings: many(11, (index) => ({ key: `k${index}`, value: "v" })) },
    /spec\.tagBindings/,
  ),
  own(
    { dataRetentionPolicy: { deleteOlderThanDays: 30 } },
    { dataRetentionPolicy: { deleteOlderThanDays: 0 } },
    /deleteOlderThanDays/,
  ),
  own(
    { dataRetentionPolicy: { dontDelete: true } },
    { dataRetentionPolicy: { dontDelete: true, deleteOlderThanDays: 1 } },
    /dataRetentionPolicy requires exactly one/,
  ),
  own({ lock: {} }, { lock: { reason: long(1_025) } }, /lock\.reason/),
  own({ variables: [{ key: "a", value: "" }] }, { variables: [{ key: "a" }] }, eitherValue),
  own(
    { variables: [{ key: "a", category: "env", ...secretValue }] },
    { variables: [{ key: "a", value: "b", ...secretValue }] },
    eitherValue,
  ),
  own(
    { variables: [{ key: "a", valueFrom: { configMapKeyRef: { name: "c", key: "k", optional: true } } }] },
    { variables: [{ key: "a", valueFrom: {} }] },
    /valueFrom requires exactly one of secretKeyRef, configMapKeyRef/,
  ),
  own(
    { variables: [{ key: "a", ...secretValue, sensitive: false }] },
    { variables: [{ key: "a", value: "b", sensitive: true }] },
    /sensitive requires valueFrom/,
  ),
  own(
    { variables: [{ key: "a", value: "1", sensitive: false }] },
    { variables: [{ key: "a", valueFrom: { secretKeyRef: { name: "s" } } }] },
    /secretKeyRef\.key/,
  ),
  own(
    { variables: [{ key: long(128), value: "x" }] },
    { variables: [{ key: long(129), value: "x" }] },
    /variables\[0\]\.key/,
  ),
  own({ variables: [{ key: " a", value: "x" }] }, { variables: [{ key: " ", value: "x" }] }, /variables\[0\]\.key/),
  own(
    { variables: [{ key: "a", value: "x", category: "terraform" }] },
    { variables: [{ key: "a", value: "x", category: "policy-set" }] },
    /variables\[0\]\.category/,
  ),
  own(
    { variables: [{ key: "a", value: long(262_144), description: long(512), hcl: true }] },
    { variables: [{ key: "a", value: long(262_145) }] },
    /variables\[0\]\.value/,
  ),
  own(
    { variables: [{ key: "a", value: "x", description: "" }] },
    { variables: [{ key: "a", value: "x", description: long(513) }] },
    /variables\[0\]\.description/,
  ),
  own(
    { variables: many(500, (index) => ({ key: `k${index}`, ...secretValue })) },
    { variables: many(501, (index) => ({ key: `k${index}`, value: "x" })) },
    /spec\.variables/,
  ),
  own(
    {
      variables: [
        { key: "a", category: "terraform", value: "x" },
        { key: "a", category: "env", value: "x" },
      ],
    },
    {
      variables: [
        { key: "a", category: "env", value: "x" },
        { key: "a", category: "env", value: "y" },
      ],
    },
    /variables.*(duplicate|"env")/i,
  ),
  own({ outputs: {} }, { outputs: { configMapName: "No" } }, /outputs\.configMapName/),
  own({ outputs: { secretName: "web" } }, { outputs: { secretName: "-" } }, /outputs\.secretName/),

  reach({ baseURL: "http://10.0.0.1:8420/api/v2" }, { baseURL: "sqlite:x" }, /baseURL must be an http or https URL/),
  reach({}, { baseURL: "https://user:password@chancery.example.com" }, /baseURL must not contain a user name/),
  reach({ proxyURL: "http://proxy:3128" }, { proxyURL: "proxy:3128" }, /proxyURL must be an http or https URL/),
  reach({ proxyURL: "https://proxy" }, { proxyURL: "http://a:b@proxy" }, /proxyURL must not contain a user name/),
  reach({ caBundle: "-----BEGIN CERTIFICATE-----\n" }, { caBundle: "PEM" }, /caBundle must contain certificates/),
  reach(
    { caSecretRef: { name: "ca" } },
    { caSecretRef: { name: "ca" }, caBundle: "-----BEGIN CERTIFICATE-----" },
    /caBundle and caSecretRef are mutually exclusive/,
  ),
  reach({ rateLimit: { rps: 5 } }, { rateLimit: { rps: 0 } }, /rateLimit\.rps/),
  reach({ rateLimit: { rps: 5, burst: 1 } }, { rateLimit: { burst: 1 } }, /rateLimit\.rps: Required/),
  reach({ tokenSecretRef: { name: "x", key: "a.b" } }, { tokenSecretRef: { name: "../x" } }, /tokenSecretRef\.name/),
  shared({ allowedNamespaces: { matchNames: ["*"] } }, { allowedNamespaces: { matchNames: [long(64)] } }, /matchNames/),
  shared(
    { allowedNamespaces: { labelSelector: { matchExpressions: [{ key: "a", operator: "In", values: ["b"] }] } } },
    { allowedNamespaces: { labelSelector: { matchExpressions: [{ key: "a", operator: "In" }] } } },
    /values is required for In and NotIn/,
  ),
  shared(
    { allowedNamespaces: { labelSelector: { matchExpressions: [{ key: "a", operator: "Exists" }] } } },
    { allowedNamespaces: { labelSelector: { matchExpressions: [{ key: "a", operator: "Exists", values: ["b"] }] } } },
    /values is required for In and NotIn/,
  ),
  shared(
    { allowedNamespaces: { labelSelector: { matchLabels: { tier: "gold" } } } },
    { allowedNamespaces: { labelSelector: { matchLabels: { tier: long(64) } } } },
    /matchLabels/,
  ),
]

describe.skipIf(cluster === undefined)("each rule admits conforming objects and rejects violations:", () => {
  test.concurrent.each(cases)("$kind.kind $message", async ({ kind, good, bad, message }) => {
    expect(await tried(document(kind, good))).toMatchObject({ spec: good })
    await expect(tried(document(kind, bad))).rejects.toThrow(message)
  })
})

test.each(cases)("without the API server $kind.kind $message is enforced all the same", ({ kind, good, bad }) => {
  expect(specFaults(kind, good)).toEqual([])
  const [fault] = specFaults(kind, bad)
  expect(fault?.field).toMatch(/^spec\./)
})

const written = {
  ...base,
  organization: "acme",
  externalID: "ws-1",
  adoptionPolicy: "MustExist",
}
const changes = [
  { what: { connectionRef: { name: "other" } }, message: /connectionRef cannot be changed/ },
  {
    what: { connectionRef: { name: "engine", kind: "ClusterConnection" } },
    message: /connectionRef cannot be changed/,
  },
  { what: { organization: "other" }, message: /organization cannot be changed/ },
  { what: { organization: undefined }, message: /organization cannot be changed/ },
  { what: { externalID: "ws-2" }, message: /externalID cannot be changed/ },
  { what: { externalID: undefined }, message: /externalID cannot be changed/ },
]

describe.skipIf(cluster === undefined)("a new Workspace", () => {
  beforeAll(async () => {
    await apply(document(workspace, written, "written"))
    await apply(document(workspace, base, "bare"))
  })

  test.concurrent.each(changes)("keeps immutable fields: $what", async ({ what, message }) => {
    await expect(tried(document(workspace, { ...written, ...what }, "written"))).rejects.toThrow(message)
  })

  test("accepts an externalID, and no organization", async () => {
    const adopted = { ...base, externalID: "ws-9", adoptionPolicy: "IfExists" }
    expect(await tried(document(workspace, adopted, "bare"))).toMatchObject({ spec: adopted })
    const moved = document(workspace, { ...base, organization: "acme" }, "bare")
    await expect(tried(moved)).rejects.toThrow(/organization cannot be changed/)
  })

  test("has its defaults, and the conditions of an object not yet reconciled", async () => {
    const { spec, status } = (await tried(document(workspace, base))) as { spec: unknown; status: unknown }
    expect(spec).toEqual({
      connectionRef: { kind: "Connection", name: "engine" },
      adoptionPolicy: "Never",
      deletionPolicy: "Safe",
      driftPolicy: "Enforce",
      reconcileInterval: "10m",
      tagsPolicy: "Additive",
    })
    expect(status).toEqual({ observedGeneration: 0 })
  })

  test("needs a spec name when the object's name is not a valid one", async () => {
    await expect(tried(document(workspace, base, "web.example"))).rejects.toThrow(/spec\.name/)
    expect(await tried(document(workspace, { ...base, name: "web" }, "web.example"))).toBeDefined()
  })

  test("needs an output target name when its own name is too long for one", async () => {
    const named = (outputs: object) => document(workspace, { ...base, name: "web", outputs }, long(246))
    await expect(tried(named({ secretName: "short" }))).rejects.toThrow(/outputs requires configMapName and secretName/)
    expect(await tried(named({ secretName: "short", configMapName: "short" }))).toBeDefined()
    expect(await tried(document(workspace, { ...base, name: "web", outputs: {} }, long(245)))).toBeDefined()
  })

  test("is listed by its connection, has short names, and has a description of every field", async () => {
    const found = await kubectl(["get", "ews", "--field-selector", "spec.connectionRef.name=engine", "-o", "name"])
    expect(found.split("\n")).toContain("workspace.chancery.dev/written")
    expect(await kubectl(["get", "engine-workspaces", "-o", "name"])).toContain("workspace.chancery.dev/bare")
    const explained = await kubectl(["explain", "workspaces.chancery.dev.spec"])
    for (const name of ["adoptionPolicy", "deletionPolicy", "remoteStateConsumers", "Not managed if omitted"])
      expect(explained).toContain(name)
  })
})

test.each(changes)("without the API server a Workspace keeps immutable fields: $what", ({ what }) => {
  expect(specFaults(workspace, written, written)).toEqual([])
  const [fault] = specFaults(workspace, { ...written, ...what }, written)
  expect(fault?.message).toMatch(/cannot be changed/)
})
