// CertificateAuthorities with a real engine and objects in memory. A clock that tests advance stands for years.
import { openTestEngine } from "@chancery/testing"
import { parseCertificate, parseExtensionValues, writePem } from "@chancery/engine/x509"
import { afterAll, beforeAll, expect, test } from "vitest"
import { openssl } from "../../../../engine/testing/openssl.ts"
import { objectFixture } from "../../../testing/object-fixture.ts"
import { certificateAuthority } from "../../api/certificate-authority.ts"
import { configMaps, keyOf, type KubernetesObject, type Resource } from "../../kube/kubernetes-object.ts"
import { ObjectStore } from "../../kube/object-store.ts"
import { splitChain } from "../certificate/secret-layout.ts"
import { connectionOf } from "../controllers.ts"
import { mountOf } from "../mount/mount-references.ts"
import { reconcileAuthorities, renewAnnotation } from "./authorities.ts"
import { parentOf } from "./parent.ts"

const hourMs = 3_600_000
const yearMs = 8_760 * hourMs

let world: Awaited<ReturnType<typeof openTestEngine>>
let aheadMs = 0
const now = () => Date.now() + aheadMs

beforeAll(async () => {
  world = await openTestEngine({ jobs: false })
})
afterAll(() => world[Symbol.asyncDispose]())

const connectionRef = { kind: "ClusterConnection", name: "engine" }

async function setting(...paths: readonly string[]) {
  const { engine } = world
  for (const path of paths) await engine.mounts.create({ path, config: { maxLeaseTtlMs: 20 * yearMs } })
  const store = new ObjectStore({ connection: connectionOf, mount: mountOf, parent: parentOf })
  const mounts = new ObjectStore({ mount: mountOf })
  const published = new ObjectStore()
  const calls: string[] = []
  let fail: string | undefined
  /** Fails the call of this name once, after it was done. */
  const crashAfter = (name: string) => void (fail = name)
  const watched = (target: object, path: string): object =>
    new Proxy(target, {
      get(object, member) {
        const value: unknown = Reflect.get(object, member)
        if (typeof value === "object" && value !== null) return watched(value, `${path}${String(member)}.`)
        if (typeof value !== "function") return value
        return async (...args: readonly unknown[]) => {
          const name = `${path}${String(member)}`
          calls.push(name)
          const result: unknown = await Reflect.apply(value, object, args)
          if (fail === name) {
            fail = undefined
            throw new Error("crashed")
          }
          return result
        }
      },
    })
  const watchedEngine = { pki: (path: string) => watched(engine.pki(path), "") } as unknown as typeof engine
  const reconciler = reconcileAuthorities({
    cluster: {
      get: async () => undefined,
      async apply(_resource, object) {
        published.set(object)
        return object
      },
    },
    storeOf: (resource: Resource) => (resource === configMaps ? published : store),
    engines: { connect: async () => ({ engine: watchedEngine }) },
    authorities: store,
    mounts,
  })
  const fixture = objectFixture({ kind: certificateAuthority, store, reconciler, now })
  const [mount = ""] = paths
  return {
    ...fixture,
    store,
    mounts,
    engine,
    calls,
    crashAfter,
    pki: engine.pki(mount),
    published: (name: string) =>
      (published.get(`default/${name}`)?.["data"] as Record<string, string> | undefined)?.["ca.crt"],
    root: (name: string, spec: object = {}) =>
      fixture.make(name, { connectionRef, mount, type: "Root", commonName: "Root", duration: "87600h", ...spec }),
    intermediate: (name: string, spec: object = {}) =>
      fixture.make(name, {
        connectionRef,
        mount,
        type: "Intermediate",
        commonName: "Issuing",
        duration: "8760h",
        parentRef: { name: "root" },
        ...spec,
      }),
    request(object: KubernetesObject, token: string) {
      const current = store.get(keyOf(object)) ?? object
      const annotations = { [renewAnnotation]: token }
      store.set({ ...current, metadata: { ...current.metadata, annotations } })
    },
    named: async (path: string) =>
      (await engine.pki(path).issuers.list()).map(({ name, isDefault }) => `${name ?? "-"}${isDefault ? " *" : ""}`),
  }
}

/** Issues a certificate, and verifies it with OpenSSL against the given roots and its own chain. */
async function issues(path: string, roots: string): Promise<string> {
  const pki = world.engine.pki(path)
  await pki.roles.save("any", { allowAnyName: true, enforceHostnames: false, keyType: "ec", ttlMs: hourMs })
  const { certificate, issuingCa, caChain, serialNumber } = await pki.certificates.issue("any", { commonName: "leaf" })
  const pem = (all: readonly Uint8Array[]) => all.map((der) => `${writePem("CERTIFICATE", der)}\n`).join("")
  // As a server sends it: without roots.
  const { chain } = splitChain(certificate, issuingCa, caChain)
  const files = { "leaf.pem": pem([certificate]), "chain.pem": pem(chain), "roots.pem": roots }
  const verified = openssl(
    ["verify", "-x509_strict", "-CAfile", "roots.pem", "-untrusted", "chain.pem", "leaf.pem"],
    files,
  )
  expect(verified).toBe("leaf.pem: OK\n")
  return serialNumber
}

test("a root is generated as declared, and its chain is published", async () => {
  const { root, look, statusOf, pki, published, happened, named } = await setting("declared")
  const object = root("root", {
    commonName: "Example Root",
    subject: { organizations: ["Example"], countries: ["CH"] },
    privateKey: { algorithm: "ECDSA", size: 384 },
    maxPathLength: 1,
    nameConstraints: { permitted: { dnsDomains: ["example.com"] } },
    leafNotAfterBehavior: "truncate",
    urls: { issuingCertificates: ["http://ca.example.com/ca"] },
    caChainConfigMap: "root-ca",
    isDefault: true,
  })
  expect(await look(object)).toMatchObject({ is: "ready", reason: "Available", synced: "True InStep" })
  expect(await named("declared")).toEqual(["root *"])
  const view = await pki.issuers.get("root")
  const { subjectPublicKeyInfo: _, ...certificate } = parseCertificate(view.certificate)
  const values = parseExtensionValues(certificate.extensions)
  expect(values.basicConstraints).toEqual({ isCa: true, maxPathLength: 1 })
  expect(values.nameConstraints?.permitted).toHaveLength(1)
  expect(view.settings).toMatchObject({ leafNotAfterBehavior: "truncate" })
  expect(view.settings.urls.issuingCertificates).toEqual(["http://ca.example.com/ca"])
  const pem = published("root-ca")
  const subject = openssl(["x509", "-in", "ca.pem", "-noout", "-subject", "-nameopt", "RFC2253"], {
    "ca.pem": pem ?? "",
  })
  expect(subject).toBe("subject=CN=Example Root,O=Example,C=CH\n")
  expect(statusOf(object)).toMatchObject({ issuerID: view.id, keyID: view.keyId, revision: 1, caChain: pem })
  expect(happened).toEqual(["Created"])
})

test("an intermediate waits for its parent in another mount, and has a whole chain", async () => {
  const { root, intermediate, look, named, published } = await setting("issuing", "above")
  const child = intermediate("issuing", { caChainConfigMap: "chain" })
  expect(await look(child)).toMatchObject({ is: "stalled", reason: "ParentMissing" })
  const parent = root("root", { mount: "above" })
  expect(await look(child)).toMatchObject({ is: "reconciling", reason: "ParentNotReady" })
  await look(parent)
  expect(await look(child)).toMatchObject({ is: "ready" })
  expect(await named("issuing")).toEqual(["issuing *", "-"])
  await issues("issuing", published("chain") ?? "")
})

test("authorities that are above each other stall", async () => {
  const { intermediate, look } = await setting("circle")
  intermediate("root", { parentRef: { name: "other" } })
  const other = intermediate("other", { parentRef: { name: "root" } })
  const { is, reason, message } = await look(other)
  expect([is, reason]).toEqual(["stalled", "InvalidSpec"])
  expect(message).toContain("spec.parentRef")
})

test("an authority waits for its mount, and for its settings if a Mount declares it", async () => {
  const { root, look, mounts, engine } = await setting()
  const object = root("root", { mount: "late" })
  expect(await look(object)).toMatchObject({ is: "stalled", reason: "MountMissing" })
  const declared = (status: object) =>
    mounts.set({
      metadata: { name: "late", namespace: "default", generation: 1 },
      spec: { connectionRef, path: "late" },
      status,
    })
  declared({})
  expect(await look(object)).toMatchObject({ is: "reconciling", reason: "MountNotReady" })
  await engine.mounts.create({ path: "late" })
  expect(await look(object)).toMatchObject({ is: "reconciling", reason: "MountNotReady" })
  declared({ settingsGeneration: 1 })
  expect(await look(object)).toMatchObject({ is: "ready" })
})

test("a Mount of another namespace does not stop an authority", async () => {
  const { root, look, mounts } = await setting("foreign")
  const metadata = { name: "foreign", namespace: "other", generation: 1 }
  mounts.set({ metadata, spec: { connectionRef, path: "foreign" }, status: {} })
  expect(await look(root("root"))).toMatchObject({ is: "ready" })
})

test("an authority of another namespace is no parent", async () => {
  const { root, make, look } = await setting("deputy")
  await look(root("root"))
  const spec = {
    connectionRef,
    mount: "deputy",
    type: "Intermediate",
    commonName: "Theirs",
    parentRef: { name: "root" },
  }
  expect(await look(make("theirs", spec, "other"))).toMatchObject({ is: "stalled", reason: "ParentMissing" })
})

test("the name of another issuer is not taken", async () => {
  const { root, look, pki, named } = await setting("taken")
  await pki.issuers.generateRoot({ commonName: "Theirs", issuerName: "root", keyType: "ec" })
  expect(await look(root("root"))).toMatchObject({ is: "stalled", reason: "NameTaken" })
  expect(await named("taken")).toEqual(["root *"])
})

test.each(["issuers.generateRoot", "issuers.update", "issuers.get"])(
  "a crash after %s creates no second root",
  async (call) => {
    const path = `crash-${call.replace(".", "-")}`
    const { root, look, crashAfter, named, pki, statusOf } = await setting(path)
    const object = root("root")
    crashAfter(call)
    await expect(look(object)).rejects.toThrow("crashed")
    expect(statusOf(object)["createPending"]).toBeDefined()
    expect(await look(object)).toMatchObject({ is: "ready" })
    expect(await named(path)).toEqual(["root *"])
    expect(await pki.keys.list()).toHaveLength(1)
    expect(statusOf(object)).toMatchObject({ revision: 1 })
    expect(statusOf(object)["createPending"]).toBeUndefined()
  },
)

test.each(["issuers.generateIntermediate", "certificates.signIntermediate", "issuers.import", "issuers.update"])(
  "a crash after %s creates no second intermediate, and signs no second certificate",
  async (call) => {
    const path = `crash-below-${call.replace(".", "-")}`
    const { root, intermediate, look, crashAfter, named, pki, engine } = await setting(path, `${path}-root`)
    await look(root("root", { mount: `${path}-root` }))
    const object = intermediate("issuing")
    crashAfter(call)
    await expect(look(object)).rejects.toThrow("crashed")
    expect(await look(object)).toMatchObject({ is: "ready" })
    expect(await named(path)).toEqual(["issuing *", "-"])
    expect(await pki.keys.list()).toHaveLength(1)
    // Its own, and the intermediate's.
    expect(await engine.pki(`${path}-root`).certificates.list()).toHaveLength(2)
  },
)

test("a requested rotation makes the next root the default, and the old one signs revocation lists only", async () => {
  const { root, look, request, named, pki, statusOf, published, happened } = await setting("rotated")
  const object = root("root", { caChainConfigMap: "rotated" })
  await look(object)
  const before = published("rotated") ?? ""
  const serial = await issues("rotated", before)
  const { issuerID: first } = statusOf(object) as { issuerID: string }
  request(object, "1")
  expect(await look(object)).toMatchObject({ is: "ready" })
  expect(happened).toEqual(["Created", "Rotated"])
  expect((await named("rotated")).map((name) => name.replace(/ca\..*\./, "ca."))).toEqual(["ca.1", "root *"])
  expect(statusOf(object)).toMatchObject({ revision: 2, lastHandledRenewAt: "1" })
  expect(statusOf(object)["predecessors"]).toMatchObject([{ issuerID: first }])
  expect((await pki.issuers.get(first)).settings.usage).not.toContain("issuing-certificates")
  await issues("rotated", published("rotated") ?? "")
  expect(published("rotated")).toContain(before)
  await pki.revocations.revoke({ serialNumber: serial })
  expect(await pki.crls.get({ issuerRef: first })).toBeDefined()
  expect(await look(object)).toMatchObject({ is: "ready" })
  expect(await pki.issuers.list()).toHaveLength(2)
})

test("an old root is deleted with its key after its certificates have expired", async () => {
  const { root, look, request, pki, statusOf } = await setting("retired")
  const object = root("root")
  await look(object)
  await issues("retired", (statusOf(object) as { caChain: string }).caChain)
  request(object, "1")
  await look(object)
  expect(await pki.keys.list()).toHaveLength(2)
  aheadMs = 2 * hourMs
  await look(object)
  aheadMs = 0
  expect((await pki.issuers.list()).map(({ name }) => name)).toEqual(["root"])
  expect(await pki.keys.list()).toHaveLength(1)
  expect(statusOf(object)["predecessors"]).toBeUndefined()
})

test("an old root stays while a role leaves no record of its certificates", async () => {
  const { root, look, request, pki } = await setting("unrecorded")
  const object = root("root")
  await look(object)
  await pki.roles.save("quiet", { noStore: true, allowAnyName: true })
  request(object, "1")
  await look(object)
  expect(await pki.issuers.list()).toHaveLength(2)
  await pki.roles.delete("quiet")
  await look(object)
  expect(await pki.issuers.list()).toHaveLength(1)
})

test("a rotation with the same key keeps it, also when the earlier issuer is deleted", async () => {
  const { root, look, request, pki, statusOf } = await setting("same-key")
  const object = root("root", { privateKey: { rotationPolicy: "Never" } })
  await look(object)
  const { keyID, serialNumber } = statusOf(object)
  request(object, "1")
  await look(object)
  expect(statusOf(object)).toMatchObject({ keyID, revision: 2 })
  expect(statusOf(object)["serialNumber"]).not.toBe(serialNumber)
  expect(await pki.issuers.list()).toHaveLength(1)
  expect(await pki.keys.list()).toHaveLength(1)
  await issues("same-key", (statusOf(object) as { caChain: string }).caChain)
})

test("clients that trust only the old root verify certificates of a root that it cross-signed", async () => {
  const { root, look, request, statusOf, named } = await setting("crossed")
  const object = root("root", { crossSign: true })
  await look(object)
  const { caChain: old } = statusOf(object) as { caChain: string }
  request(object, "1")
  expect(await look(object)).toMatchObject({ is: "ready" })
  expect((await named("crossed")).map((name) => name.replace(/ca\..*?\./, "ca."))).toEqual([
    "ca.1",
    "root *",
    "ca.2.cross",
  ])
  await issues("crossed", old)
  const calls = await look(object)
  expect(calls.is).toBe("ready")
  expect(await named("crossed")).toHaveLength(3)
})

test.each(["issuers.generateRoot", "certificates.signIntermediate", "issuers.import", "settings.changeIssuers"])(
  "a rotation that crashed after %s is completed, and not begun again",
  async (call) => {
    const path = `resumed-${call.replace(".", "-").toLowerCase()}`
    const { root, look, request, crashAfter, named, statusOf } = await setting(path)
    const object = root("root", { crossSign: true })
    await look(object)
    request(object, "1")
    crashAfter(call)
    await expect(look(object)).rejects.toThrow("crashed")
    expect(await look(object)).toMatchObject({ is: "ready" })
    expect(statusOf(object)).toMatchObject({ revision: 2, lastHandledRenewAt: "1" })
    expect(await named(path)).toHaveLength(3)
    expect(await look(object)).toMatchObject({ is: "ready" })
    expect(await named(path)).toHaveLength(3)
  },
)

test("an intermediate is rotated before it expires, but not below a parent that ends as early", async () => {
  const { root, intermediate, look, poll, named, happened, statusOf, edit } = await setting("due", "due-root")
  const parent = root("root", { mount: "due-root", duration: "8760h" })
  await look(parent)
  const object = intermediate("issuing", { duration: "4380h", renewBefore: "720h" })
  await look(object)
  aheadMs = 3_700 * hourMs
  expect(await poll(object)).toMatchObject({ is: "ready" })
  expect(happened).toEqual(["Created", "Created", "Rotated"])
  expect(statusOf(object)).toMatchObject({ revision: 2 })
  edit(object, { duration: "43800h" })
  aheadMs = 0
  expect(await named("due")).toContain("issuing *")
})

test("a lifetime that the mount cuts below renewBefore is reported, and the authority is not rotated", async () => {
  const { root, look, engine, pki } = await setting()
  await engine.mounts.create({ path: "short" })
  const object = root("root", { mount: "short", duration: undefined, renewBefore: "800h" })
  expect(await look(object)).toMatchObject({ is: "stalled", reason: "LifetimeTooShort" })
  expect(await look(object)).toMatchObject({ is: "stalled", reason: "LifetimeTooShort" })
  expect(pki).toBeDefined()
  expect(await engine.pki("short").issuers.list()).toHaveLength(1)
})

test("an issuer that another client deleted is generated again with its key", async () => {
  const { root, look, pki, statusOf, happened } = await setting("undone")
  const object = root("root")
  await look(object)
  const { keyID } = statusOf(object)
  await pki.issuers.delete("root")
  expect(await look(object)).toMatchObject({ is: "ready" })
  expect(statusOf(object)).toMatchObject({ keyID, revision: 1 })
  expect(happened).toEqual(["Created", "DriftCorrected"])
})

test("a chain that lost its root is completed from the status", async () => {
  const { root, intermediate, look, part, named, statusOf } = await setting("completed")
  const parent = root("root", { deletionPolicy: "Delete" })
  await look(parent)
  const object = intermediate("issuing")
  await look(object)
  expect(await part(parent)).toBe("gone")
  expect(await named("completed")).toEqual(["issuing"])
  expect(await look(object)).toMatchObject({ is: "ready" })
  const { caChain } = statusOf(object) as { caChain: string }
  expect(caChain.match(/BEGIN/g)).toHaveLength(2)
})

test("settings of the issuer are reverted", async () => {
  const { root, look, poll, pki, happened } = await setting("reverted")
  const object = root("root", { urls: { ocspServers: ["http://ca.example.com/ocsp"] } })
  await look(object)
  await pki.issuers.update("root", { ocspServers: [] })
  expect(await poll(object)).toMatchObject({ is: "ready" })
  expect((await pki.issuers.get("root")).settings.urls.ocspServers).toEqual(["http://ca.example.com/ocsp"])
  expect(happened).toEqual(["Created", "DriftCorrected"])
})

test("an intermediate with Delete leaves nothing in its mount, and its certificate is revoked by the parent", async () => {
  const { root, intermediate, look, part, pki, engine, statusOf } = await setting("parted", "parted-root")
  const parent = root("root", { mount: "parted-root" })
  await look(parent)
  const object = intermediate("issuing", { deletionPolicy: "Delete" })
  await look(object)
  const { serialNumber } = statusOf(object) as { serialNumber: string }
  expect(await part(object)).toBe("gone")
  expect(await pki.issuers.list()).toEqual([])
  expect(await pki.keys.list()).toEqual([])
  expect((await engine.pki("parted-root").certificates.get(serialNumber)).revokedAt).not.toBeNull()
  expect(await part(parent)).toBe("gone")
  expect(await engine.pki("parted-root").issuers.list()).toHaveLength(1)
})

test("a deletion keeps a key that an issuer of another owner uses", async () => {
  const { root, look, part, pki, statusOf } = await setting("shared-key")
  const object = root("root", { deletionPolicy: "Delete" })
  await look(object)
  const { keyID } = statusOf(object) as { keyID: string }
  await pki.issuers.generateRoot({ commonName: "Theirs", issuerName: "theirs", keySource: "existing", keyRef: keyID })
  expect(await part(object)).toBe("gone")
  expect((await pki.issuers.list()).map(({ name }) => name)).toEqual(["theirs"])
  expect((await pki.keys.list()).map(({ id }) => id)).toEqual([keyID])
})

test("a deletion that crashed after the issuer is completed", async () => {
  const { root, intermediate, look, part, crashAfter, pki, engine } = await setting("cut", "cut-root")
  await look(root("root", { mount: "cut-root" }))
  const object = intermediate("issuing", { deletionPolicy: "Delete" })
  await look(object)
  crashAfter("issuers.delete")
  await expect(part(object)).rejects.toThrow("crashed")
  expect(await part(object)).toBe("gone")
  expect(await pki.issuers.list()).toEqual([])
  expect(await pki.keys.list()).toEqual([])
  const records = await engine.pki("cut-root").certificates.search({ status: ["revoked"] }, { limit: 5 })
  expect(records.items).toHaveLength(1)
})
