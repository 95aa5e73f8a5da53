// Applies the folder `examples/platform` one object at a time in a random order, waits until all are ready, deletes them in
// another random order, and waits until the cluster has none and the engine is as before.
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { expect } from "vitest"
import { parseAllDocuments } from "yaml"
import type { Engine } from "../../../engine/src/engine.ts"
import { startServer } from "../../../engine/src/server/server.ts"
import { seededRandom } from "../../../engine/testing/seeded-random.ts"
import { openTestEngine } from "../../../engine/testing/test-engine.ts"
import { kinds } from "../../../operator/src/api/kinds.ts"
import { apiVersionOf, configMaps, type KubernetesObject } from "../../../operator/src/kube/kubernetes-object.ts"
import { temporaryFolder } from "../../cli/chancery.ts"
import { openCluster } from "./cluster.ts"
import type { KubernetesPrograms } from "../../toolchain/kubernetes.ts"
import { startControlPlane } from "./control-plane.ts"
import { administrator, type Shown, summary } from "./fixture.ts"
import { startOperatorProcess } from "./operator-process.ts"

const folder = join(import.meta.dirname, "../../../examples/platform")
const roundMs = 60_000
const pollMs = 100

async function expectPlatform(engine: Engine): Promise<void> {
  expect((await engine.mounts.list()).map(({ path }) => path)).toEqual(["platform/issuing", "platform/root"])
  expect(await engine.pki("platform/root").issuers.list()).toHaveLength(1)
  const issuing = engine.pki("platform/issuing")
  expect((await issuing.issuers.list()).filter(({ keyId }) => keyId !== null)).toHaveLength(1)
  expect((await issuing.settings.acme()).enabled).toBe(true)
  expect((await issuing.settings.est()).enabled).toBe(true)
}

async function leftIn(engine: Engine) {
  const page = { number: 1, size: 100 }
  const [projects, workspaces] = [
    await engine.projects.list("default", {}, page),
    await engine.workspaces.list("default", {}, page),
  ]
  return {
    mounts: (await engine.mounts.list()).map(({ path }) => path),
    projects: projects.items.map(({ name }) => name),
    workspaces: workspaces.items.map(({ name }) => name),
  }
}

/** An organization has a default project from the beginning. */
const nothing = { mounts: [], projects: ["Default Project"], workspaces: [] }

/** Kinds whose objects leave something in the engine unless their policy says otherwise. */
const retaining: readonly unknown[] = ["Mount", "CertificateAuthority", "Project"]

async function readPlatform(url: string): Promise<readonly KubernetesObject[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".yaml")).toSorted()
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")))
  return texts
    .flatMap((text) => parseAllDocuments(text.replaceAll("https://chancery.example.com\n", `${url}\n`)))
    .map((document) => {
      const object = document.toJS() as KubernetesObject
      if (!retaining.includes(object.kind)) return object
      return { ...object, spec: { ...(object["spec"] as object), deletionPolicy: "Delete" } }
    })
}

const resourceOf = ({ apiVersion, kind }: KubernetesObject) => {
  const found = [...kinds, configMaps].find((one) => apiVersionOf(one) === apiVersion && one.kind === kind)
  if (found === undefined) throw new Error(`the platform has an object of the kind ${kind}`)
  return found
}

const explained = (object: Shown): string =>
  [...summary(object), ...new Set((object.status.conditions ?? []).map(({ message }) => message))].join(", ")

export interface PlatformRounds {
  /** Folder of kube-apiserver and etcd. */
  readonly programs: KubernetesPrograms
  readonly rounds: number
  readonly seed: number
}

export async function runPlatformRounds({ programs, rounds, seed }: PlatformRounds): Promise<void> {
  const bytes = seededRandom(seed)
  const random = () => Buffer.from(bytes.bytes(4)).readUInt32BE() / 2 ** 32
  const shuffled = <Item>(items: readonly Item[]): readonly Item[] =>
    items
      .map((item) => ({ item, at: random() }))
      .toSorted((one, other) => one.at - other.at)
      .map(({ item }) => item)

  await using temporary = await temporaryFolder()
  await using controlPlane = await startControlPlane(programs)
  const cluster = openCluster(controlPlane)
  await cluster.installDefinitions()
  const namespace = "chancery"
  const config = await cluster.operatorAccess(namespace)
  await using testEngine = await openTestEngine({ jobs: false })
  const { engine } = testEngine
  await engine.organizations.create({ name: "default", email: "platform@example.com" })
  const server = await startServer({ engine })
  await using stopping = new AsyncDisposableStack()
  stopping.defer(() => void server.close())
  await using admin = administrator(cluster.adminAccess())
  const { api } = admin
  await admin.in(namespace).putToken(testEngine.rootToken)
  const kubeconfig = join(temporary.path, "kubeconfig")
  await using operator = await startOperatorProcess({ config, kubeconfig, namespace, identity: "one" })

  const platform = await readPlatform(server.url)
  const own = platform.filter(({ kind }) => kind !== "ConfigMap")
  const keyOf = ({ metadata }: KubernetesObject) =>
    metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`
  const titleOf = (object: KubernetesObject) => `${object.kind}/${object.metadata.name}`
  const shown = async (object: KubernetesObject): Promise<Shown | undefined> =>
    (await api.get(resourceOf(object), keyOf(object)).catch(() => undefined)) as Shown | undefined
  /** Returns the objects that are not as they should be, each with its conditions. */
  const unfinished = async (isFinished: (found: Shown | undefined) => boolean): Promise<readonly string[]> => {
    const found = await Promise.all(own.map(async (object) => [object, await shown(object)] as const))
    return found
      .filter(([, now]) => !isFinished(now))
      .map(([object, now]) => `${titleOf(object)}: ${now === undefined ? "missing" : explained(now)}`)
  }
  const until = async (what: string, isFinished: (found: Shown | undefined) => boolean): Promise<void> => {
    const end = Date.now() + roundMs
    for (;;) {
      const left = await unfinished(isFinished)
      if (left.length === 0) return
      if (Date.now() > end) throw new Error(`${what}:\n${left.join("\n")}\n${operator.log().slice(-4_000)}`)
      await sleep(pollMs)
    }
  }
  const isReady = (found: Shown | undefined): boolean =>
    found !== undefined &&
    found.status.observedGeneration === found.metadata.generation &&
    found.status.conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true

  for (let round = 1; round <= rounds; round += 1) {
    const begunAt = Date.now()
    const toApply = shuffled(platform)
    const order = `round ${round} of the seed ${seed}, applied as ${toApply.map(titleOf).join(" ")}`
    for (const object of toApply) await api.apply(resourceOf(object), object, "platform")
    // Each third round is deleted while its objects are being created.
    const isHasty = round % 3 === 0
    if (!isHasty) {
      await until(`not ready in ${order}`, isReady)
      await expectPlatform(engine)
    }

    const readyAt = Date.now()
    const toDelete = shuffled(platform)
    const deletion = `round ${round} of the seed ${seed}, deleted as ${toDelete.map(titleOf).join(" ")}`
    for (const object of toDelete) await api.delete(resourceOf(object), keyOf(object))
    await until(`not deleted in ${deletion}`, (found) => found === undefined)
    expect({ deletion, ...(await leftIn(engine)) }).toEqual({ deletion, ...nothing })
    console.log(`round ${round}: ready after ${readyAt - begunAt} ms, deleted after ${Date.now() - readyAt} ms`)
  }
}
