// Lifecycles of issuers over a real engine, without Pulumi.
import { X509Certificate } from "node:crypto"
import { type Engine, EngineError } from "@chancery/engine"
import { openTestEngine, type TestEngine } from "@chancery/testing"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { foreignRoot } from "../../../engine/testing/issuing-mount.ts"
import { explain } from "../dynamic/explain.ts"
import { lifecycles } from "./kinds.ts"
import { type Defaults, type Kept, Unfinished } from "./lifecycle.ts"

const { pkiIssuer, pkiCertificate } = lifecycles
const nothing = new Set<string>()
const defaults: Defaults = { deletionPolicy: "safe", tagBindings: {} }
const yearMs = 365 * 86_400_000

let world: TestEngine
let engine: Engine
beforeEach(async () => {
  world = await openTestEngine()
  engine = world.engine
  for (const path of ["root", "pki"]) await engine.mounts.create({ path, config: { maxLeaseTtlMs: 10 * yearMs } })
})
afterEach(() => world[Symbol.asyncDispose]())

const root = { mount: "root", name: "root", kind: "root", commonName: "Root", organizations: ["Acme"], keyType: "ec" }
const issuing = { mount: "pki", name: "issuing", kind: "intermediate", commonName: "Issuing CA", keyType: "ec" }
const signedHere = { ...issuing, parentMount: "root", parentIssuerRef: "root", ttl: "8760h", maxPathLength: 0 }

const namesIn = async (mount: string) => ({
  issuers: (await engine.pki(mount).issuers.list()).map(({ name }) => name),
  keys: (await engine.pki(mount).keys.list()).map(({ name }) => name),
})
const empty = { issuers: [], keys: [] }
const certificateOf = (state: Kept["state"]) => new X509Certificate(String(state["certificate"]))
const wrongOf = (work: Promise<unknown>) => work.catch((error: unknown) => error)
const refusalOf = async (work: Promise<unknown>) => explain(await wrongOf(work), "pkiIssuer", "create")

async function issueBy(mount: string): Promise<void> {
  await engine.pki(mount).roles.save("web", { allowAnyName: true, keyType: "ec", ttlMs: 3_600_000 })
  await pkiCertificate.create(engine, { mount, role: "web", commonName: "www.test" })
}

/** Returns the engine with `spoil` around each method of its issuers and certificates. */
function spoiled(spoil: (name: string, work: () => Promise<unknown>) => Promise<unknown>): Engine {
  const family = (target: object) =>
    new Proxy(target, {
      get(inner, name) {
        const method = Reflect.get(inner, name, inner) as (...args: unknown[]) => Promise<unknown>
        return (...args: unknown[]) => spoil(String(name), () => method.apply(inner, args))
      },
    })
  const pki = (path: string) => {
    const { issuers, certificates, keys, settings, revocations } = engine.pki(path)
    return { issuers: family(issuers), certificates: family(certificates), keys, settings, revocations }
  }
  return new Proxy(engine, { get: (target, name) => (name === "pki" ? pki : Reflect.get(target, name, target)) })
}

/** Returns the engine with the first answer of one method lost. */
function losing(lost: string): Engine {
  let isLost = false
  return spoiled(async (name, work) => {
    const answer = await work()
    if (name !== lost || isLost) return answer
    isLost = true
    throw new EngineError("unavailable", "sent no complete response")
  })
}

describe("a root", () => {
  test("has no difference after its creation and after a read", async () => {
    const { id, state } = await pkiIssuer.create(engine, root)
    expect(id).toBe(`root/${String(state["issuerId"])}`)
    expect(certificateOf(state).subject).toBe("O=Acme\nCN=Root")
    expect(state).toMatchObject({ name: "root", keyName: "root", isDefault: true, csr: null, adopted: false })
    expect(pkiIssuer.diff(state, { ...root, mount: "root/" }, nothing)).toMatchObject({ changed: [], isUnasked: false })
    expect(await pkiIssuer.read(engine, id, state)).toEqual({ state, inputs: root })
    expect(JSON.stringify(state)).not.toContain("PRIVATE KEY")
  })

  test.each([
    { change: { commonName: "Root 2" }, removeFirst: true },
    { change: { keyType: "ed25519" }, removeFirst: true },
    { change: { organizations: undefined }, removeFirst: true },
    { change: { ttl: "100h" }, removeFirst: true },
    { change: { commonName: "Root 2", name: "root-2" }, removeFirst: false },
    { change: { mount: "pki" }, removeFirst: false },
  ])("is replaced with $change, after its deletion: $removeFirst", async ({ change, removeFirst }) => {
    const { state } = await pkiIssuer.create(engine, root)
    const [name = ""] = Object.keys(change)
    const found = pkiIssuer.diff(state, { ...root, ...change }, nothing)
    expect(found).toMatchObject({ replaces: [name], deleteBeforeReplace: removeFirst })
  })

  test("is renamed and updated in place, and keeps undeclared settings of other clients", async () => {
    const { id, state } = await pkiIssuer.create(engine, { ...root, ocspServers: ["http://ocsp.test/"] })
    await engine.pki("root").issuers.update("root", { crlDistributionPoints: ["http://theirs.test/"] })
    const read = (await pkiIssuer.read(engine, id, state))?.state ?? {}
    const wanted = {
      ...root,
      name: "root-2026",
      keyName: "old",
      leafNotAfterBehavior: "truncate",
      usage: ["crl-signing"],
    }
    const { changed, replaces } = pkiIssuer.diff(read, wanted, nothing)
    expect(changed.toSorted()).toEqual(["keyName", "leafNotAfterBehavior", "name", "ocspServers", "usage"])
    expect(replaces).toEqual([])
    const updated = await pkiIssuer.update(engine, id, read, wanted)
    expect(pkiIssuer.diff(updated, wanted, nothing).changed).toEqual([])
    expect(await engine.pki("root").issuers.get("root-2026")).toMatchObject({
      id: state["issuerId"],
      settings: {
        leafNotAfterBehavior: "truncate",
        usage: ["read-only", "crl-signing"],
        urls: { crlDistributionPoints: ["http://theirs.test/"], ocspServers: [] },
      },
    })
    expect(await namesIn("root")).toEqual({ issuers: ["root-2026"], keys: ["old"] })
  })

  test("becomes the default issuer again if it is declared as such", async () => {
    const { id, state } = await pkiIssuer.create(engine, { ...root, isDefault: true })
    const other = await engine.pki("root").issuers.generateRoot({ commonName: "Other", keyType: "ec" })
    await engine.pki("root").settings.changeIssuers({ default: other.issuerId })
    const read = (await pkiIssuer.read(engine, id, state))?.state ?? {}
    expect(pkiIssuer.diff(read, { ...root, isDefault: false }, nothing).changed).toEqual([])
    expect(pkiIssuer.diff(read, { ...root, isDefault: true }, nothing).changed).toEqual(["isDefault"])
    await pkiIssuer.update(engine, id, read, { ...root, isDefault: true })
    expect((await engine.pki("root").settings.issuers()).default).toBe(state["issuerId"])
  })

  test("is created once when the response to its creation is lost, or the process ends", async () => {
    const { state } = await pkiIssuer.create(losing("generateRoot"), root)
    expect((await pkiIssuer.create(engine, root)).state).toEqual(state)
    expect(await namesIn("root")).toEqual({ issuers: ["root"], keys: ["root"] })
  })

  test("of another client is taken over only with adopt, and retained at the end", async () => {
    await engine.pki("root").issuers.generateRoot({
      commonName: "Root",
      organization: ["Acme"],
      keyType: "ec",
      issuerName: "root",
    })
    await issueBy("root")
    expect(await refusalOf(pkiIssuer.create(engine, root))).toMatch(/has issued certificates.*\n.*adopt: true/s)
    const { id, state } = await pkiIssuer.create(engine, { ...root, adopt: true, leafNotAfterBehavior: "permit" })
    expect(state).toMatchObject({ adopted: true, leafNotAfterBehavior: "permit" })
    await pkiIssuer.delete(engine, id, state, defaults)
    expect((await namesIn("root")).issuers).toEqual(["root"])
  })

  test.each([{ commonName: "Another" }, { keyType: "ed25519" }, { kind: "intermediate" }])(
    "is not adopted from an issuer that differs in %o, with and without adopt",
    async (other) => {
      await pkiIssuer.create(engine, root)
      const refusal = await refusalOf(pkiIssuer.create(engine, { ...root, ...other, adopt: true }))
      expect(refusal).toMatch(/exists with a different certificate or key/)
    },
  )

  test("is kept while its certificates are valid, unless the deletion is forced, and is deleted with its key", async () => {
    const { id, state } = await pkiIssuer.create(engine, root)
    await issueBy("root")
    const refused = await wrongOf(pkiIssuer.delete(engine, id, state, defaults))
    expect(explain(refused, "pkiIssuer", "delete")).toMatch(/still valid.*deletionPolicy: "force"/s)
    expect(await namesIn("root")).toEqual({ issuers: ["root"], keys: ["root"] })
    await pkiIssuer.delete(engine, id, { ...state, deletionPolicy: "force" }, defaults)
    expect(await namesIn("root")).toEqual(empty)
    await pkiIssuer.delete(engine, id, state, defaults)
    expect(await pkiIssuer.read(engine, id, state)).toBeUndefined()
  })

  test("whose settings are rejected is recorded, and completed by the next update", async () => {
    const wrong = { ...root, revocationSignatureAlgorithm: "SHA256WithRSA" }
    const half = await wrongOf(pkiIssuer.create(engine, wrong))
    expect(half).toBeInstanceOf(Unfinished)
    const { kept } = half as Unfinished
    const right = { ...root, revocationSignatureAlgorithm: "ECDSAWithSHA384" }
    expect(pkiIssuer.diff(kept.state, right, nothing)).toMatchObject({
      changed: ["revocationSignatureAlgorithm"],
      replaces: [],
    })
    expect(await pkiIssuer.update(engine, kept.id, kept.state, right)).toMatchObject(right)
  })
})

describe("an intermediate", () => {
  beforeEach(() => pkiIssuer.create(engine, root))

  test("is signed by an issuer of the engine, with the complete chain", async () => {
    const { id, state } = await pkiIssuer.create(engine, signedHere)
    expect(id).toBe(`pki/${String(state["keyId"])}`)
    const parent = new X509Certificate((await engine.pki("root").issuers.certificate("root")).certificate)
    expect(certificateOf(state).verify(parent.publicKey)).toBe(true)
    expect(state).toMatchObject({ name: "issuing", keyName: "issuing", isDefault: true })
    expect(state["caChain"]).toHaveLength(2)
    expect(pkiIssuer.diff(state, signedHere, nothing).changed).toEqual([])
    expect(await pkiIssuer.read(engine, id, state)).toEqual({ state, inputs: signedHere })
    expect(pkiIssuer.diff(state, { ...signedHere, parentIssuerRef: "other" }, nothing)).toMatchObject({
      replaces: ["parentIssuerRef"],
      deleteBeforeReplace: true,
    })
    await pkiIssuer.delete(engine, id, state, defaults)
    expect(await namesIn("pki")).toEqual(empty)
    const { certificates } = engine.pki("root")
    expect((await certificates.get(String(state["serialNumber"]))).revokedAt).not.toBeNull()
  })

  test("is deleted before its parent in the same mount, which can be deleted then", async () => {
    const parent = await pkiIssuer.create(engine, { ...root, mount: "pki" })
    const { parentMount: _mount, ...beside } = signedHere
    const { id, state } = await pkiIssuer.create(engine, beside)
    const refused = await wrongOf(pkiIssuer.delete(engine, parent.id, parent.state, defaults))
    expect(explain(refused, "pkiIssuer", "delete")).toContain("still valid")
    await pkiIssuer.delete(engine, id, state, defaults)
    await pkiIssuer.delete(engine, parent.id, parent.state, defaults)
    expect(await namesIn("pki")).toEqual(empty)
  })

  test("keeps the root of another issuer's chain until that issuer is deleted", async () => {
    const one = await pkiIssuer.create(engine, signedHere)
    const two = await pkiIssuer.create(engine, { ...signedHere, name: "second", commonName: "Second CA" })
    await pkiIssuer.delete(engine, one.id, one.state, defaults)
    expect(await namesIn("pki")).toEqual({ issuers: [null, "second"], keys: ["second"] })
    await pkiIssuer.delete(engine, two.id, two.state, defaults)
    expect(await namesIn("pki")).toEqual(empty)
  })

  test("waits for its external signature, and keeps its name with the next certificate", async () => {
    const elsewhere = foreignRoot()
    const { id, state } = await pkiIssuer.create(engine, issuing)
    expect(state).toMatchObject({ issuerId: null, certificate: null, csr: expect.stringContaining("REQUEST") })
    expect(pkiIssuer.diff(state, issuing, nothing).changed).toEqual([])
    expect(await pkiIssuer.read(engine, id, state)).toEqual({ state, inputs: issuing })

    const sign = () => [elsewhere.sign(String(state["csr"])), elsewhere.certificate].join("\n")
    const once = { ...issuing, signedCertificate: sign(), ocspServers: ["http://ocsp.test/"], isDefault: true }
    expect(pkiIssuer.diff(state, once, nothing).replaces).toEqual([])
    const signed = await pkiIssuer.update(engine, id, state, once)
    expect(certificateOf(signed).issuer).toBe("CN=Elsewhere")
    expect(pkiIssuer.diff(signed, once, nothing).changed).toEqual([])
    expect(await pkiIssuer.read(engine, id, signed)).toMatchObject({ state: signed })
    await issueBy("pki")

    const again = { ...once, signedCertificate: sign() }
    expect(pkiIssuer.diff(signed, again, nothing)).toMatchObject({ changed: ["signedCertificate"], replaces: [] })
    const renewed = await pkiIssuer.update(engine, id, signed, again)
    expect(renewed).toMatchObject({ name: "issuing", isDefault: true, ocspServers: ["http://ocsp.test/"] })
    expect(renewed["issuerId"]).not.toBe(signed["issuerId"])
    expect(pkiIssuer.diff(renewed, again, nothing).changed).toEqual([])
    expect(await namesIn("pki")).toEqual({ issuers: [null, "issuing"], keys: ["issuing"] })
    await pkiIssuer.delete(engine, id, { ...renewed, deletionPolicy: "force" }, defaults)
    expect(await namesIn("pki")).toEqual(empty)
  })

  test("rejects a certificate for another key", async () => {
    const { id, state } = await pkiIssuer.create(engine, issuing)
    const elsewhere = foreignRoot()
    const other = await engine.pki("root").issuers.generateIntermediate({ commonName: "Other", keyType: "ec" })
    const request = `-----BEGIN CERTIFICATE REQUEST-----\n${Buffer.from(other.csr).toString("base64")}\n-----END CERTIFICATE REQUEST-----`
    const wrong = { ...issuing, signedCertificate: elsewhere.sign(request) }
    const refused = await wrongOf(pkiIssuer.update(engine, id, state, wrong))
    expect(explain(refused, "pkiIssuer", "update")).toMatch(/^signedCertificate: .*different key/)
    expect((await namesIn("pki")).issuers).toEqual([])
  })

  test("whose parent rejects it is recorded with its key, and signed by the next update", async () => {
    const orphan = { ...signedHere, parentIssuerRef: "gone" }
    const half = await wrongOf(pkiIssuer.create(engine, orphan))
    expect(half).toBeInstanceOf(Unfinished)
    const { kept } = half as Unfinished
    expect(kept.state).toMatchObject({ issuerId: null, csr: expect.any(String) })
    expect(pkiIssuer.diff(kept.state, signedHere, nothing)).toMatchObject({ replaces: [] })
    const signed = await pkiIssuer.update(engine, kept.id, kept.state, signedHere)
    expect(pkiIssuer.diff(signed, signedHere, nothing).changed).toEqual([])
    expect(await namesIn("pki")).toMatchObject({ keys: ["issuing"] })
  })

  test("whose settings are rejected repeatedly is signed once", async () => {
    const wrong = { ...signedHere, revocationSignatureAlgorithm: "SHA256WithRSA" }
    const half = await wrongOf(pkiIssuer.create(engine, wrong))
    expect(half).toBeInstanceOf(Unfinished)
    const { kept } = half as Unfinished
    await wrongOf(pkiIssuer.update(engine, kept.id, kept.state, wrong))
    const forgotten = { ...kept.state, issuerId: null, certificate: null }
    await wrongOf(pkiIssuer.update(engine, kept.id, forgotten, wrong))
    const signed = await pkiIssuer.update(engine, kept.id, kept.state, signedHere)
    expect(pkiIssuer.diff(signed, signedHere, nothing).changed).toEqual([])
    const { items } = await engine.pki("root").certificates.search({ name: "Issuing CA" })
    expect(items.map(({ serialNumber }) => serialNumber)).toEqual([signed["serialNumber"]])
  })

  test("continues an interrupted update of its certificate", async () => {
    const elsewhere = foreignRoot()
    const { id, state } = await pkiIssuer.create(engine, issuing)
    const sign = () => elsewhere.sign(String(state["csr"]))
    const signed = await pkiIssuer.update(engine, id, state, { ...issuing, signedCertificate: sign() })
    const again = { ...issuing, signedCertificate: sign() }
    for (const broken of ["import", "update", "delete"])
      await wrongOf(pkiIssuer.update(losing(broken), id, signed, again))
    const renewed = await pkiIssuer.update(engine, id, signed, again)
    expect(pkiIssuer.diff(renewed, again, nothing).changed).toEqual([])
    expect((await namesIn("pki")).issuers).toEqual(["issuing"])
  })

  test.each(["generateIntermediate", "signIntermediate", "import", "update"])(
    "is created once when the response to %s is lost, or the process ends",
    async (lost) => {
      await wrongOf(pkiIssuer.create(losing(lost), signedHere))
      const { state } = await pkiIssuer.create(engine, signedHere).catch(async (error: unknown) => {
        throw new Error(explain(error, "pkiIssuer", "create"))
      })
      expect(pkiIssuer.diff(state, signedHere, nothing).changed).toEqual([])
      const { keys } = await namesIn("pki")
      expect(keys).toEqual(["issuing"])
      expect((await engine.pki("pki").issuers.list()).filter(({ keyId }) => keyId !== null)).toHaveLength(1)
    },
  )

  test("rejects the key of another issuer", async () => {
    await engine.pki("pki").keys.generate({ keyName: "issuing", keyType: "ed25519" })
    expect(await refusalOf(pkiIssuer.create(engine, signedHere))).toMatch(
      /belongs to another issuer or has another type; set keyName/,
    )
  })
})

describe("an imported issuer", () => {
  const elsewhere = foreignRoot()
  const news = {
    mount: "pki",
    name: "theirs",
    kind: "imported",
    bundle: [elsewhere.certificate, elsewhere.key].join("\n"),
  }

  test("is imported with its key, which is not in the state", async () => {
    const { id, state } = await pkiIssuer.create(engine, news)
    expect(certificateOf(state).subject).toBe("CN=Elsewhere")
    expect(JSON.stringify(state)).not.toContain("PRIVATE KEY")
    expect(state).toMatchObject({ name: "theirs", keyId: expect.any(String), isDefault: true })
    expect(pkiIssuer.diff(state, news, nothing).changed).toEqual([])
    expect((await pkiIssuer.read(engine, id, state))?.state).toEqual(state)
    expect((await pkiIssuer.create(engine, news)).id).toBe(id)
    const other = foreignRoot()
    const another = { ...news, bundle: [other.certificate, other.key].join("\n") }
    expect(pkiIssuer.diff(state, another, nothing)).toMatchObject({ replaces: ["bundle"], deleteBeforeReplace: true })
    await pkiIssuer.delete(engine, id, state, defaults)
    expect(await namesIn("pki")).toEqual(empty)
  })

  test("without a key is a trusted certificate", async () => {
    const { id, state } = await pkiIssuer.create(engine, { ...news, bundle: elsewhere.certificate })
    expect(state).toMatchObject({ keyId: null, keyName: null, isDefault: false })
    await pkiIssuer.delete(engine, id, state, defaults)
    expect(await namesIn("pki")).toEqual(empty)
  })
})

test("an issuer of another client that is declared like its certificate has no difference", async () => {
  const { id } = await pkiIssuer.create(engine, { ...root, keyBits: 384 })
  const state = (await pkiIssuer.read(engine, id, { mount: "root", name: "root", kind: "root" }))?.state ?? {}
  const said = { ...state, kind: "root", __managed: ["mount", "name", "kind"] }
  expect(pkiIssuer.diff(said, { ...root, keyBits: 384 }, nothing).changed).toEqual([])
  expect(pkiIssuer.diff(said, { ...root, keyBits: 256 }, nothing).replaces).toEqual(["keyBits"])
})

test("an issuer is undefined without its mount, and is read by its id alone", async () => {
  const { id, state } = await pkiIssuer.create(engine, root)
  const { certificate } = state
  expect((await pkiIssuer.read(engine, id, {}))?.state).toMatchObject({ name: "root", certificate })
  await expect(pkiIssuer.read(engine, "root/root", {})).rejects.toThrow("MOUNT/ISSUER_ID or MOUNT/KEY_ID")
  await engine.mounts.delete("root")
  expect(await pkiIssuer.read(engine, id, state)).toBeUndefined()
  await expect(pkiIssuer.delete(engine, id, state, defaults)).resolves.toBeUndefined()
})
