// Lifecycles of certificates over a real engine, without Pulumi and with a manual clock.
import { X509Certificate } from "node:crypto"
import { type Engine, EngineError } from "@chancery/engine"
import { systemRuntime } from "@chancery/engine/declared"
import { manualClock, type ManualClock, openTestEngine, type TestEngine } from "@chancery/testing"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { explain } from "../dynamic/explain.ts"
import { lifecyclesBy } from "./kinds.ts"
import type { Defaults } from "./lifecycle.ts"

const nothing = new Set<string>()
const defaults: Defaults = { deletionPolicy: "retain", tagBindings: {} }
const hourMs = 3_600_000
const __marker = "pulumi:acme/site/prod/web"

let clock: ManualClock
let world: TestEngine
let engine: Engine
let kinds: ReturnType<typeof lifecyclesBy>
beforeEach(async () => {
  clock = manualClock(Date.UTC(2026, 5, 1))
  world = await openTestEngine({ runtime: { ...systemRuntime(), clock } })
  engine = world.engine
  kinds = lifecyclesBy(clock)
  await engine.mounts.create({ path: "pki", config: { maxLeaseTtlMs: 8_760 * hourMs } })
  const { issuers, roles } = engine.pki("pki")
  await issuers.generateRoot({ commonName: "Root", keyType: "ec", issuerName: "root", ttlMs: 8_000 * hourMs })
  await roles.save("web", { allowAnyName: true, keyType: "ec", ttlMs: 24 * hourMs })
})
afterEach(() => world[Symbol.asyncDispose]())

const serials = async () => (await engine.pki("pki").certificates.search({ role: "web" })).items
const stateOf = async (serialNumber: unknown) =>
  (await engine.pki("pki").certificates.get(String(serialNumber))).revokedAt === null ? "valid" : "revoked"
const wrongOf = (work: Promise<unknown>) => work.catch((error: unknown) => error)

/** Returns the engine with the next `count` answers about issuance lost. */
function losing(count: number, instead?: Partial<Record<string, unknown>>): Engine {
  let left = count
  const lossy =
    (method: (...args: never[]) => Promise<unknown>) =>
    async (...args: never[]) => {
      const answer = await method(...args)
      left -= 1
      if (left >= 0) throw new EngineError("unavailable", "sent no complete response")
      return answer
    }
  const pki = (path: string) => {
    const { certificates, issuers, revocations } = engine.pki(path)
    const over = (names: readonly string[]) =>
      new Proxy(certificates, {
        get(target, name) {
          const method = Reflect.get(target, name, target) as (...args: never[]) => Promise<unknown>
          if (instead !== undefined && Object.hasOwn(instead, name)) return instead[name as string]
          return names.includes(String(name)) ? lossy(method.bind(target)) : method.bind(target)
        },
      })
    const revoke = instead?.["revoke"] ?? revocations.revoke.bind(revocations)
    return { certificates: over(["issue", "sign", "signVerbatim"]), issuers, revocations: { revoke } }
  }
  return new Proxy(engine, { get: (target, name) => (name === "pki" ? pki : Reflect.get(target, name, target)) })
}

describe("a certificate", () => {
  const news = { mount: "pki", role: "web", commonName: "api.example.com", altNames: ["b.test", "a.test"], __marker }

  test("is issued with a new key, and has no difference afterwards", async () => {
    const { id, state } = await kinds.pkiCertificate.create(engine, news)
    expect(id).toBe(`pki/${String(state["serialNumber"])}`)
    const certificate = new X509Certificate(String(state["certificate"]))
    expect(certificate.subjectAltName).toBe("DNS:api.example.com, DNS:b.test, DNS:a.test")
    expect(certificate.verify(new X509Certificate(String(state["issuingCa"])).publicKey)).toBe(true)
    expect(state).toMatchObject({
      privateKey: expect.stringMatching(/^-----BEGIN EC PRIVATE KEY/),
      privateKeyType: "ec",
      expiration: "2026-06-01T23:59:59.000Z",
      revokedAt: null,
    })
    const same = { ...news, altNames: ["a.test", "b.test"] }
    expect(kinds.pkiCertificate.diff(state, same, nothing)).toMatchObject({ changed: [], isUnasked: false })
    expect(await kinds.pkiCertificate.read(engine, id, state)).toEqual({ state, inputs: news })
  })

  test.each([
    { commonName: "b.example.com" },
    { ttl: "1h" },
    { altNames: undefined },
    { keyType: "rsa" },
    { format: "der" },
    { role: "other" },
  ])("is replaced with %o, and the new one is created first", async (change) => {
    const { state } = await kinds.pkiCertificate.create(engine, news)
    const [name = ""] = Object.keys(change)
    expect(kinds.pkiCertificate.diff(state, { ...news, ...change }, nothing)).toEqual({
      changed: [name],
      replaces: [name],
      deleteBeforeReplace: false,
      isUnasked: false,
    })
  })

  test.each([{ renewBefore: "1h" }, { onDestroy: "revoke" }])("is not replaced with %o", async (change) => {
    const { id, state } = await kinds.pkiCertificate.create(engine, news)
    const [name = ""] = Object.keys(change)
    const wanted = { ...news, ...change }
    expect(kinds.pkiCertificate.diff(state, wanted, nothing)).toMatchObject({ changed: [name], replaces: [] })
    const updated = await kinds.pkiCertificate.update(engine, id, state, wanted)
    expect(kinds.pkiCertificate.diff(updated, wanted, nothing).changed).toEqual([])
    const { __managed, ...kept } = state
    expect(updated).toMatchObject({ ...kept, ...change })
    expect(kinds.pkiCertificate.diff(updated, news, nothing)).toMatchObject({ changed: [name], replaces: [] })
    expect(await kinds.pkiCertificate.update(engine, id, updated, news)).toEqual({ ...kept, __managed })
  })

  test("is due for renewal exactly renewBefore ahead of its expiry", async () => {
    const renewed = { ...news, ttl: "10h", renewBefore: "3h" }
    const { state } = await kinds.pkiCertificate.create(engine, renewed)
    clock.advance(7 * hourMs - 2_000)
    expect(kinds.pkiCertificate.diff(state, renewed, nothing).changed).toEqual([])
    clock.advance(2_000)
    expect(kinds.pkiCertificate.diff(state, renewed, nothing)).toEqual({
      changed: ["expiration"],
      replaces: ["expiration"],
      deleteBeforeReplace: false,
      isUnasked: true,
    })
    expect(kinds.pkiCertificate.diff(state, { ...news, ttl: "10h" }, nothing).replaces).toEqual([])
  })

  test("is replaced after another client revoked it", async () => {
    const { id, state } = await kinds.pkiCertificate.create(engine, news)
    await engine.pki("pki").revocations.revoke({ serialNumber: String(state["serialNumber"]) })
    const read = (await kinds.pkiCertificate.read(engine, id, state))?.state ?? {}
    expect(read).toMatchObject({ revokedAt: "2026-06-01T00:00:00.000Z", privateKey: state["privateKey"] })
    expect(kinds.pkiCertificate.diff(read, news, nothing)).toMatchObject({ replaces: ["revokedAt"], isUnasked: true })
  })

  test.each([
    { onDestroy: undefined, left: "valid" },
    { onDestroy: "retain", left: "valid" },
    { onDestroy: "revoke", left: "revoked" },
    { onDestroy: "revokeWithKey", left: "revoked" },
  ])("is $left after its deletion with $onDestroy, for any configured policy", async ({ onDestroy, left }) => {
    const { id, state } = await kinds.pkiCertificate.create(engine, { ...news, format: "der", onDestroy })
    await kinds.pkiCertificate.delete(engine, id, state, defaults)
    await kinds.pkiCertificate.delete(engine, id, state, defaults)
    expect(await stateOf(state["serialNumber"])).toBe(left)
  })

  test("is not revoked after its expiry or without its mount", async () => {
    const short = { ...news, ttl: "1h", onDestroy: "revoke" }
    const { id, state } = await kinds.pkiCertificate.create(engine, short)
    clock.advance(2 * hourMs)
    await kinds.pkiCertificate.delete(engine, id, state, defaults)
    expect(await stateOf(state["serialNumber"])).toBe("valid")
    clock.advance(-2 * hourMs)
    await engine.mounts.delete("pki")
    await expect(kinds.pkiCertificate.delete(engine, id, state, defaults)).resolves.toBeUndefined()
    expect(await kinds.pkiCertificate.read(engine, id, state)).toBeUndefined()
  })

  test.each(["pem", "der", "pem_bundle"])(
    "that the mount does not store is read from its state: %s",
    async (format) => {
      await engine.pki("pki").roles.update("web", { noStore: true, noStoreMetadata: true })
      const { id, state } = await kinds.pkiCertificate.create(engine, { ...news, format, onDestroy: "revokeWithKey" })
      expect((await kinds.pkiCertificate.read(engine, id, state))?.state).toEqual(state)
      expect(await kinds.pkiCertificate.read(engine, id, {})).toBeUndefined()
      await kinds.pkiCertificate.delete(engine, id, state, defaults)
      expect(await stateOf(state["serialNumber"])).toBe("revoked")
    },
  )

  test.each([
    { format: "pem", privateKeyFormat: "pkcs8", certificate: /^-----BEGIN C/, key: /^-----BEGIN PRIVATE KEY/ },
    { format: "der", privateKeyFormat: "der", certificate: /^MII/, key: /^MH/ },
    { format: "der", privateKeyFormat: "pkcs8", certificate: /^MII/, key: /^-----BEGIN PRIVATE KEY/ },
    {
      format: "pem_bundle",
      privateKeyFormat: "pkcs8",
      certificate:
        /^-----BEGIN EC PRIVATE KEY-----[^-]+-----END EC PRIVATE KEY-----\n-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----$/,
      key: /^-----BEGIN PRIVATE KEY/,
    },
  ])("is returned as $format, its key as $privateKeyFormat", async ({ certificate, key, ...formats }) => {
    const { state } = await kinds.pkiCertificate.create(engine, { ...news, ...formats })
    expect([state["certificate"], state["privateKey"]]).toEqual([
      expect.stringMatching(certificate),
      expect.stringMatching(key),
    ])
  })

  test("has the creation id as metadata, unless it declares metadata or the role stores none", async () => {
    const { certificates } = engine.pki("pki")
    const metadataOf = async (more: object) => {
      const { state } = await kinds.pkiCertificate.create(engine, { ...news, ...more })
      const found = await certificates.metadata(String(state["serialNumber"])).catch(() => undefined)
      return found && Buffer.from(found.metadata, "base64").toString()
    }
    expect(await metadataOf({})).toMatch(/^pulumi:acme\/site\/prod\/web 2026-06-01 [0-9a-f]{16}$/)
    expect(await metadataOf({ certMetadata: Buffer.from("ours").toString("base64") })).toBe("ours")
    await engine.pki("pki").roles.update("web", { noStoreMetadata: true })
    expect(await metadataOf({})).toBeUndefined()
  })

  test("whose response is lost is revoked, because its key is lost, and another one is issued", async () => {
    const { state } = await kinds.pkiCertificate.create(losing(1), news)
    const items = await serials()
    expect(items.map(({ status }) => status).toSorted()).toEqual(["revoked", "valid"])
    expect(items.find(({ status }) => status === "valid")?.serialNumber).toBe(state["serialNumber"])
  })

  test("that was not recorded before the process ended is revoked by the next run", async () => {
    const { state: unheard } = await kinds.pkiCertificate.create(engine, news)
    clock.advance(23 * hourMs)
    const { state } = await kinds.pkiCertificate.create(engine, news)
    expect(state["serialNumber"]).not.toBe(unheard["serialNumber"])
    expect([await stateOf(unheard["serialNumber"]), await stateOf(state["serialNumber"])]).toEqual(["revoked", "valid"])
  })

  test.each<{ why: string; more?: object; days?: number; isRecorded?: true }>([
    { why: "is in a state", isRecorded: true },
    { why: "was requested with other arguments", more: { ttl: "9h" } },
    { why: "was requested by another declaration", more: { __marker: `${__marker}2` } },
    { why: "is older than a day", days: 2 },
  ])("that $why is not revoked for another one", async ({ more = {}, days = 0, isRecorded = false }) => {
    const first = await kinds.pkiCertificate.create(engine, { ...news, ttl: "90h", ...more })
    clock.advance(days * 24 * hourMs)
    const recorded = new Set(isRecorded ? [first.id] : [])
    await kinds.pkiCertificate.create(engine, { ...news, ttl: "90h" }, recorded)
    expect(await stateOf(first.state["serialNumber"])).toBe("valid")
  })

  test.each(["search", "revoke"])("is issued again also without permission to %s", async (right) => {
    await kinds.pkiCertificate.create(engine, news)
    const forbidden = () => Promise.reject(new EngineError("forbidden", "no policy allows it"))
    const restricted = losing(0, { [right]: forbidden })
    await kinds.pkiCertificate.create(restricted, news)
    expect((await serials()).map(({ status }) => status)).toEqual(["valid", "valid"])
  })

  test("whose response is lost twice, or that cannot be found, is mentioned in the error", async () => {
    const twice = await wrongOf(kinds.pkiCertificate.create(losing(2), news))
    expect(explain(twice, "pkiCertificate", "create")).toMatch(/no complete response.*\n.*issues another/s)
    const forbidden = { search: () => Promise.reject(new EngineError("forbidden", "no policy allows it")) }
    const once = await wrongOf(kinds.pkiCertificate.create(losing(1, forbidden), news))
    expect(explain(once, "pkiCertificate", "create")).toContain(`the metadata "${__marker} 2026-06-01 `)
  })

  test("is rejected with property names, and nothing is issued", async () => {
    await engine.pki("pki").roles.update("web", { allowAnyName: false, notAfterBound: "forbid" })
    const refused = await wrongOf(kinds.pkiCertificate.create(engine, { ...news, notAfter: "2026-07-01T00:00:00Z" }))
    expect(explain(refused, "pkiCertificate", "create")).toMatch(
      /^commonName: common name.*; notAfter: not_after_bound is set to forbid/s,
    )
    expect(await serials()).toEqual([])
  })

  test("[F-P12] with a ttl above the maximum of the role is issued for the maximum, and has no difference afterwards", async () => {
    await engine.pki("pki").roles.update("web", { maxTtlMs: 30 * hourMs })
    const asked = { ...news, ttl: "31h" }
    const { id, state } = await kinds.pkiCertificate.create(engine, asked)
    expect(state["expiration"]).toBe("2026-06-02T05:59:59.000Z")
    expect(kinds.pkiCertificate.diff(state, asked, nothing)).toMatchObject({ changed: [], isUnasked: false })
    expect((await kinds.pkiCertificate.read(engine, id, state))?.inputs).toEqual(asked)
  })

  test("is read by its id alone, without its private key", async () => {
    const { id, state } = await kinds.pkiCertificate.create(engine, news)
    const { certificate, caChain, issuingCa, expiration } = state
    expect((await kinds.pkiCertificate.read(engine, id, {}))?.state).toMatchObject({
      certificate,
      caChain,
      issuingCa,
      expiration,
      privateKey: null,
    })
    await expect(kinds.pkiCertificate.read(engine, "web", {})).rejects.toThrow("MOUNT/SERIAL")
  })

  test("has no deletion policy", () => {
    const { failures } = kinds.pkiCertificate.check({ ...news, deletionPolicy: "force" }, nothing, defaults)
    expect(failures).toEqual([
      { property: "deletionPolicy", reason: "deletionPolicy has no effect on this resource; remove it" },
    ])
  })
})

/** Returns a CSR of an authority in another mount, for a certificate or an intermediate. */
async function requestOf(commonName: string): Promise<string> {
  const mounts = await engine.mounts.list()
  if (!mounts.some(({ path }) => path === "below")) await engine.mounts.create({ path: "below" })
  const { csr } = await engine.pki("below").issuers.generateIntermediate({ commonName, keyType: "ec" })
  return `-----BEGIN CERTIFICATE REQUEST-----\n${Buffer.from(csr).toString("base64")}\n-----END CERTIFICATE REQUEST-----`
}

describe("a signed certificate", () => {
  const news = async () => ({
    mount: "pki",
    role: "web",
    commonName: "api.test",
    csr: await requestOf("api.test"),
    __marker,
  })

  test("is for the key of the CSR, whose white space is ignored", async () => {
    const declared = await news()
    const { id, state } = await kinds.pkiSignedCertificate.create(engine, declared)
    expect(new X509Certificate(String(state["certificate"])).subject).toBe("CN=api.test")
    expect(state).not.toHaveProperty("privateKey")
    const reworded = { ...declared, csr: `${declared.csr}\n` }
    expect(kinds.pkiSignedCertificate.diff(state, reworded, nothing).changed).toEqual([])
    expect(await kinds.pkiSignedCertificate.read(engine, id, state)).toEqual({ state, inputs: declared })
    const other = { ...declared, csr: await requestOf("api.test") }
    expect(kinds.pkiSignedCertificate.diff(state, other, nothing).replaces).toEqual(["csr"])
  })

  test("has the content of the CSR with verbatim", async () => {
    const { mount, csr } = await news()
    const verbatim = { mount, csr, verbatim: true, extKeyUsages: ["ServerAuth"], ttl: "1h", onDestroy: "revoke" }
    const { id, state } = await kinds.pkiSignedCertificate.create(engine, verbatim)
    const certificate = new X509Certificate(String(state["certificate"]))
    expect([certificate.subject, certificate.keyUsage]).toEqual(["CN=api.test", ["1.3.6.1.5.5.7.3.1"]])
    await kinds.pkiSignedCertificate.delete(engine, id, state, defaults)
    expect(await stateOf(state["serialNumber"])).toBe("revoked")
  })

  test("whose response is lost is found again, and is the only one", async () => {
    const { state } = await kinds.pkiSignedCertificate.create(losing(1), await news())
    expect((await serials()).map(({ serialNumber, status }) => [serialNumber, status])).toEqual([
      [state["serialNumber"], "valid"],
    ])
    expect(state["caChain"]).toEqual([state["issuingCa"]])
  })

  test("that was not recorded before the process ended is adopted by the next run", async () => {
    const declared = await news()
    const first = await kinds.pkiSignedCertificate.create(engine, declared)
    expect(await kinds.pkiSignedCertificate.create(engine, declared)).toEqual(first)
    const another = await kinds.pkiSignedCertificate.create(engine, declared, new Set([first.id]))
    expect(another.id).not.toBe(first.id)
    expect(await serials()).toHaveLength(2)
  })
})

test("an intermediate certificate is signed for a CSR", async () => {
  const csr = await requestOf("Issuing CA")
  const news = { mount: "pki", csr, commonName: "Issuing CA", organizations: ["Acme"], maxPathLength: 0, ttl: "1000h" }
  const { id, state } = await kinds.pkiIntermediate.create(engine, news)
  const certificate = new X509Certificate(String(state["certificate"]))
  expect([certificate.ca, certificate.subject]).toEqual([true, "O=Acme\nCN=Issuing CA"])
  expect(kinds.pkiIntermediate.diff(state, { ...news, mount: "pki/", ttl: "60000m" }, nothing).changed).toEqual([])
  expect(await kinds.pkiIntermediate.read(engine, id, state)).toMatchObject({ state, inputs: news })
  expect((await engine.pki("below").issuers.import(String(state["certificate"]))).importedIssuers).toHaveLength(1)
})

describe("a revocation", () => {
  const issued = async () =>
    (await kinds.pkiCertificate.create(engine, { mount: "pki", role: "web", commonName: "api.test" })).state

  test.each(["serialNumber", "certificate"])(
    "by %s is created once, and stays after its removal from the program",
    async (by) => {
      const state = await issued()
      const news = { mount: "pki", [by]: state[by], reason: "keyCompromise" }
      const made = await kinds.pkiRevocation.create(engine, news)
      expect(made.id).toBe(`pki/${String(state["serialNumber"])}`)
      expect(made.state).toMatchObject({ revokedAt: "2026-06-01T00:00:00.000Z", reason: "keyCompromise" })
      expect(kinds.pkiRevocation.diff(made.state, news, nothing).changed).toEqual([])
      expect(await kinds.pkiRevocation.read(engine, made.id, made.state)).toEqual({ state: made.state, inputs: news })
      clock.advance(hourMs)
      expect((await kinds.pkiRevocation.create(engine, news)).state).toEqual(made.state)
      await kinds.pkiRevocation.delete(engine, made.id, made.state, defaults)
      expect(await stateOf(state["serialNumber"])).toBe("revoked")
    },
  )

  test("is replaced for another certificate", async () => {
    const [one, other] = [await issued(), await issued()]
    const { state } = await kinds.pkiRevocation.create(engine, { mount: "pki", certificate: one["certificate"] })
    const { certificate } = other
    expect(kinds.pkiRevocation.diff(state, { mount: "pki", certificate }, nothing).replaces).toEqual(["certificate"])
    const dashed = { mount: "pki", serialNumber: String(one["serialNumber"]).replaceAll(":", "-").toUpperCase() }
    expect(kinds.pkiRevocation.diff(state, dashed, nothing).changed).toEqual([])
  })

  test("keeps its first reason", async () => {
    const { serialNumber } = await issued()
    const news = { mount: "pki", serialNumber }
    const { id, state } = await kinds.pkiRevocation.create(engine, news)
    const reasoned = { ...news, reason: "keyCompromise" }
    expect(kinds.pkiRevocation.diff(state, reasoned, nothing)).toMatchObject({ changed: ["reason"], replaces: [] })
    await expect(kinds.pkiRevocation.update(engine, id, state, reasoned)).rejects.toThrow(
      "reason of a revocation cannot be changed",
    )
  })

  test("by private key stores no key in the state, and rejects another key", async () => {
    const [one, other] = [await issued(), await issued()]
    const news = { mount: "pki", certificate: one["certificate"], privateKey: one["privateKey"] }
    const wrong = { ...news, privateKey: other["privateKey"] }
    expect(kinds.pkiRevocation.check(wrong, nothing, defaults).failures).toMatchObject([
      { property: "", reason: expect.stringContaining("privateKey") },
    ])
    const { state } = await kinds.pkiRevocation.create(engine, news)
    expect(JSON.stringify(state)).not.toContain("PRIVATE KEY")
    expect(kinds.pkiRevocation.diff(state, news, nothing).changed).toEqual([])
    expect(kinds.pkiRevocation.diff(state, { ...news, privateKey: undefined }, nothing).changed).toEqual([])
  })

  test("of an unknown certificate is rejected", async () => {
    const refused = await wrongOf(kinds.pkiRevocation.create(engine, { mount: "pki", serialNumber: "01:02" }))
    expect(explain(refused, "pkiRevocation", "create")).toMatch(/not found/)
  })
})
