// Issuer objects that offer ACME, with a real engine and objects in memory.
import { openTestEngine } from "@chancery/testing"
import { afterAll, beforeAll, expect, test } from "vitest"
import { ApiError } from "../../kube/cluster.ts"
import type { StoredCondition } from "../conditions.ts"
import { connectionOf } from "../controllers.ts"
import { clusterIssuer, issuer } from "../../api/issuer.ts"
import { configMaps, type KubernetesObject, type Resource, secrets } from "../../kube/kubernetes-object.ts"
import { reconcileIssuers } from "./issuers.ts"
import { ObjectStore } from "../../kube/object-store.ts"
import { NotReadyError } from "../reconcile-result.ts"
import type { ReconcileRequest } from "../reconciler.ts"

const headers = ["Location", "Replay-Nonce", "Link", "Retry-After"]
let world: Awaited<ReturnType<typeof openTestEngine>>

beforeAll(async () => {
  world = await openTestEngine({ jobs: false })
})
afterAll(() => world[Symbol.asyncDispose]())

/** Creates a mount, and Issuer objects for it in the namespace `team`. */
async function setting(mount: string, { address = `https://ca.example.com/v1/${mount}` } = {}) {
  await world.engine.mounts.create({ path: mount, config: { allowedResponseHeaders: headers } })
  const pki = world.engine.pki(mount)
  await pki.issuers.generateRoot({ commonName: "Root", keyType: "ec" })
  if (address !== "") await pki.settings.changeCluster({ path: address })
  const stores = new Map([secrets, configMaps].map(({ plural }) => [plural, new ObjectStore()]))
  for (const { plural } of [issuer, clusterIssuer]) stores.set(plural, new ObjectStore({ connection: connectionOf }))
  const storeOf = ({ plural }: Resource): ObjectStore => stores.get(plural)!
  const asked: string[] = []
  const pkiOf = () => ({
    issuers: { certificate: (ref: string) => (asked.push("authority"), pki.issuers.certificate(ref)) },
    settings: {
      acme: () => (asked.push("acme"), pki.settings.acme()),
      changeAcme: pki.settings.changeAcme.bind(pki.settings),
      cluster: pki.settings.cluster.bind(pki.settings),
    },
  })
  const engine = { pki: pkiOf, acme: (path: string) => world.engine.acme(path) } as unknown as typeof world.engine
  let isWritable = true
  let rejection: ApiError | undefined
  const { reconcile } = reconcileIssuers({
    kind: "Issuer",
    cluster: {
      get: async (resource, key) => storeOf(resource).get(key),
      delete: async (resource, key) => void storeOf(resource).delete(key),
      async apply(resource, object, _manager, { dryRun = false } = {}) {
        if (rejection !== undefined) throw rejection
        if (dryRun) return object
        if (!isWritable) throw new Error("forbidden")
        storeOf(resource).set(object)
        return object
      },
    },
    engines: { connect: async () => ({ engine }) },
    storeOf,
    namespace: "own",
    trustBundles: undefined,
  })
  const make = (name: string, acme: object, created = "2026-01-01T00:00:00Z"): KubernetesObject => {
    const spec = { connectionRef: { kind: "ClusterConnection", name: "engine" }, mount, acme }
    const object = { metadata: { name, namespace: "team", uid: `uid-${name}`, creationTimestamp: created }, spec }
    storeOf(issuer).set(object)
    return object
  }
  const request: ReconcileRequest = {
    signal: new AbortController().signal,
    now: 0,
    quiet: false,
    partial: false,
    turn: 0,
    status: {},
    saveStatus: async () => {},
    record: async () => {},
  }
  return {
    pki,
    make,
    asked,
    put: (object: KubernetesObject) => storeOf(secrets).set(object),
    drop: (name: string) => storeOf(secrets).delete(`team/${name}`),
    secret: (name: string) => storeOf(secrets).get(`team/${name}`),
    bindings: () => world.engine.acme(mount).eab.list(),
    forbid: () => void (isWritable = false),
    reject: (message: string) => void (rejection = new ApiError(403, "Forbidden", message)),
    look: (object: KubernetesObject, besides: Partial<ReconcileRequest> = {}) =>
      reconcile(object, { ...request, ...besides }),
  }
}

const data = (object: KubernetesObject | undefined, name: string): string => {
  const { [name]: text = "" } = (object?.["data"] ?? {}) as Readonly<Record<string, string>>
  return Buffer.from(text, "base64").toString()
}

const told = (conditions: readonly Pick<StoredCondition, "type" | "status" | "reason">[] | undefined) =>
  conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`)

test("an Issuer applies its ACME settings, keeps settings that it omits, and reverts changes", async () => {
  const { pki, make, look } = await setting("said")
  await pki.settings.changeAcme({ maxTtlMs: 3_600_000, eabPolicy: "always-required" })
  const object = make("ca", { directory: "forbid" })
  const { health, conditions, status } = await look(object)
  expect([health.is, told(conditions)]).toEqual(["ready", ["AcmeOffered=True AcmeOffered"]])
  expect(status).toMatchObject({ acmeDirectory: "https://ca.example.com/v1/said/acme/directory" })
  const settings = {
    enabled: true,
    defaultDirectoryPolicy: "forbid",
    eabPolicy: "always-required",
    maxTtlMs: 3_600_000,
  }
  expect(await pki.settings.acme()).toMatchObject(settings)
  await pki.settings.changeAcme({ enabled: false, defaultDirectoryPolicy: "sign-verbatim", maxTtlMs: 0 })
  await look(object)
  expect(await pki.settings.acme()).toMatchObject({ ...settings, maxTtlMs: 0 })
})

test("an Issuer writes an EAB token to its Secret once, and another one after the Secret was deleted", async () => {
  const { make, look, secret, drop, bindings } = await setting("token")
  const object = make("ca", { eabPolicy: "NewAccountRequired", eabSecretName: "eab" })
  await look(object)
  const [first] = await bindings()
  const given = secret("eab")
  expect(given).toMatchObject({ metadata: { ownerReferences: [{ kind: "Issuer", name: "ca", controller: true }] } })
  expect(data(given, "kid")).toBe(first?.id)
  expect(Buffer.from(data(given, "key"), "base64url")).toHaveLength(32)
  expect(data(given, "directory")).toBe("https://ca.example.com/v1/token/acme/directory")
  await look(object)
  expect(await bindings()).toHaveLength(1)
  drop("eab")
  await look(object, { quiet: true })
  expect(data(secret("eab"), "kid")).not.toBe(first?.id)
  expect(await bindings()).toHaveLength(2)
})

test("an EAB token is deleted if its Secret could not be written", async () => {
  const { make, look, bindings, forbid } = await setting("taken-back")
  forbid()
  await expect(look(make("ca", { eabSecretName: "eab" }))).rejects.toThrow("forbidden")
  expect(await bindings()).toEqual([])
})

test("[F-K1] a rejected Secret for an EAB token is reported, and no token is created", async () => {
  const { make, look, bindings, reject } = await setting("rejected")
  reject("exceeded quota: few")
  const { health, conditions } = await look(make("ca", { eabSecretName: "eab" }))
  expect([health.is, told(conditions)]).toEqual(["ready", ["AcmeOffered=False SecretRejected"]])
  expect(conditions?.[0]?.message).toContain("exceeded quota: few")
  expect(await bindings()).toEqual([])
})

test("[F-K1] a rejected ConfigMap for the CA chain is reported", async () => {
  const { make, look, reject } = await setting("chain-rejected")
  const object = make("ca", {})
  reject("no more ConfigMaps")
  const spec = { ...(object["spec"] as object), caChainConfigMap: "chain" }
  const error: unknown = await look({ ...object, spec }).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(NotReadyError)
  expect((error as NotReadyError).outcome.health).toMatchObject({ is: "stalled", reason: "ConfigMapRejected" })
  expect(String(error)).toContain("no more ConfigMaps")
})

test("an obstacle to ACME is reported, and the Issuer stays ready", async () => {
  const nowhere = await setting("nowhere", { address: "" })
  const { health, conditions, status } = await nowhere.look(nowhere.make("ca", {}))
  expect([health.is, told(conditions)]).toEqual(["ready", ["AcmeOffered=False EngineRefused"]])
  expect(conditions?.[0]?.message).toContain("set path in config/cluster first")
  expect(status).not.toHaveProperty("acmeDirectory")

  const { make, put, secret, look, pki, bindings } = await setting("in-the-way")
  put({ metadata: { name: "eab", namespace: "team" }, data: { kid: "" } })
  const first = make("ca", { eabSecretName: "eab" })
  expect(told((await look(first)).conditions)).toEqual(["AcmeOffered=False SecretNameConflict"])
  expect([secret("eab")?.["data"], await bindings()]).toEqual([{ kid: "" }, []])

  const second = make("later", { directory: "forbid" }, "2026-02-01T00:00:00Z")
  const refused = await look(second)
  expect(told(refused.conditions)).toEqual(["AcmeOffered=False AlreadyManaged"])
  expect(refused.conditions?.[0]?.message).toContain("The Issuer ca in the namespace team")
  expect(await pki.settings.acme()).toMatchObject({ defaultDirectoryPolicy: "sign-verbatim" })
})

test("the poll of a ready Issuer reads the authority and the ACME settings in turn", async () => {
  const { make, look, asked } = await setting("turns")
  const object = make("ca", { eabSecretName: "eab" })
  const { status = {} } = await look(object)
  expect(status).toMatchObject({ caSerial: expect.any(String) as string, acmeDirectory: expect.any(String) as string })
  asked.splice(0)
  for (const turn of [0, 1])
    expect((await look(object, { quiet: true, partial: true, turn, status })).status).toEqual(status)
  expect(asked).toEqual(["authority", "acme"])
  const { acme: _, ...without } = object["spec"] as Record<string, unknown>
  const left = await look({ ...object, spec: without }, { status })
  expect([left.conditions, left.status]).toEqual([
    [],
    expect.not.objectContaining({ acmeDirectory: expect.anything() as unknown }),
  ])
})
