// Declared certificates and revocations: validation before any request.
import * as fc from "fast-check"
import { beforeAll, describe, expect, test } from "vitest"
import type { Fault } from "../core/errors.ts"
import { dayMs } from "../core/time.ts"
import { certificateRequest } from "../../testing/certificate-requests.ts"
import { testKeyGenerator } from "../../testing/test-keys.ts"
import { openTestEngine } from "../../testing/test-engine.ts"
import { oids } from "../x509/asn1/oids.ts"
import type { Engine } from "../engine.ts"
import type { DeclaredResource, Values } from "./declared-resource.ts"
import { pkiCertificateResource, type PkiCertificateSpec } from "./pki-certificate.ts"
import { pkiIntermediateResource } from "./pki-intermediate.ts"
import { pkiRevocationResource } from "./pki-revocation.ts"
import { pkiSignedCertificateResource } from "./pki-signed-certificate.ts"

const pathsOf = (faults: readonly Fault[]) => [...new Set(faults.map(({ field }) => field?.join(".")))]
const faultsOf = (
  kind: Pick<DeclaredResource<object, object>, "validate">,
  spec: Values,
  open: readonly string[] = [],
) => pathsOf(kind.validate(spec, new Set(open)))

let csr: string
beforeAll(async () => {
  ;({ csr } = await certificateRequest({ subject: [[{ type: oids.commonName, value: "api.example.com" }]] }))
})

describe("a certificate", () => {
  const web = { mount: "pki", role: "web", commonName: "api.example.com" }

  test.each<{ spec: object; at: string; why: string }>([
    { spec: { role: "" }, at: "role", why: "no role" },
    { spec: { mount: "a b" }, at: "mount", why: "a mount with a space" },
    { spec: { ttl: "soon" }, at: "ttl", why: "a lifetime in words" },
    { spec: { ttl: 3600 }, at: "ttl", why: "a lifetime without a unit" },
    { spec: { notAfter: "tomorrow" }, at: "notAfter", why: "an instant in words" },
    { spec: { ttl: "1h", notAfter: "2030-01-01T00:00:00Z" }, at: "notAfter", why: "two ends" },
    { spec: { notBefore: "2031-01-01T00:00:00Z", notAfter: "2030-01-01T00:00:00Z" }, at: "notAfter", why: "no time" },
    { spec: { altNames: ["a..example.com"] }, at: "altNames", why: "a host name with an empty label" },
    { spec: { altNames: "a.example.com" }, at: "altNames", why: "one name for a list" },
    { spec: { ipSans: ["10.0.0.256"] }, at: "ipSans", why: "an unknown address" },
    { spec: { uriSans: ["no uri"] }, at: "uriSans", why: "a URI with a space" },
    { spec: { otherSans: ["1.2.3;IA5:x"] }, at: "otherSans", why: "an otherName of an unknown type" },
    { spec: { commonName: "x".repeat(65) }, at: "commonName", why: "a common name that is too long" },
    { spec: { subjectSerialNumber: "é" }, at: "subjectSerialNumber", why: "a serial number no subject holds" },
    { spec: { certMetadata: "not base64" }, at: "certMetadata", why: "metadata in the clear" },
    { spec: { keyType: "dsa" }, at: "keyType", why: "an unknown type of key" },
    { spec: { keyType: "ec", keyBits: 2048 }, at: "keyBits", why: "a size of another type" },
    { spec: { format: "p12" }, at: "format", why: "an unknown format" },
    { spec: { renewBefore: "soon" }, at: "renewBefore", why: "an interval in words" },
    { spec: { ttl: "1h", renewBefore: "60m" }, at: "renewBefore", why: "a renewal that is due at once" },
    {
      spec: { notAfter: "2030-01-01T00:00:00Z", renewBefore: "1h" },
      at: "renewBefore",
      why: "a renewal that changes nothing",
    },
    { spec: { onDestroy: "delete" }, at: "onDestroy", why: "an unknown end" },
    { spec: { common_name: "x" }, at: "common_name", why: "the API's word for a member" },
  ])("is rejected with $why", ({ spec, at }) => {
    expect(faultsOf(pkiCertificateResource, { ...web, ...spec })).toEqual([at])
  })

  test.each<{ spec: object; open: string[] }>([
    { spec: { role: "web" }, open: ["mount"] },
    { spec: { ...web, ttl: "1h", renewBefore: "2h" }, open: ["ttl"] },
    { spec: { ...web, keyBits: 384 }, open: ["keyType"] },
    { spec: { ...web, keyBits: 384 }, open: [] },
    { spec: { ...web, notBefore: "2031-01-01T00:00:00Z" }, open: [] },
    { spec: { mount: "pki", role: "web", userIds: ["u"] }, open: [] },
    { spec: { ...web, altNames: ["a@example.com", "*.example.com"], ipSans: ["::1"], ttl: "87600h" }, open: [] },
  ])("is accepted as $spec while $open is unknown", ({ spec, open }) => {
    expect(faultsOf(pkiCertificateResource, { ...spec }, open)).toEqual([])
  })
})

describe("a signed certificate", () => {
  const signed = () => ({ mount: "pki", role: "web", commonName: "api.example.com", csr })
  const verbatim = () => ({ mount: "pki", verbatim: true, csr })

  test.each<{ spec: () => object; at: string[]; why: string }>([
    { spec: () => ({ ...signed(), csr: "x" }), at: ["csr"], why: "no request" },
    { spec: () => ({ ...signed(), csr: csr.replace("MI", "AA") }), at: ["csr"], why: "a broken request" },
    { spec: () => ({ mount: "pki", csr }), at: ["role", "commonName"], why: "neither role nor name" },
    { spec: () => ({ ...signed(), keyUsages: ["certsign"] }), at: ["keyUsages"], why: "a member without effect" },
    { spec: () => ({ ...signed(), onDestroy: "revokeWithKey" }), at: ["onDestroy"], why: "a key that it has not" },
    { spec: () => ({ ...verbatim(), commonName: "x" }), at: ["commonName"], why: "a name with verbatim" },
    { spec: () => ({ ...verbatim(), certMetadata: "eA==" }), at: ["certMetadata"], why: "metadata without a role" },
    { spec: () => ({ ...verbatim(), signatureBits: 160 }), at: ["signatureBits"], why: "a digest of no use" },
  ])("is rejected with $why", ({ spec, at }) => {
    expect(faultsOf(pkiSignedCertificateResource, { ...spec() })).toEqual(at)
  })

  test.each<{ spec: () => object; open: string[] }>([
    { spec: signed, open: [] },
    { spec: () => ({ mount: "pki", commonName: "x" }), open: ["csr", "role"] },
    { spec: verbatim, open: [] },
    { spec: () => ({ mount: "pki" }), open: ["csr", "verbatim"] },
    { spec: () => ({ ...verbatim(), role: "web", certMetadata: "eA==", extKeyUsages: ["ServerAuth"] }), open: [] },
  ])("is accepted while $open is unknown", ({ spec, open }) => {
    expect(faultsOf(pkiSignedCertificateResource, { ...spec() }, open)).toEqual([])
  })
})

describe("an intermediate", () => {
  const issuing = () => ({ mount: "pki", commonName: "Issuing CA", csr })

  test.each<{ spec: () => object; at: string[]; why: string }>([
    { spec: () => ({ mount: "pki", csr }), at: ["commonName"], why: "no name" },
    { spec: () => ({ ...issuing(), csr: "x" }), at: ["csr"], why: "no request" },
    { spec: () => ({ ...issuing(), maxPathLength: -2 }), at: ["maxPathLength"], why: "a negative path length" },
    { spec: () => ({ ...issuing(), countries: ["Germany"] }), at: ["countries"], why: "a country in words" },
    { spec: () => ({ ...issuing(), permittedIpRanges: ["10.0.0.0/33"] }), at: ["permittedIpRanges"], why: "no range" },
    { spec: () => ({ ...issuing(), skid: "xy" }), at: ["skid"], why: "an identifier that is not hexadecimal" },
    { spec: () => ({ ...issuing(), notBeforeDuration: "-1h" }), at: ["notBeforeDuration"], why: "less than no time" },
    { spec: () => ({ ...issuing(), role: "web" }), at: ["role"], why: "a role" },
  ])("is rejected with $why", ({ spec, at }) => {
    expect(faultsOf(pkiIntermediateResource, { ...spec() })).toEqual(at)
  })

  test.each<{ spec: () => object; open: string[] }>([
    { spec: issuing, open: [] },
    { spec: () => ({ mount: "pki", commonName: "Issuing CA" }), open: ["csr"] },
    { spec: () => ({ mount: "pki", csr }), open: ["commonName"] },
    { spec: () => ({ mount: "pki", csr, useCsrValues: true }), open: [] },
    { spec: () => ({ mount: "pki", useCsrValues: true }), open: ["csr"] },
  ])("is accepted while $open is unknown", ({ spec, open }) => {
    expect(faultsOf(pkiIntermediateResource, { ...spec() }, open)).toEqual([])
  })
})

describe("a revocation", () => {
  test.each<{ spec: Values; open?: string[]; at: string[]; why: string }>([
    { spec: {}, at: ["serialNumber"], why: "nothing to revoke" },
    { spec: { serialNumber: "xy" }, at: ["serialNumber"], why: "an unknown number" },
    { spec: { serialNumber: "01", certificate: "x" }, at: ["certificate"], why: "two things to revoke" },
    { spec: { certificate: "x" }, at: ["certificate"], why: "no certificate" },
    { spec: { serialNumber: "01", reason: "boredom" }, at: ["reason"], why: "an unknown reason" },
    { spec: { serialNumber: "01", reason: "certificateHold" }, at: ["reason"], why: "a reason that could be lifted" },
    { spec: {}, open: ["certificate"], at: [], why: "no fault while the certificate is unknown" },
  ])("is rejected with $why", ({ spec, open = [], at }) => {
    expect(faultsOf(pkiRevocationResource, { mount: "pki", ...spec }, open)).toEqual(at)
  })
})

test("a valid spec is issued by a permissive role, and has no difference afterwards", async () => {
  await using world = await openTestEngine({ keyGenerator: testKeyGenerator })
  const { engine } = world
  await engine.mounts.create({ path: "pki", config: { maxLeaseTtlMs: 3_650 * dayMs } })
  const { issuers, roles } = engine.pki("pki")
  await issuers.generateRoot({ commonName: "Root", keyType: "ec", ttlMs: 3_000 * dayMs })
  const all = { allowedUriSans: ["*"], allowedOtherSans: ["*"], allowedSerialNumbers: ["*"], allowedUserIds: ["*"] }
  const free = {
    notBeforeBound: "permit",
    notAfterBound: "permit",
    allowAnyName: true,
    enforceHostnames: false,
    requireCn: false,
    cnValidations: ["disabled"],
  }
  await roles.save("free", { ...all, ...free, keyType: "any", ttlMs: dayMs })
  /** Mostly values that can be issued. */
  const maybe = <T>(good: readonly T[], bad: readonly T[] = []) =>
    fc.oneof(
      { weight: 20, arbitrary: fc.constantFrom(undefined, ...good) },
      ...(bad.length === 0 ? [] : [{ weight: 1, arbitrary: fc.constantFrom(...bad) }]),
    )
  const drawn = fc.record({
    commonName: maybe(["www.test", "A name with spaces", "mail@example.com"], ["x".repeat(70), "a\u0000b"]),
    altNames: maybe([[], ["b.test", "a.test"], ["*.test"], ["mail@example.com"]], [["a..b"], ["ä.test"]]),
    ipSans: maybe([["10.0.0.1", "::1"]], [["10.0.0"]]),
    uriSans: maybe([["spiffe://a/b"]], [["a b"]]),
    otherSans: maybe([["1.2.3;UTF8:x"]], [["1.2.3;x"]]),
    userIds: maybe([["u"]], [["u".repeat(300)]]),
    subjectSerialNumber: maybe(["7"], ["ä"]),
    excludeCnFromSans: maybe([true, false]),
    ttl: maybe(["10h", "0s", "1d12h"], ["-1h"]),
    notBefore: maybe(["2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00"]),
    notAfter: maybe<string>([], ["2030-01-01T00:00:00Z"]),
    certMetadata: maybe(["eA=="], ["x"]),
    keyType: maybe<"ec" | "ed25519">(["ec", "ed25519"]),
    keyBits: maybe([0, 384], [385]),
    format: maybe<"pem" | "der" | "pem_bundle">(["pem", "der", "pem_bundle"]),
    privateKeyFormat: maybe<"der" | "pkcs8">(["der", "pkcs8"]),
    renewBefore: maybe(["1h"], ["20h"]),
  })
  let issued = 0
  await fc.assert(
    fc.asyncProperty(drawn, async (values) => {
      const given = Object.entries(values).filter(([, value]) => value !== undefined)
      const spec: PkiCertificateSpec = { mount: "pki", role: "free", keyType: "ec", ...Object.fromEntries(given) }
      if (pkiCertificateResource.validate({ ...spec }).length > 0) return
      // The role requires at least one name, which `validate` cannot know.
      const isNameless = [
        spec.commonName,
        spec.altNames,
        spec.ipSans,
        spec.uriSans,
        spec.otherSans,
        spec.userIds,
      ].every((names) => (names ?? "").length === 0)
      const wanted: PkiCertificateSpec = isNameless ? { ...spec, commonName: "www.test" } : spec
      const { id, observed } = await pkiCertificateResource.create(engine, wanted, { marker: "m", adopt: false })
      expect(pkiCertificateResource.diff(wanted, observed)).toEqual({ changed: [], mustReplace: [] })
      expect(await pkiCertificateResource.observe(engine, id, wanted, { before: observed, now: 0 })).toEqual(observed)
      issued += 1
    }),
    { numRuns: 150 },
  )
  expect(issued).toBeGreaterThan(40)
})

describe("[F-P12] a certificate whose ttl the role cuts to 48h", () => {
  const now = Date.now()
  const spec = (life: object): PkiCertificateSpec => ({ mount: "pki", role: "short", commonName: "a.test", ...life })

  async function create(engine: Engine, life: object) {
    await engine.mounts.create({ path: "pki" })
    const { issuers, roles } = engine.pki("pki")
    await issuers.generateRoot({ commonName: "Root", keyType: "ec", ttlMs: 30 * dayMs })
    await roles.save("short", { allowAnyName: true, keyType: "ec", ttlMs: 2 * dayMs, maxTtlMs: 2 * dayMs })
    return await pkiCertificateResource.create(engine, spec(life), { marker: "", adopt: false, now })
  }

  test("is issued and not due when renewBefore is shorter", async () => {
    await using world = await openTestEngine({ keyGenerator: testKeyGenerator })
    const life = { ttl: "100h", renewBefore: "1h" }
    const { observed } = await create(world.engine, life)
    expect(Date.parse(observed.expiration) - now).toBeLessThanOrEqual(2 * dayMs + 60_000)
    expect(pkiCertificateResource.diff(spec(life), observed, [], now)).toEqual({ changed: [], mustReplace: [] })
  })

  test.each([{ ttl: "100h", renewBefore: "49h" }, { ttl: "100h", renewBefore: "80h" }, { renewBefore: "80h" }])(
    "is rejected if it is due immediately, with %o",
    async (life) => {
      await using world = await openTestEngine({ keyGenerator: testKeyGenerator })
      await expect(create(world.engine, life)).rejects.toMatchObject({
        code: "invalid",
        faults: [{ field: ["renewBefore"] }],
      })
    },
  )
})
