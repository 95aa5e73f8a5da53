import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { z } from "zod"
import type { ApiError } from "../kube/cluster.ts"
import type { Kind } from "../api/definition.ts"
import { immutable, ruled } from "../api/rules.ts"
import { configMaps, type KubernetesObject, secrets } from "../kube/kubernetes-object.ts"
import { ObjectStore } from "../kube/object-store.ts"
import { DirectoryCluster } from "./directory-cluster.ts"
import { parseManifests } from "./manifests.ts"

const lamp: Kind<unknown> = {
  group: "chancery.dev",
  version: "v1alpha1",
  kind: "Lamp",
  plural: "lamps",
  singular: "lamp",
  shortNames: [],
  scope: "Namespaced",
  description: "Lamp is for tests.",
  columns: [],
  spec: ruled(
    z.object({ room: z.string().max(10), watts: z.int().min(1).default(40) }),
    {
      rule: "self.room != 'study' || self.watts < 100",
      message: "watts must be below 100 in the study",
      fieldPath: ".watts",
      holds: ({ room, watts }) => room !== "study" || watts < 100,
    },
    ...immutable<{ readonly room: string; readonly watts: number }>("room"),
  ),
}

async function temporary() {
  const folder = await mkdtemp(join(tmpdir(), "chancery-directory-"))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  let now = Date.UTC(2026, 0, 1)
  const runtime = { clock: { now: () => (now += 1_000) }, random: Math.random }
  return { folder, open: () => DirectoryCluster.open({ folder, kinds: [lamp], runtime }) }
}

const lampText = (name: string, spec: string, metadata = "") =>
  `apiVersion: chancery.dev/v1alpha1\nkind: Lamp\nmetadata:\n  name: ${name}\n${metadata}spec: ${spec}\n`
const content = (files: Readonly<Record<string, string>>) => {
  const read = Object.entries(files).map(([file, text]) => [file, parseManifests(file, text)] as const)
  return {
    manifests: read.flatMap(([, { manifests }]) => manifests),
    faults: read.flatMap(([, { faults }]) => faults),
    unreadable: new Set(read.flatMap(([file, { faults }]) => (faults.length > 0 ? [file] : []))),
  }
}
const declare = (cluster: DirectoryCluster, files: Readonly<Record<string, string>>) => cluster.declare(content(files))

async function lampIn(cluster: DirectoryCluster, key = "default/desk"): Promise<KubernetesObject> {
  const object = await cluster.get(lamp, key)
  if (object === undefined) throw new Error(`there is no ${key}`)
  return object
}

test("a declared object gets a uid, defaults and an empty status, as from an API server", async () => {
  const { open } = await temporary()
  const cluster = await open()
  await declare(cluster, { "a.yaml": lampText("desk", "{room: study}", "  labels: {floor: first}\n") })
  expect(await lampIn(cluster)).toEqual({
    apiVersion: "chancery.dev/v1alpha1",
    kind: "Lamp",
    metadata: {
      name: "desk",
      namespace: "default",
      labels: { floor: "first" },
      uid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/) as string,
      creationTimestamp: expect.stringMatching(/^2026-01-01T00:00:\d\dZ$/) as string,
      generation: 1,
      resourceVersion: "1",
    },
    spec: { room: "study", watts: 40 },
    status: { observedGeneration: 0 },
  })
})

test("a new spec increments the generation, a new label does not, and the same manifest writes nothing", async () => {
  const { open } = await temporary()
  const cluster = await open()
  const versions: unknown[] = []
  for (const text of [
    lampText("desk", "{room: study}"),
    lampText("desk", "{room: study}"),
    lampText("desk", "{room: study, watts: 60}"),
    lampText("desk", "{room: study, watts: 60}", "  annotations: {a: b}\n"),
    lampText("desk", "{room: study, watts: 60}"),
  ]) {
    await declare(cluster, { "a.yaml": text })
    const { metadata } = await lampIn(cluster)
    versions.push([metadata.generation, metadata.resourceVersion, metadata.annotations])
  }
  expect(versions).toEqual([
    [1, "1", undefined],
    [1, "1", undefined],
    [2, "2", undefined],
    [2, "3", { a: "b" }],
    [2, "4", undefined],
  ])
})

test.each([
  { spec: "{watts: 40}", line: 5, says: /^spec\.room: /, why: "a missing field" },
  { spec: "\n  room: study\n  watts: many", line: 7, says: /^spec\.watts: /, why: "a wrong type" },
  { spec: "\n  room: study\n  watts: 100", line: 7, says: /^spec\.watts: watts must be below 100/, why: "a rule" },
  { spec: "\n  room: study\n  wats: 60", line: 7, says: /^spec\.wats: is not a known field/, why: "an unknown field" },
  {
    spec: "\n  room: attic",
    line: 6,
    says: /^spec\.room: room cannot be changed/,
    why: "a change that is not allowed",
  },
])(
  "a manifest with $why is rejected with field and line, and the previous object stays",
  async ({ spec, line, says }) => {
    const { open } = await temporary()
    const cluster = await open()
    await declare(cluster, { "a.yaml": lampText("desk", "{room: study}") })
    const before = await lampIn(cluster)
    const { faults } = await declare(cluster, { "a.yaml": lampText("desk", spec) })
    expect(faults).toEqual([{ file: "a.yaml", line, message: expect.stringMatching(says) as string }])
    expect(await lampIn(cluster)).toEqual(before)
  },
)

test.each([
  { text: "kind: Lamp\nmetadata: {name: a}\n", says: "apiVersion: is required" },
  { text: "apiVersion: chancery.dev/v1alpha1\nmetadata: {name: a}\n", says: "kind: is required" },
  {
    text: "apiVersion: chancery.dev/v1alpha1\nkind: Lmap\n",
    says: "kind: Lmap is not a kind of chancery.dev/v1alpha1",
  },
  { text: "apiVersion: chancery.dev/v2\nkind: Lamp\n", says: "kind: Lamp is not a kind of chancery.dev/v2" },
  { text: "apiVersion: v1\nkind: Secret\n", says: "metadata: is required" },
  { text: "apiVersion: v1\nkind: Secret\nmetadata: {namespace: a}\n", says: "metadata.name: is required" },
  { text: "apiVersion: v1\nkind: Secret\nmetadata: {name: ../x}\n", says: /^metadata\.name: must consist of/ },
  { text: "apiVersion: v1\nkind: Secret\nmetadata: {name: x, namespace: a/b}\n", says: /^metadata\.namespace: must/ },
  {
    text: "apiVersion: v1\nkind: Secret\nmetadata: {name: x, labels: {a: 1}}\n",
    says: /^metadata\.labels\.a: must be a string/,
  },
  { text: "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\ndata: {a: '?'}\n", says: /^data\.a: must be base64/ },
  { text: "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\nspec: {}\n", says: "spec: is not a known field" },
  {
    text: "apiVersion: v1\nkind: Namespace\nmetadata: {name: x, namespace: y}\n",
    says: /must be absent, because a Namespace is cluster-scoped/,
  },
])("a manifest is rejected: $says", async ({ text, says }) => {
  const { open } = await temporary()
  const cluster = await open()
  const { faults } = await declare(cluster, { "a.yaml": text })
  expect(faults).toEqual([
    { file: "a.yaml", line: expect.any(Number) as number, message: expect.stringMatching(says) as string },
  ])
})

test("foreign kinds are skipped, and a second manifest of the same name is a fault that names the first", async () => {
  const { open } = await temporary()
  const cluster = await open()
  const files = {
    "a.yaml": lampText("desk", "{room: study}"),
    "b.yaml": `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\n---\n${lampText("desk", "{room: hall}")}`,
  }
  const { faults, passedOver } = await declare(cluster, files)
  expect(passedOver).toBe(1)
  expect(faults).toEqual([{ file: "b.yaml", line: 5, message: "the Lamp desk is already declared in a.yaml:1" }])
  expect((await lampIn(cluster))["spec"]).toEqual({ room: "study", watts: 40 })
})

test("an object without a manifest is deleted after its finalizers, unless its file is unreadable", async () => {
  const { open } = await temporary()
  const cluster = await open()
  const files = { "a.yaml": lampText("desk", "{room: study}"), "b.yaml": lampText("floor", "{room: study}") }
  await declare(cluster, files)
  await cluster.setFinalizers(lamp, await lampIn(cluster), ["chancery.dev/external"])
  await declare(cluster, { "a.yaml": "kind: [", "b.yaml": files["b.yaml"] })
  expect((await lampIn(cluster)).metadata.deletionTimestamp).toBeUndefined()
  await declare(cluster, { "b.yaml": files["b.yaml"] })
  const leaving = await lampIn(cluster)
  expect(leaving.metadata).toMatchObject({ generation: 2, deletionTimestamp: expect.any(String) as string })
  // An object that is declared again during its deletion is still deleted, and then created again.
  await declare(cluster, files)
  expect(await lampIn(cluster)).toEqual(leaving)
  await cluster.setFinalizers(lamp, leaving, [])
  expect((await lampIn(cluster)).metadata.uid).not.toBe(leaving.metadata.uid)
})

test("objects are on disk, with mode 0600, before they are reported, and are read again at the start", async () => {
  const { open, folder } = await temporary()
  const cluster = await open()
  await declare(cluster, {
    "a.yaml": lampText("desk", "{room: study}"),
    "s.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: given}\nstringData: {token: abc}\n",
  })
  const status = { observedGeneration: 1, conditions: [{ type: "Ready", status: "True" }] }
  await cluster.applyStatus(lamp, await lampIn(cluster), status, "chancery-operator")
  const { metadata } = await lampIn(cluster)
  const ownerReferences = [{ apiVersion: "chancery.dev/v1alpha1", kind: "Lamp", name: "desk", uid: metadata.uid }]
  const secret = { metadata: { name: "made", namespace: "default", ownerReferences }, data: { "tls.key": "a2V5" } }
  await cluster.apply(secrets, secret, "chancery-certificate")
  const files = (await readdir(folder, { recursive: true })).filter((path) => path.endsWith(".yaml")).toSorted()
  expect(files).toEqual(["lamps/default/desk.yaml", "secrets/default/given.yaml", "secrets/default/made.yaml"])
  for (const file of files) expect((await stat(join(folder, file))).mode & 0o777).toBe(0o600)
  expect((await stat(join(folder, "secrets"))).mode & 0o777).toBe(0o700)
  expect(await readFile(join(folder, "secrets/default/given.yaml"), "utf8")).toContain("token: YWJj")

  const again = await open()
  for (const [resource, key] of [
    [lamp, "default/desk"],
    [secrets, "default/made"],
    [secrets, "default/given"],
  ] as const)
    expect(await again.get(resource, key)).toEqual(await cluster.get(resource, key))
  // Objects that manifests declared before the restart are deleted after it, together with the objects that they own.
  await declare(again, {})
  for (const resource of [lamp, secrets]) expect(again.list(resource)).toEqual([])
  expect((await readdir(folder, { recursive: true })).filter((path) => path.endsWith(".yaml"))).toEqual([])
  const version = Number((await lampIn(cluster)).metadata.resourceVersion)
  await declare(again, { "a.yaml": lampText("desk", "{room: study}") })
  expect(Number((await lampIn(again)).metadata.resourceVersion)).toBeGreaterThan(version)
})

test("a field that its manager no longer applies is removed, and fields of other managers stay", async () => {
  const { open } = await temporary()
  const cluster = await open()
  const bundle = (data: object, metadata = {}) => ({
    metadata: { name: "ca", namespace: "default", ...metadata },
    data,
  })
  await declare(cluster, { "a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ca}\nstringData: {own: a}\n" })
  await cluster.apply(configMaps, bundle({ "ca.crt": "1", "old.crt": "2" }, { labels: { a: "b" } }), "one")
  expect(await cluster.apply(configMaps, bundle({ "ca.crt": "3" }), "one")).toMatchObject({
    data: { own: "YQ==", "ca.crt": "3" },
  })
  const again = await open()
  const kept = await again.get(configMaps, "default/ca")
  expect(kept?.["data"]).toEqual({ own: "YQ==", "ca.crt": "3" })
  expect(kept?.metadata.labels).toBeUndefined()
  await declare(again, {})
  expect((await again.get(configMaps, "default/ca"))?.["data"]).toEqual({ "ca.crt": "3" })
})

test.each([
  { why: "another object of the same name", metadata: { uid: "other" }, status: 409 },
  { why: "an object that has changed since", metadata: { resourceVersion: "0" }, status: 409 },
  { why: "a deleted object", metadata: { name: "gone" }, status: 404 },
])("nothing is written to $why", async ({ metadata, status }) => {
  const { open } = await temporary()
  const cluster = await open()
  await declare(cluster, { "a.yaml": lampText("desk", "{room: study}") })
  const object = await lampIn(cluster)
  const stale = { ...object, metadata: { ...object.metadata, ...metadata } }
  const refused = expect.objectContaining({ status }) as ApiError
  await expect(cluster.setFinalizers(lamp, stale, ["a"])).rejects.toEqual(refused)
  const options = { resourceVersion: stale.metadata.resourceVersion ?? "" }
  await expect(cluster.applyStatus(lamp, stale, {}, "one", options)).rejects.toEqual(refused)
  expect(await lampIn(cluster)).toEqual(object)
})

test("a write with a uid creates nothing, and does not touch another object of the same name", async () => {
  const { open } = await temporary()
  const cluster = await open()
  const object = (uid?: string) => ({ metadata: { name: "a", namespace: "default", ...(uid && { uid }) }, data: {} })
  await expect(cluster.apply(secrets, object("gone"), "one")).rejects.toMatchObject({ status: 409 })
  const made = await cluster.apply(secrets, object(), "one")
  await expect(cluster.apply(secrets, object("other"), "one")).rejects.toMatchObject({ status: 409 })
  await cluster.delete(secrets, "default/a", "other")
  expect(await cluster.get(secrets, "default/a")).toEqual(made)
  await cluster.delete(secrets, "default/a", made.metadata.uid)
  await cluster.delete(secrets, "default/a")
  expect(await cluster.get(secrets, "default/a")).toBeUndefined()
})

test("a follower receives the existing objects, then each change that matches, until it stops", async () => {
  const { open } = await temporary()
  const cluster = await open()
  await cluster.apply(secrets, { metadata: { name: "a", namespace: "default", labels: { ours: "true" } } }, "one")
  await cluster.apply(secrets, { metadata: { name: "b", namespace: "other", labels: { ours: "true" } } }, "one")
  const follow = (what: object) => {
    const heard: string[] = []
    const store = new ObjectStore()
    const following = cluster.follow({ resource: secrets, ...what }, store, (key, how) => heard.push(`${how} ${key}`))
    return { heard, store, following }
  }
  const [all, labelled, named, space] = [
    follow({}),
    follow({ labelSelector: "ours=true" }),
    follow({ name: "b", namespace: "other" }),
    follow({ namespace: "default" }),
  ]
  expect(all.following.hasSynced).toBe(false)
  for (const one of [all, labelled, named, space]) await one.following.whenSynced()
  expect(all.following.hasSynced).toBe(true)
  await cluster.apply(secrets, { metadata: { name: "a", namespace: "default" } }, "one")
  await cluster.apply(
    secrets,
    { metadata: { name: "b", namespace: "other", labels: { ours: "true" } }, data: { x: "" } },
    "one",
  )
  await named.following.stop()
  await cluster.delete(secrets, "other/b")
  expect(all.heard).toEqual([
    "found default/a",
    "found other/b",
    "changed default/a",
    "changed other/b",
    "changed other/b",
  ])
  expect(labelled.heard).toEqual([
    "found default/a",
    "found other/b",
    "changed default/a",
    "changed other/b",
    "changed other/b",
  ])
  expect([...labelled.store.keys()]).toEqual([])
  expect(named.heard).toEqual(["found other/b", "changed other/b"])
  expect(space.heard).toEqual(["found default/a", "changed default/a"])
})

test("a foreign file in the status folder is an error that names it", async () => {
  const { open, folder } = await temporary()
  await declare(await open(), { "a.yaml": lampText("desk", "{room: study}") })
  const { writeFile } = await import("node:fs/promises")
  await writeFile(join(folder, "lamps/default/desk.yaml"), "")
  await expect(open()).rejects.toThrow("lamps/default/desk.yaml contains no valid object")
})
