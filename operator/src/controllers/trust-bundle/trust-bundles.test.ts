// TrustBundle objects, with objects in memory and authorities of a real engine.
import { openTestEngine, seededRandom } from "@chancery/testing"
import { sha256, writePem } from "@chancery/engine/x509"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { certificate } from "../../api/certificate.ts"
import { clusterIssuer, issuer } from "../../api/issuer.ts"
import { ApiError } from "../../kube/cluster.ts"
import { configMaps, namespaces, secrets } from "../../kube/kubernetes-object.ts"
import { openTrustBundle } from "../../../testing/trust-bundle-fixture.ts"

const hourMs = 3_600_000
const dayMs = 24 * hourMs
let engine: Awaited<ReturnType<typeof openTestEngine>>
/** Roots (PEM) that are valid for years, except the last, which is valid until 2026-01-11. */
let roots: readonly string[] = []
const pem = (index: number) => roots[index] ?? ""

beforeAll(async () => {
  const clock = { now: () => Date.parse("2026-01-01T00:00:00Z") }
  const log = { debug() {}, info() {}, warn() {}, error() {} }
  const digest = (text: string) => sha256(Buffer.from(text))
  const runtime = { clock, random: seededRandom(1), log, digest }
  engine = await openTestEngine({ jobs: false, runtime })
  await engine.engine.mounts.create({ path: "pki", config: { maxLeaseTtlMs: 3_650 * dayMs } })
  const { issuers } = engine.engine.pki("pki")
  const made = [3_000, 3_000, 3_000, 10].map((days) =>
    issuers.generateRoot({ commonName: `Root of ${days} days`, keyType: "ec", ttlMs: days * dayMs }),
  )
  roots = (await Promise.all(made)).map(({ certificate: der }) => `${writePem("CERTIFICATE", der)}\n`)
})
afterAll(() => engine[Symbol.asyncDispose]())

const inline = (target: object = {}) => ({
  sources: [{ pem: pem(0) }],
  target: { configMap: { name: "ca" }, ...target },
})
const count = (text: string | undefined) => (text ?? "").split("BEGIN CERTIFICATE").length - 1

describe("a TrustBundle", () => {
  test("is in every selected namespace, also in one that is new, and in no other", async () => {
    const one = openTrustBundle(inline({ namespaceSelector: { matchLabels: { trust: "yes" } } }))
    one.namespace("a", { trust: "yes" })
    one.namespace("b")
    await one.look()
    expect(one.conditions()).toEqual(["Ready=True BundlePublished"])
    expect(one.status()).toMatchObject({ namespacesSelected: 1, namespacesInSync: 1, certificates: 1, expired: 0 })
    expect([one.configMap("a/ca"), one.configMap("b/ca")]).toEqual([pem(0), undefined])
    expect(one.storeOf(configMaps).get("a/ca")?.metadata).toMatchObject({
      labels: { [one.managedLabel]: "true" },
      ownerReferences: [{ kind: "TrustBundle", name: "internal", controller: true }],
    })
    one.namespace("b", { trust: "yes" })
    one.namespace("a")
    await one.look()
    expect([one.configMap("a/ca"), one.configMap("b/ca")]).toEqual([undefined, pem(0)])
    one.writes.splice(0)
    await one.look()
    expect(one.writes).toEqual([])
  })

  test("is restored after another writer changed or deleted it, and leaves namespaces under deletion alone", async () => {
    const one = openTrustBundle(inline())
    one.namespace("a")
    one.set(namespaces, { metadata: { name: "ending", deletionTimestamp: "2026-01-01T00:00:00Z" } })
    await one.look()
    expect(one.status()["namespacesSelected"]).toBe(1)
    const written = one.storeOf(configMaps).get("a/ca")!
    one.set(configMaps, { ...written, data: { "ca.crt": "other" } })
    await one.look()
    expect(one.configMap("a/ca")).toBe(pem(0))
    one.storeOf(configMaps).delete("a/ca")
    await one.look()
    expect(one.configMap("a/ca")).toBe(pem(0))
  })

  test("is also in a Secret, and moves when the target is renamed", async () => {
    const one = openTrustBundle(inline({ configMap: { name: "ca", key: "bundle.pem" }, secret: { name: "ca" } }))
    one.namespace("a")
    await one.look()
    expect([one.configMap("a/ca", "bundle.pem"), one.secret("a/ca")]).toEqual([pem(0), pem(0)])
    one.edit({ target: { configMap: { name: "trust" } } })
    await one.look()
    expect([one.configMap("a/trust"), one.configMap("a/ca"), one.secret("a/ca")]).toEqual([
      pem(0),
      undefined,
      undefined,
    ])
  })

  test("never overwrites an object of another owner, and names the namespace", async () => {
    const one = openTrustBundle(inline({ secret: { name: "ca" } }))
    for (const name of ["a", "b", "c"]) one.namespace(name)
    one.foreign(configMaps, "b/ca", { "ca.crt": "own" })
    one.set(secrets, {
      metadata: { name: "ca", namespace: "c", annotations: { "chancery.dev/trust-bundle": "other" } },
      data: {},
    })
    const { againAfterMs } = await one.look()
    expect(one.conditions()).toEqual(["Ready=False ConfigMapConflict", "Stalled=True ConfigMapConflict"])
    expect(one.message()).toContain(
      "2 of 3 namespaces do not have the bundle. b: The ConfigMap ca already exists and does not",
    )
    expect(one.message()).toContain("c: The Secret ca already exists and belongs to the TrustBundle other")
    expect(one.status()).toMatchObject({
      namespacesInSync: 1,
      failures: [{ namespace: "b" }, { namespace: "c" }],
    })
    expect(one.foreignData(configMaps, "b/ca")).toEqual({ "ca.crt": "own" })
    expect([one.configMap("a/ca"), one.configMap("c/ca")]).toEqual([pem(0), pem(0)])
    expect(againAfterMs).toBe(60_000)
  })

  test("reports rejections of the API server, at most 20 of them, and ignores a namespace that is gone", async () => {
    const one = openTrustBundle(inline())
    for (let index = 10; index < 40; index += 1) one.namespace(`n${index}`)
    one.namespace("gone")
    one.namespace("ending")
    one.reject((_resource, key) => {
      if (key.startsWith("gone")) return new ApiError(404, "NotFound", 'namespaces "gone" not found')
      if (key.startsWith("ending")) return new ApiError(403, "Forbidden", "namespace ending is being terminated")
      return key === "n10/ca" ? undefined : new ApiError(403, "Forbidden", "exceeded quota")
    })
    await one.look()
    expect(one.conditions()[0]).toBe("Ready=False ConfigMapRejected")
    expect(one.message()).toMatch(
      /^29 of 32 .* n11: The API server rejects the ConfigMap ca: exceeded quota.* And 24 more\.$/,
    )
    expect(one.status()["failures"]).toHaveLength(20)
  })

  test("has the root of issuers, and after a change both roots until the overlap is over", async () => {
    const one = openTrustBundle({
      sources: [{ issuerRef: { name: "ca" } }, { issuerRef: { kind: "Issuer", namespace: "shop", name: "ca" } }],
      target: { configMap: { name: "ca" } },
      overlap: "2h",
    })
    one.namespace("a")
    one.issuer(clusterIssuer, "ca", pem(0))
    await one.look()
    expect(one.conditions()).toEqual(["Ready=False IssuerMissing", "Stalled=True IssuerMissing"])
    one.issuer(issuer, "shop/ca")
    await one.look()
    expect(one.conditions()).toEqual(["Ready=False IssuerNotReady", "Reconciling=True IssuerNotReady"])
    expect(one.configMap("a/ca")).toBeUndefined()
    one.issuer(issuer, "shop/ca", pem(0))
    await one.look()
    expect(one.configMap("a/ca")).toBe(pem(0))

    one.issuer(clusterIssuer, "ca", pem(1))
    one.issuer(issuer, "shop/ca", pem(1))
    const { againAfterMs } = await one.look()
    expect(count(one.configMap("a/ca"))).toBe(2)
    expect(againAfterMs).toBe(600_000)
    expect(one.events).toMatchObject([{ reason: "BundleChanged" }])
    one.pass(hourMs + 59 * 60_000)
    expect((await one.look()).againAfterMs).toBe(60_000)
    expect(count(one.configMap("a/ca"))).toBe(2)
    one.pass(60_000)
    await one.look()
    expect(one.configMap("a/ca")).toBe(pem(1))
  })

  test("keeps a former root while a Certificate of the issuer has it", async () => {
    const one = openTrustBundle({
      sources: [{ issuerRef: { name: "ca" } }],
      target: { configMap: { name: "ca" } },
      overlap: "1h",
    })
    one.namespace("a")
    one.issuer(clusterIssuer, "ca", pem(0))
    await one.look()
    one.set(certificate, {
      metadata: { name: "web", namespace: "a" },
      spec: { secretName: "web-tls", issuerRef: { kind: "ClusterIssuer", name: "ca" } },
    })
    const secret = (text: string) =>
      one.set(secrets, {
        metadata: { name: "web-tls", namespace: "a" },
        data: { "ca.crt": Buffer.from(text).toString("base64") },
      })
    secret(pem(0))
    one.issuer(clusterIssuer, "ca", pem(1))
    await one.look()
    one.pass(2 * hourMs)
    await one.look()
    expect(count(one.configMap("a/ca"))).toBe(2)
    secret(pem(1))
    await one.look()
    expect(one.configMap("a/ca")).toBe(pem(1))
  })

  test("reads a ConfigMap of the operator's namespace, and keeps the former bundle while a source is missing or invalid", async () => {
    const one = openTrustBundle({
      sources: [{ pem: pem(0) }, { configMapKeyRef: { name: "extra", key: "pem" } }],
      target: { configMap: { name: "ca" } },
    })
    one.namespace("a")
    one.foreign(configMaps, "own/extra", { pem: pem(1) })
    await one.look()
    expect(count(one.configMap("a/ca"))).toBe(2)
    const cases = [
      [{ pem: "-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----" }, "SourceInvalid", /private key/],
      [{ pem: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----" }, "SourceInvalid", /cannot be read/],
      [{}, "ConfigMapKeyMissing", /has no key pem/],
    ] as const
    for (const [data, reason, message] of cases) {
      one.foreign(configMaps, "own/extra", data)
      await one.look()
      expect(one.conditions()).toEqual([`Ready=False ${reason}`, `Stalled=True ${reason}`])
      expect(one.message()).toMatch(message)
      expect(count(one.configMap("a/ca"))).toBe(2)
    }
  })

  test("drops a certificate when it expires, and is not emptied", async () => {
    const one = openTrustBundle({ sources: [{ pem: pem(0) + pem(3) }], target: { configMap: { name: "ca" } } })
    one.namespace("a")
    await one.look()
    expect(one.status()).toMatchObject({ certificates: 2, notAfter: expect.stringMatching(/^2026-01-1/) as string })
    one.pass(11 * dayMs)
    await one.look()
    expect(one.status()).toMatchObject({ certificates: 1, expired: 1 })
    expect(one.configMap("a/ca")).toBe(pem(0))
    one.edit({ sources: [{ pem: pem(3) }] })
    await one.look()
    expect(one.conditions()).toEqual(["Ready=False BundleEmpty", "Stalled=True BundleEmpty"])
    expect(one.configMap("a/ca")).toBe(pem(0))
  })
})
