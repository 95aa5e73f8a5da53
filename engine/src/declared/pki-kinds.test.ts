// Declared mounts and roles: validation before any request, and differences to the observed state.
import * as fc from "fast-check"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { Fault } from "../core/errors.ts"
import type { Engine } from "../engine.ts"
import { openTestEngine, type TestEngine } from "../../testing/test-engine.ts"
import { type ObservedPkiMount, pkiMountResource, type PkiMountSpec } from "./pki-mount.ts"
import { pkiRoleResource, type PkiRoleSpec } from "./pki-role.ts"

const pathsOf = (faults: readonly Fault[]) => faults.map(({ field }) => field?.join("."))
const detailsOf = (faults: readonly Fault[]) => faults.map(({ detail }) => detail)
const origin = { marker: "m", adopt: false }

let world: TestEngine
let engine: Engine
beforeAll(async () => {
  world = await openTestEngine()
  engine = world.engine
  await engine.mounts.create({ path: "pki" })
})
afterAll(() => world[Symbol.asyncDispose]())

describe("a mount", () => {
  test.each<{ spec: object; at: string; why: string }>([
    { spec: { path: "" }, at: "path", why: "no path" },
    { spec: { path: undefined }, at: "path", why: "a missing path" },
    { spec: { path: "sys/pki" }, at: "path", why: "a path of the server" },
    { spec: { path: "a//b" }, at: "path", why: "two slashes" },
    { spec: { path: "a b" }, at: "path", why: "a space" },
    { spec: { defaultLeaseTtl: "soon" }, at: "defaultLeaseTtl", why: "a lifetime in words" },
    { spec: { defaultLeaseTtl: 3600 }, at: "defaultLeaseTtl", why: "a lifetime without a unit" },
    { spec: { maxLeaseTtl: "0s" }, at: "maxLeaseTtl", why: "no lifetime" },
    { spec: { maxLeaseTtl: "1500ms" }, at: "maxLeaseTtl", why: "half a second" },
    { spec: { defaultLeaseTtl: "2h", maxLeaseTtl: "1h" }, at: "defaultLeaseTtl", why: "a default above the maximum" },
    { spec: { listingVisibility: "public" }, at: "listingVisibility", why: "an unknown visibility" },
    { spec: { allowedResponseHeaders: ["a b"] }, at: "allowedResponseHeaders", why: "a header with a space" },
    { spec: { auditNonHmacRequestKeys: [""] }, at: "auditNonHmacRequestKeys", why: "a blank key" },
    { spec: { delegatedAuthAccessors: [""] }, at: "delegatedAuthAccessors", why: "a blank accessor" },
    { spec: { description: "a\nb" }, at: "description", why: "a description of two lines" },
    { spec: { clusterPath: "http://ca.test/v1/pki" }, at: "clusterPath", why: "an address that is not https" },
    { spec: { clusterAiaPath: "ca.test" }, at: "clusterAiaPath", why: "a name for an address" },
    { spec: { type: "pki" }, at: "type", why: "an unknown member" },
  ])("is rejected with $why", ({ spec, at }) => {
    expect(pathsOf(pkiMountResource.validate({ path: "pki", ...spec }))).toEqual([at])
  })

  test.each<{ spec: object; open: string[] }>([
    { spec: {}, open: ["path"] },
    { spec: { path: "team/pki/", defaultLeaseTtl: "8760h" }, open: ["maxLeaseTtl"] },
    { spec: { path: "pki", defaultLeaseTtl: null, maxLeaseTtl: "90d" }, open: [] },
  ])("is accepted as $spec while $open is unknown", ({ spec, open }) => {
    expect(pkiMountResource.validate({ ...spec }, new Set(open))).toEqual([])
  })

  test("is rejected with property names", () => {
    const faults = pkiMountResource.validate({ path: "pki", maxLeaseTtl: "1h", defaultLeaseTtl: "2h" })
    expect(detailsOf(faults)).toEqual(["defaultLeaseTtl must not be longer than the maximum of 3600 seconds"])
    expect(detailsOf(pkiMountResource.validate({ path: "pki", clusterPath: "pki", clusterAiaPath: "pki" }))).toEqual([
      "clusterPath must be an https URL",
      "clusterAiaPath must be an http or https URL",
    ])
  })

  const observed: ObservedPkiMount = {
    path: "pki",
    description: "",
    defaultLeaseTtl: null,
    maxLeaseTtl: "24h",
    forceNoCache: false,
    listingVisibility: "hidden",
    allowedResponseHeaders: ["Link", "Location"],
    passthroughRequestHeaders: [],
    auditNonHmacRequestKeys: [],
    auditNonHmacResponseKeys: [],
    delegatedAuthAccessors: ["auth_userpass_1", "auth_cert_1"],
    accessor: "pki_1",
    uuid: "u",
  }

  test.each<{ spec: Partial<PkiMountSpec>; dropped?: string[]; changed: string[]; replaced?: string[] }>([
    { spec: {}, changed: [] },
    { spec: { path: "pki/", maxLeaseTtl: "1d", allowedResponseHeaders: ["Location", "Link"] }, changed: [] },
    { spec: { maxLeaseTtl: null }, changed: ["maxLeaseTtl"] },
    { spec: { delegatedAuthAccessors: ["auth_cert_1", "auth_userpass_1"] }, changed: [] },
    { spec: { delegatedAuthAccessors: ["auth_cert_1"] }, changed: ["delegatedAuthAccessors"] },
    { spec: {}, dropped: ["delegatedAuthAccessors"], changed: ["delegatedAuthAccessors"] },
    { spec: { defaultLeaseTtl: "1h" }, changed: ["defaultLeaseTtl"] },
    { spec: {}, dropped: ["maxLeaseTtl", "description"], changed: ["maxLeaseTtl"] },
    { spec: { path: "other" }, changed: ["path"], replaced: ["path"] },
    { spec: { clusterPath: "" }, changed: [] },
    { spec: { clusterPath: "https://ca.test/v1/pki/" }, changed: ["clusterPath"] },
  ])("with $spec, and without $dropped, differs in $changed", ({ spec, dropped = [], changed, replaced = [] }) => {
    const found = pkiMountResource.diff({ path: "pki", ...spec }, observed, dropped)
    expect([found.changed.toSorted(), found.mustReplace]).toEqual([changed.toSorted(), replaced])
  })

  test("has no difference in URLs with and without a final slash", () => {
    const reached = { ...observed, clusterPath: "https://ca.test/v1/pki", clusterAiaPath: "" }
    const spec = { path: "pki", clusterPath: "https://ca.test/v1/pki/" }
    expect(pkiMountResource.diff(spec, reached).changed).toEqual([])
    expect(pkiMountResource.diff({ path: "pki" }, reached, ["clusterPath"]).changed).toEqual(["clusterPath"])
  })

  test("is deleted before its replacement above or below it", () => {
    expect(pkiMountResource.diff({ path: "pki/a" }, observed).removeFirst).toBe(true)
    expect(pkiMountResource.diff({ path: "pkis" }, observed).removeFirst).toBe(false)
  })
})

describe("a role", () => {
  const named = { mount: "pki", name: "web" }

  test.each<{ spec: object; at: string; why: string }>([
    { spec: { name: "" }, at: "name", why: "no name" },
    { spec: { name: "a b" }, at: "name", why: "a name with a space" },
    { spec: { name: "-web" }, at: "name", why: "a name that begins with a dash" },
    { spec: { mount: "a b" }, at: "mount", why: "a mount with a space" },
    { spec: { ttl: "soon" }, at: "ttl", why: "a lifetime in words" },
    { spec: { ttl: 3600 }, at: "ttl", why: "a lifetime without a unit" },
    { spec: { ttl: "2h", maxTtl: "1h" }, at: "ttl", why: "a lifetime above the longest" },
    { spec: { maxTtl: "-1h" }, at: "maxTtl", why: "less than no lifetime" },
    { spec: { notAfter: "tomorrow" }, at: "notAfter", why: "an instant in words" },
    { spec: { notBefore: "2031-01-01T00:00:00Z", notAfter: "2030-01-01T00:00:00Z" }, at: "notAfter", why: "no time" },
    { spec: { notAfterBound: "never" }, at: "notAfterBound", why: "an unknown bound" },
    { spec: { notBeforeBound: "ttl-limited" }, at: "notBeforeBound", why: "a bound of the other end" },
    { spec: { keyType: "dsa" }, at: "keyType", why: "an unknown type of key" },
    { spec: { keyBits: 1024 }, at: "keyBits", why: "a weak key" },
    { spec: { keyType: "ec", keyBits: 2048 }, at: "keyBits", why: "a size of another type" },
    { spec: { keyBits: 2048.5 }, at: "keyBits", why: "half a bit" },
    { spec: { signatureBits: 160 }, at: "signatureBits", why: "an obsolete digest" },
    { spec: { allowedIpSansCidr: ["10.0.0.0/33"] }, at: "allowedIpSansCidr", why: "an unknown range" },
    { spec: { allowedOtherSans: ["1.2.3;IA5:x"] }, at: "allowedOtherSans", why: "an otherName of an unknown type" },
    { spec: { extKeyUsageOids: ["1.40.3"] }, at: "extKeyUsageOids", why: "an unknown identifier" },
    { spec: { policyIdentifiers: ["x"] }, at: "policyIdentifiers", why: "a policy without an identifier" },
    { spec: { cnValidations: ["disabled", "email"] }, at: "cnValidations", why: "no validation and one more" },
    { spec: { cnValidations: [] }, at: "cnValidations", why: "no word on validation" },
    { spec: { countries: ["Germany"] }, at: "countries", why: "a country in words" },
    { spec: { serialNumberSource: "csr" }, at: "serialNumberSource", why: "an unknown source" },
    { spec: { generateLease: true, noStore: true }, at: "generateLease", why: "a lease of what is not stored" },
    { spec: { allowed_domains: ["a"] }, at: "allowed_domains", why: "the API's word for a member" },
  ])("is rejected with $why", ({ spec, at }) => {
    expect(pathsOf(pkiRoleResource.validate({ ...named, ...spec }))).toEqual([at])
  })

  test("is rejected with property names", () => {
    const faults = pkiRoleResource.validate({ ...named, ttl: "2h", maxTtl: "1h", countries: ["Germany"], key_bits: 1 })
    expect(detailsOf(faults)).toEqual([
      "key_bits is not a known member; use keyBits",
      "ttl value must be less than maxTtl value",
      'countries entry "Germany" must be a code of two letters',
    ])
  })

  test.each<{ spec: object; open: string[] }>([
    { spec: { mount: "pki" }, open: ["name"] },
    { spec: { ...named, ttl: "2h" }, open: ["maxTtl"] },
    { spec: { ...named, keyBits: 256 }, open: ["keyType"] },
    { spec: { ...named, notAfter: "2030-01-01T00:00:00Z" }, open: ["notBefore"] },
    { spec: { ...named, policyIdentifiers: ["1.2.3", { oid: "1.2.4", notice: "n" }] }, open: [] },
  ])("is accepted as $spec while $open is unknown", ({ spec, open }) => {
    expect(pkiRoleResource.validate({ ...spec }, new Set(open))).toEqual([])
  })

  const ec: PkiRoleSpec = { ...named, name: "ec", keyType: "ec", keyBits: 0, signatureBits: 0, ttl: "24h" }
  const lists = { allowedDomains: ["a.test", "b.test"], keyUsages: ["DigitalSignature"], organizations: ["A", "B"] }

  test.each<{ spec: Partial<PkiRoleSpec>; dropped?: string[]; changed: string[]; replaced?: string[] }>([
    { spec: {}, changed: [] },
    { spec: { mount: "pki/", ttl: "1d", keyBits: 256 }, changed: [] },
    { spec: { allowedDomains: ["b.test", "a.test"], keyUsages: ["digitalsignature"] }, changed: [] },
    { spec: { organizations: ["B", "A"] }, changed: ["organizations"] },
    { spec: { policyIdentifiers: [{ oid: "1.2.3" }] }, changed: [] },
    { spec: { policyIdentifiers: [{ oid: "1.2.3", notice: "n" }] }, changed: ["policyIdentifiers"] },
    { spec: { notAfter: "2031-01-01T00:00:00+00:00", notAfterBound: "2040-01-01T00:00:00Z" }, changed: [] },
    { spec: { keyBits: 384 }, changed: ["keyBits"] },
    { spec: { keyType: "rsa" }, changed: ["keyBits", "keyType", "signatureBits"] },
    { spec: { keyType: "rsa", keyBits: 2048 }, changed: ["keyBits", "keyType", "signatureBits"] },
    { spec: {}, dropped: ["organizations", "noStore"], changed: ["organizations"] },
    { spec: { name: "other" }, changed: ["name"], replaced: ["name"] },
    { spec: { mount: "other" }, changed: ["mount"], replaced: ["mount"] },
  ])(
    "with $spec, and without $dropped, differs in $changed",
    async ({ spec, dropped = [], changed, replaced = [] }) => {
      const more = {
        policyIdentifiers: ["1.2.3"],
        notAfter: "2031-01-01T00:00:00Z",
        notAfterBound: "2040-01-01T00:00:00.000Z",
      }
      const { observed } = await pkiRoleResource.create(engine, { ...ec, ...lists, ...more }, origin)
      const { organizations, ...kept } = lists
      const wanted = {
        ...ec,
        ...kept,
        ...more,
        ...(dropped.includes("organizations") ? {} : { organizations }),
        ...spec,
      }
      const found = pkiRoleResource.diff(wanted, observed, dropped)
      expect([found.changed.toSorted(), found.mustReplace]).toEqual([changed.toSorted(), replaced])
    },
  )

  test("keeps declared sizes when its key type changes", async () => {
    const spec: PkiRoleSpec = { ...named, name: "sized", keyType: "ec", keyBits: 256, signatureBits: 0 }
    const { id, observed } = await pkiRoleResource.create(engine, spec, origin)
    const wanted: PkiRoleSpec = { ...spec, keyType: "rsa", keyBits: 3072, signatureBits: 512 }
    expect(await pkiRoleResource.update(engine, id, wanted, observed)).toMatchObject({
      keyType: "rsa",
      keyBits: 3072,
      signatureBits: 512,
    })
  })

  test("has no difference from any spec that it was created of", async () => {
    const flags = fc.option(fc.boolean(), { nil: undefined })
    const duration = fc.constantFrom(undefined, "0s", "30m", "1d", "90d", "1h30m")
    const names = fc.option(fc.array(fc.domain(), { maxLength: 3 }), { nil: undefined })
    const drawn = fc.record({
      ttl: duration,
      notBeforeDuration: duration,
      allowedDomains: names,
      allowAnyName: flags,
      noStore: flags,
      requireCn: flags,
      notAfter: fc.constantFrom(undefined, null, "2040-01-01T00:00:00+01:00"),
      notBeforeBound: fc.constantFrom(undefined, "forbid", "2020-01-01T00:00:00Z"),
      keyType: fc.constantFrom<PkiRoleSpec["keyType"]>("rsa", "ec", "ed25519", "any"),
      keyBits: fc.constantFrom(undefined, 0),
      signatureBits: fc.constantFrom(undefined, 0, 384),
      keyUsages: fc.constantFrom(undefined, [], ["certsign", "x"]),
      policyIdentifiers: fc.constantFrom(undefined, ["1.2.3", { oid: "1.2.4", cps: "https://a.test" }]),
    })
    await fc.assert(
      fc.asyncProperty(drawn, async (values) => {
        const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
        const spec: PkiRoleSpec = { mount: "pki", name: "drawn", ...given }
        expect(pkiRoleResource.validate({ ...spec })).toEqual([])
        const { id, observed } = await pkiRoleResource.create(engine, spec, { marker: "m", adopt: true })
        expect(pkiRoleResource.diff(spec, observed).changed).toEqual([])
        expect(await pkiRoleResource.observe(engine, id, spec, { before: {}, now: 0 })).toEqual(observed)
      }),
      { numRuns: 60 },
    )
  })
})
