// Mounts with a real engine and objects in memory.
import { openTestEngine } from "@chancery/testing"
import { afterAll, beforeAll, expect, test } from "vitest"
import { objectFixture } from "../../../testing/object-fixture.ts"
import { mount } from "../../api/mount.ts"
import type { KubernetesObject } from "../../kube/kubernetes-object.ts"
import { ObjectStore } from "../../kube/object-store.ts"
import { connectionOf } from "../controllers.ts"
import { awaitsMount, mountOf } from "./mount-references.ts"
import { reconcileMounts } from "./mounts.ts"

let world: Awaited<ReturnType<typeof openTestEngine>>

beforeAll(async () => {
  world = await openTestEngine({ jobs: false })
})
afterAll(() => world[Symbol.asyncDispose]())

const connectionRef = { kind: "ClusterConnection", name: "engine" }

function setting(path: string) {
  const indexes = { connection: connectionOf, mount: mountOf }
  const store = new ObjectStore(indexes)
  const roles = new ObjectStore(indexes)
  const authorities = new ObjectStore(indexes)
  const engines = { connect: async () => ({ engine: world.engine }) }
  const reconciler = reconcileMounts({ engines, mounts: store, roles, authorities })
  const fixture = objectFixture({ kind: mount, store, reconciler })
  return {
    ...fixture,
    store,
    roles,
    authorities,
    engine: world.engine,
    pki: world.engine.pki(path),
    make: (name: string, spec: object = {}) => fixture.make(name, { connectionRef, path, ...spec }),
    isThere: async () => (await world.engine.mounts.list()).some((one) => one.path === path),
  }
}

const headers = { allowedResponseHeaders: ["Location", "Replay-Nonce", "Link"] }

test("a Mount is created with all its settings, and a later difference is reverted or reported", async () => {
  const path = "whole"
  const { make, look, poll, edit, statusOf, happened, engine, pki } = setting(path)
  const object = make("pki", {
    description: "Certificates",
    maxLeaseTtl: "8760h",
    defaultLeaseTtl: "24h",
    ...headers,
    clusterPath: "https://ca.example.com/v1/whole",
    urls: { issuingCertificates: ["http://ca.example.com/ca"], enableTemplating: true },
    crl: { expiry: "48h", autoRebuild: true, enableDelta: true, shards: 4 },
    autoTidy: { enabled: true, tidyCertStore: true, intervalDuration: "6h" },
    acme: { enabled: true, defaultDirectoryPolicy: "forbid", maxTtl: "720h" },
  })
  expect(await look(object)).toMatchObject({ is: "ready", reason: "MountSaved", synced: "True InStep" })
  expect(happened).toEqual(["Created"])
  const view = await engine.mounts.get(path)
  expect(view).toMatchObject({ description: "Certificates", config: { maxLeaseTtlMs: 8_760 * 3_600_000 } })
  expect(statusOf(object)).toMatchObject({ id: view.uuid, accessor: view.accessor, settingsGeneration: 1 })
  expect(await pki.settings.urls()).toMatchObject({ issuingCertificates: ["http://ca.example.com/ca"] })
  expect(await pki.crls.settings()).toMatchObject({ expiryMs: 48 * 3_600_000, enableDelta: true, shards: 4 })
  expect(await pki.tidy.getAutomatic()).toMatchObject({ enabled: true, intervalDurationMs: 6 * 3_600_000 })
  expect(await pki.settings.acme()).toMatchObject({ enabled: true, defaultDirectoryPolicy: "forbid" })

  await engine.mounts.tune(path, { description: "changed" })
  expect(await poll(object)).toMatchObject({ is: "ready", synced: "True InStep" })
  expect(happened).toEqual(["Created", "DriftCorrected"])
  expect((await engine.mounts.get(path)).description).toBe("Certificates")

  edit(object, { driftPolicy: "Report" })
  await pki.crls.configure({ expiryMs: 24 * 3_600_000 })
  expect(await poll(object)).toMatchObject({ is: "ready", synced: "False DriftDetected" })
  expect(statusOf(object)["drift"]).toEqual([{ field: "crl.expiry", desired: '"48h"', observed: '"24h"' }])
  expect((await pki.crls.settings()).expiryMs).toBe(24 * 3_600_000)
})

test("a mount that exists is taken over only if adoptionPolicy allows it", async () => {
  const { make, look, edit, happened, engine, statusOf } = setting("taken")
  await engine.mounts.create({ path: "taken", description: "theirs" })
  const object = make("pki", { description: "ours" })
  expect(await look(object)).toMatchObject({ is: "stalled", reason: "NameTaken" })
  expect((await engine.mounts.get("taken")).description).toBe("theirs")
  edit(object, { adoptionPolicy: "IfExists" })
  expect(await look(object)).toMatchObject({ is: "ready" })
  expect(happened).toEqual(["Adopted"])
  expect((await engine.mounts.get("taken")).description).toBe("ours")
  expect(statusOf(object)["createPending"]).toBeUndefined()
})

test("MustExist creates no mount", async () => {
  const { make, look, isThere } = setting("required")
  expect(await look(make("pki", { adoptionPolicy: "MustExist" }))).toMatchObject({ reason: "MountMissing" })
  expect(await isThere()).toBe(false)
})

test("a mount whose creation was begun before a crash is recognized, also if it has contents by now", async () => {
  const { make, look, write, happened, engine, pki } = setting("crashed")
  const object = make("pki", { description: "ours" })
  await engine.mounts.create({ path: "crashed" })
  await pki.roles.save("web", {})
  write(object, { createPending: { at: "2026-11-27T00:00:00Z" } })
  expect(await look(object)).toMatchObject({ is: "ready" })
  expect(happened).toEqual(["Created"])
  expect((await engine.mounts.get("crashed")).description).toBe("ours")
})

test("another mount at the same path is neither changed nor deleted", async () => {
  const { make, look, part, engine, isThere } = setting("replaced")
  const object = make("pki", { description: "ours", deletionPolicy: "Delete" })
  await look(object)
  await engine.mounts.delete("replaced")
  await engine.mounts.create({ path: "replaced", description: "theirs" })
  expect(await look(object)).toMatchObject({ is: "stalled", reason: "NameTaken" })
  expect(await part(object)).toBe("gone")
  expect(await isThere()).toBe(true)
})

test("the younger of two Mounts of one path stalls until the older is gone", async () => {
  const { make, look, part } = setting("shared")
  const [older, younger] = [make("one"), make("two")]
  expect(await look(younger)).toMatchObject({ is: "stalled", reason: "AlreadyManaged" })
  expect(await look(older)).toMatchObject({ is: "ready" })
  expect(await part(older)).toBe("gone")
  expect(await look(younger)).toMatchObject({ is: "stalled", reason: "NameTaken" })
})

const declaredIn = (path: string, name: string): KubernetesObject => ({
  metadata: { name, namespace: "default" },
  spec: { connectionRef, mount: path },
})

test("ACME waits for the role that it names, and the mount is set up before", async () => {
  const { make, look, roles, pki, store } = setting("acme")
  const acme = { enabled: true, defaultDirectoryPolicy: "role:web", allowedRoles: ["web"] }
  const object = make("pki", { ...headers, clusterPath: "https://ca.example.com/v1/acme", acme })
  const inMount = declaredIn("acme", "web")
  expect(awaitsMount(store, inMount)).toBe(true)
  expect(await look(object)).toMatchObject({ is: "stalled", reason: "RoleMissing" })
  expect(awaitsMount(store, inMount)).toBe(false)
  roles.set(inMount)
  expect(await look(object)).toMatchObject({ is: "reconciling", reason: "RoleNotReady" })
  await pki.roles.save("web", {})
  expect(await look(object)).toMatchObject({ is: "ready" })
  expect((await pki.settings.acme()).enabled).toBe(true)
})

test("EST waits for the roles that it names, and ACME does not wait with it", async () => {
  const { make, look, roles, pki } = setting("est")
  const object = make("pki", {
    ...headers,
    clusterPath: "https://ca.example.com/v1/est",
    acme: { enabled: true, defaultDirectoryPolicy: "forbid" },
    est: { enabled: true, defaultPathPolicy: "role:printers", labelToPathPolicy: { est: "role:routers" } },
  })
  expect(await look(object)).toMatchObject({
    is: "stalled",
    reason: "RoleMissing",
    message: "spec.est names the role printers, which est does not have yet.",
  })
  expect((await pki.settings.acme()).enabled).toBe(true)
  await pki.roles.save("printers", {})
  roles.set(declaredIn("est", "routers"))
  expect(await look(object)).toMatchObject({ is: "reconciling", reason: "RoleNotReady" })
  expect((await pki.settings.est()).enabled).toBe(false)
  await pki.roles.save("routers", {})
  expect(await look(object)).toMatchObject({ is: "ready" })
  expect((await pki.settings.est()).enabled).toBe(true)
})

test("EST that another client turns off is turned on again, or reported", async () => {
  const { make, look, poll, edit, statusOf, happened, engine, pki } = setting("devices")
  await engine.authMethods.enable({ path: "devices", type: "userpass" })
  const { accessor } = await engine.authMethods.get("devices")
  const object = make("pki", {
    delegatedAuthAccessors: [accessor],
    est: {
      enabled: true,
      labelToPathPolicy: { devices: "sign-verbatim" },
      authenticators: { userpass: { accessor } },
      auditFields: [],
    },
  })
  expect(await look(object)).toMatchObject({ is: "ready", synced: "True InStep" })
  expect(await pki.settings.est()).toMatchObject({
    enabled: true,
    labelToPathPolicy: { devices: "sign-verbatim" },
    authenticators: { userpass: { accessor }, cert: { accessor: "", role: "" } },
    auditFields: [],
  })
  expect((await engine.mounts.get("devices")).config.delegatedAuthAccessors).toEqual([accessor])

  await pki.settings.changeEst({ enabled: false })
  expect(await poll(object)).toMatchObject({ is: "ready", synced: "True InStep" })
  expect(happened).toEqual(["Created", "DriftCorrected"])
  expect((await pki.settings.est()).enabled).toBe(true)

  edit(object, { driftPolicy: "Report" })
  await pki.settings.changeEst({ labelToPathPolicy: {} })
  expect(await poll(object)).toMatchObject({ is: "ready", synced: "False DriftDetected" })
  expect(statusOf(object)["drift"]).toEqual([
    { field: "est.labelToPathPolicy", desired: '{"devices":"sign-verbatim"}', observed: "{}" },
  ])
})

test("EST with an auth method that does not exist, or with a label of another mount, stalls", async () => {
  const { make, look, engine, pki } = setting("labels")
  const object = make("pki", {
    delegatedAuthAccessors: ["auth_userpass_none"],
    est: { enabled: true, authenticators: { userpass: { accessor: "auth_userpass_none" } } },
  })
  expect(await look(object)).toMatchObject({
    is: "stalled",
    reason: "InvalidSpec",
    message:
      'spec.est.authenticators: authenticators userpass: no auth method of type userpass has the accessor "auth_userpass_none"',
  })
  await engine.mounts.create({ path: "elsewhere" })
  const taken = { labelToPathPolicy: { taken: "sign-verbatim" } }
  await engine.pki("elsewhere").settings.changeEst({ enabled: true, ...taken })
  const other = setting("conflict")
  expect(await other.look(other.make("pki", { est: { enabled: true, ...taken } }))).toMatchObject({
    is: "stalled",
    reason: "EngineRefused",
    message: expect.stringContaining('another mount has registered the EST label "taken"') as string,
  })
  expect((await pki.settings.est()).enabled).toBe(false)
})

test("settings that the engine rejects are named by their field", async () => {
  const { make, look } = setting("rejected")
  const object = make("pki", { urls: { ocspServers: ["ocsp"] } })
  const { is, reason, message } = await look(object)
  expect([is, reason]).toEqual(["stalled", "InvalidSpec"])
  expect(message).toContain("spec.urls.ocspServers: ")
})

test("a Mount with Delete waits for its authorities, then for its contents, and one with Retain for nothing", async () => {
  const { make, look, part, authorities, pki, isThere } = setting("deleted")
  const object = make("pki", { deletionPolicy: "Delete" })
  await look(object)
  const authority = declaredIn("deleted", "root")
  authorities.set(authority)
  expect(await part(object)).toBe("reconciling DeletionBlocked")
  authorities.delete("default/root")
  await pki.roles.save("web", {})
  expect(await part(object)).toBe("reconciling DeletionBlocked")
  await pki.roles.delete("web")
  expect(await part(object)).toBe("gone")
  expect(await isThere()).toBe(false)
  const retained = make("pki", { deletionPolicy: "Retain" })
  await look(retained)
  expect(await part(retained)).toBe("gone")
  expect(await isThere()).toBe(true)
})
