// CertificateRole objects that share a role, with a real engine and objects in memory.
import { openTestEngine } from "@chancery/testing"
import { afterAll, beforeAll, expect, test } from "vitest"
import { reconcileCertificateRoles } from "./certificate-roles.ts"
import { connectionOf } from "../controllers.ts"
import { mountOf } from "../mount/mount-references.ts"
import { certificateRole } from "../../api/certificate-role.ts"
import { keyOf, type KubernetesObject } from "../../kube/kubernetes-object.ts"
import { ObjectStore } from "../../kube/object-store.ts"
import { type OwnStatus, NotReadyError } from "../reconcile-result.ts"
import type { ReconcileRequest } from "../reconciler.ts"

let world: Awaited<ReturnType<typeof openTestEngine>>

beforeAll(async () => {
  world = await openTestEngine({ jobs: false })
})
afterAll(() => world[Symbol.asyncDispose]())

/** Creates a mount, and CertificateRole objects for its role `web`. */
async function setting(mount: string) {
  await world.engine.mounts.create({ path: mount })
  const { roles: engineRoles } = world.engine.pki(mount)
  const roles = new ObjectStore({ connection: connectionOf })
  const mounts = new ObjectStore({ mount: mountOf })
  const engines = { connect: async () => ({ engine: world.engine }) }
  const reconciler = reconcileCertificateRoles({ engines, roles, mounts })
  const statuses = new Map<string, OwnStatus>()
  const reconcileRequest = (object: KubernetesObject): ReconcileRequest => ({
    signal: new AbortController().signal,
    now: 0,
    quiet: false,
    partial: false,
    turn: 0,
    status: statuses.get(keyOf(object)) ?? {},
    saveStatus: async () => {},
    record: async () => {},
  })
  return {
    make(namespace: string, month: string, rules: object): KubernetesObject {
      const connectionRef = { kind: "ClusterConnection", name: "engine" }
      const spec = certificateRole.spec.parse({
        connectionRef,
        mount,
        name: "web",
        adoptionPolicy: "IfExists",
        ...rules,
      })
      const uid = `uid-${namespace}`
      const metadata = { name: "web", namespace, uid, creationTimestamp: `2026-${month}-01T00:00:00Z` }
      const object = { metadata, spec }
      roles.set(object)
      return object
    },
    async look(object: KubernetesObject) {
      const {
        health,
        conditions,
        status = {},
      } = await reconciler.reconcile(object, reconcileRequest(object)).catch((error: unknown) => {
        if (error instanceof NotReadyError) return error.outcome
        throw error
      })
      if (health.is === "ready") statuses.set(keyOf(object), status)
      const synced = conditions?.map(({ type, status: is, reason }) => `${type}=${is} ${reason}`)
      return { ...health, synced }
    },
    async go(object: KubernetesObject): Promise<void> {
      const going = { ...object, metadata: { ...object.metadata, deletionTimestamp: "2026-12-01T00:00:00Z" } }
      roles.set(going)
      expect(await reconciler.finalize?.(going, reconcileRequest(object))).toBeUndefined()
      roles.delete(keyOf(object))
    },
    domains: async () => (await engineRoles.get("web")).allowedDomains,
    names: () => engineRoles.list(),
  }
}

test("an older CertificateRole wins if two set a rule of one role differently; the younger applies after its deletion", async () => {
  const { make, look, go, domains } = await setting("fought-over")
  const younger = make("shop", "02", { allowedDomains: ["shop.example"] })
  expect((await look(younger)).is).toBe("ready")
  const older = make("team", "01", { allowedDomains: ["team.example"] })
  expect((await look(older)).is).toBe("ready")
  const health = await look(younger)
  expect([health.is, health.reason]).toEqual(["stalled", "AlreadyManaged"])
  expect(health.synced).toEqual(["Synced=False AlreadyManaged"])
  expect(health.message).toContain("The CertificateRole web in the namespace team")
  expect(health.message).toContain("spec.allowedDomains")
  expect(await domains()).toEqual(["team.example"])
  await go(older)
  expect((await look(younger)).is).toBe("ready")
  expect(await domains()).toEqual(["shop.example"])
})

test("a younger CertificateRole neither creates nor adopts a role that an older one sets differently", async () => {
  const { make, look, names } = await setting("not-made")
  make("team", "01", { allowedDomains: ["team.example"], ttl: "1h" })
  expect((await look(make("shop", "02", { allowedDomains: ["shop.example"] }))).reason).toBe("AlreadyManaged")
  expect(await names()).toEqual([])
})

test("CertificateRoles with equal or disjoint rules share a role", async () => {
  const { make, look, domains } = await setting("shared")
  const domain = make("team", "01", { allowedDomains: ["team.example"], ttl: "1h" })
  const time = make("shop", "02", { ttl: "60m", allowSubdomains: true })
  for (const object of [domain, time, domain, time]) expect((await look(object)).is).toBe("ready")
  expect(await domains()).toEqual(["team.example"])
})

test("a role is deleted with the last CertificateRole that manages it", async () => {
  const { make, look, go, names } = await setting("renamed")
  const [before, after] = [make("team", "01", { ttl: "1h" }), make("shop", "02", { ttl: "1h" })]
  for (const object of [before, after]) expect((await look(object)).is).toBe("ready")
  await go(before)
  expect(await names()).toEqual(["web"])
  await go(after)
  expect(await names()).toEqual([])
})
