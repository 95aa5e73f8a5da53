// Declared ACME settings of a mount, and declared EAB keys for its accounts.
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { Fault } from "../core/errors.ts"
import { newAcmeMount } from "../../testing/acme-mount.ts"
import { openTestEngine, type TestEngine } from "../../testing/test-engine.ts"
import { observedPkiAcmeConfig, pkiAcmeConfigResource, type PkiAcmeConfigSpec } from "./pki-acme-config.ts"
import { pkiAcmeEabResource, type PkiAcmeEabSpec } from "./pki-acme-eab.ts"
import { defaultAcmeSettings } from "../pki/mounts/acme-settings.ts"

const pathsOf = (faults: readonly Fault[]) => faults.map(({ field }) => field?.join("."))
const origin = { marker: "m", adopt: false }
const now = 0

let world: TestEngine
beforeAll(async () => {
  world = await openTestEngine()
  await newAcmeMount(world)
})
afterAll(() => world[Symbol.asyncDispose]())

describe("an ACME configuration", () => {
  test.each<{ spec: object; at: string; why: string }>([
    { spec: { mount: "a b" }, at: "mount", why: "a mount with a space" },
    { spec: { enabled: "yes" }, at: "enabled", why: "yes in words" },
    { spec: { allowedRoles: [] }, at: "allowedRoles", why: "no role at all" },
    { spec: { allowedRoles: ["*", "web"] }, at: "allowedRoles", why: "every role and one more" },
    { spec: { allowedIssuers: [] }, at: "allowedIssuers", why: "no issuer at all" },
    { spec: { defaultDirectoryPolicy: "allow" }, at: "defaultDirectoryPolicy", why: "an unknown policy" },
    {
      spec: { defaultDirectoryPolicy: "role:api", allowedRoles: ["web"] },
      at: "defaultDirectoryPolicy",
      why: "a role that is not allowed",
    },
    { spec: { dnsResolver: "dns.example.com" }, at: "dnsResolver", why: "a resolver that has to be resolved" },
    { spec: { eabPolicy: "sometimes" }, at: "eabPolicy", why: "a policy for some" },
    { spec: { maxTtl: "long" }, at: "maxTtl", why: "a lifetime in words" },
    { spec: { maxTtl: "-1h" }, at: "maxTtl", why: "less than no lifetime" },
    { spec: { challengePermittedIpRanges: ["10.0.0.0/40"] }, at: "challengePermittedIpRanges", why: "no range" },
    { spec: { caaIdentities: ["a b"] }, at: "caaIdentities", why: "a name with a space" },
    { spec: { termsOfService: "ask us" }, at: "termsOfService", why: "terms that are no address" },
    { spec: { website: "ftp://example.com" }, at: "website", why: "a website of another kind" },
    { spec: { eab_policy: "not-required" }, at: "eab_policy", why: "the API's word for a member" },
  ])("is rejected with $why", ({ spec, at }) => {
    expect(pathsOf(pkiAcmeConfigResource.validate({ mount: "pki", ...spec }))).toEqual([at])
  })

  test("is rejected with property names, and not for unknown values", () => {
    const spec = { mount: "pki", defaultDirectoryPolicy: "role:api", allowedRoles: ["web"] }
    expect(pkiAcmeConfigResource.validate(spec).map(({ detail }) => detail)).toEqual([
      "defaultDirectoryPolicy names the role api, which is not in allowedRoles",
    ])
    expect(
      pkiAcmeConfigResource.validate({ mount: "pki" }, new Set(["allowedRoles", "defaultDirectoryPolicy"])),
    ).toEqual([])
  })

  const observed = observedPkiAcmeConfig("pki", {
    ...defaultAcmeSettings,
    maxTtlMs: 86_400_000,
    caaIdentities: ["a.example", "b.example"],
  })

  test.each<{ spec: Partial<PkiAcmeConfigSpec>; dropped?: string[]; changed: string[]; replaced?: string[] }>([
    { spec: {}, changed: [] },
    { spec: { mount: "pki/", maxTtl: "1d", caaIdentities: ["b.example", "a.example"] }, changed: [] },
    { spec: { enabled: true }, changed: ["enabled"] },
    { spec: {}, dropped: ["maxTtl", "website"], changed: ["maxTtl"] },
    { spec: { mount: "other" }, changed: ["mount"], replaced: ["mount"] },
  ])("with $spec, and without $dropped, differs in $changed", ({ spec, dropped = [], changed, replaced = [] }) => {
    const found = pkiAcmeConfigResource.diff({ mount: "pki", ...spec }, observed, dropped)
    expect([found.changed.toSorted(), found.mustReplace]).toEqual([changed.toSorted(), replaced])
  })

  test("is updated by member, reset when removed, and disabled at deletion", async () => {
    const { engine } = world
    const { settings } = engine.pki("pki")
    const spec = { mount: "pki", eabPolicy: "always-required", website: "https://ca.example", maxTtl: "24h" } as const
    const { id, observed: made } = await pkiAcmeConfigResource.create(engine, spec, origin)
    expect([id, made]).toMatchObject(["pki/config/acme", { ...spec, enabled: true }])
    await settings.changeAcme({ caaIdentities: ["theirs.example"] })
    const found = await pkiAcmeConfigResource.observe(engine, id, spec, { before: {}, now })
    expect(found).toMatchObject({ ...spec, caaIdentities: ["theirs.example"] })

    const { website: _website, ...fewer } = spec
    const updated = await pkiAcmeConfigResource.update(engine, id, fewer, found ?? made, ["website"])
    expect(updated).toMatchObject({ website: "", eabPolicy: "always-required", caaIdentities: ["theirs.example"] })

    await pkiAcmeConfigResource.delete(engine, id, fewer, "safe", { before: {}, now })
    expect(await settings.acme()).toEqual({ ...defaultAcmeSettings, caaIdentities: ["theirs.example"] })
    await settings.changeAcme({ ...defaultAcmeSettings, enabled: true })
  })

  test("is absent without a mount, and rejected if the mount cannot serve ACME", async () => {
    const { engine } = world
    expect(await pkiAcmeConfigResource.observe(engine, "none/config/acme", {}, { before: {}, now })).toBeUndefined()
    await pkiAcmeConfigResource.delete(engine, "none/config/acme", {}, "safe", { before: {}, now })
    await engine.mounts.create({ path: "bare" })
    const refused = pkiAcmeConfigResource.create(engine, { mount: "bare", enabled: true, maxTtl: "24h" }, origin)
    await expect(refused).rejects.toMatchObject({ code: "invalid", faults: [{ field: ["enabled"] }] })
    expect(await engine.pki("bare").settings.acme()).toEqual(defaultAcmeSettings)
  })
})

describe("an external account binding", () => {
  test.each<{ spec: object; at: string; why: string }>([
    { spec: { mount: "a b" }, at: "mount", why: "a mount with a space" },
    { spec: { role: "" }, at: "role", why: "a role without a name" },
    { spec: { issuerRef: "" }, at: "issuerRef", why: "an issuer without a name" },
    { spec: { role: "web", externalPolicy: "" }, at: "externalPolicy", why: "two who decide" },
    { spec: { ttl: "soon" }, at: "ttl", why: "a time in words" },
    { spec: { ttl: "367d" }, at: "ttl", why: "more than a year and a day" },
    { spec: { key: "x" }, at: "key", why: "an unknown member" },
  ])("is rejected with $why", ({ spec, at }) => {
    expect(pathsOf(pkiAcmeEabResource.validate({ mount: "pki", ...spec }))).toEqual([at])
  })

  test("is replaced for each changed member, and unchanged otherwise", async () => {
    const spec: PkiAcmeEabSpec = { mount: "pki", role: "web", ttl: "24h" }
    const { observed } = await pkiAcmeEabResource.create(world.engine, spec, origin)
    expect(pkiAcmeEabResource.diff({ ...spec, mount: "pki/", ttl: "1d" }, observed).changed).toEqual([])
    const others: readonly [PkiAcmeEabSpec, string[], string[]][] = [
      [{ ...spec, mount: "other" }, [], ["mount"]],
      [{ ...spec, issuerRef: "root" }, [], ["issuerRef"]],
      [{ mount: "pki", ttl: "24h" }, ["role"], ["role"]],
      [{ mount: "pki", role: "web" }, ["ttl"], ["ttl"]],
    ]
    expect(others.map(([other, dropped]) => pkiAcmeEabResource.diff(other, observed, dropped).mustReplace)).toEqual(
      others.map(([, , replaced]) => replaced),
    )
  })

  test("is created with its key, is waiting until a client uses it, and is kept afterwards", async () => {
    const { engine } = world
    const { eab } = engine.acme("pki")
    const spec: PkiAcmeEabSpec = { mount: "pki", issuerRef: "root", role: "web" }
    const { id, observed } = await pkiAcmeEabResource.create(engine, spec, origin)
    expect(observed).toMatchObject({ ...spec, ttl: null, externalPolicy: null, isWaiting: true })
    expect([id, observed.acmeDirectory]).toEqual([`pki/eab/${observed.keyId}`, "issuer/root/roles/web/acme/directory"])
    expect(Buffer.from(observed.key, "base64url")).toHaveLength(32)
    const look = () => pkiAcmeEabResource.observe(engine, id, spec, { before: observed, now })
    expect(await look()).toEqual(observed)
    // The key is returned at creation only.
    const { key: _key, ...found } = observed
    expect(await pkiAcmeEabResource.observe(engine, id, spec, { before: {}, now })).toEqual(found)

    await eab.delete(observed.keyId)
    const used = { ...observed, isWaiting: false }
    expect(await look()).toEqual(used)
    expect(pkiAcmeEabResource.diff(spec, used).changed).toEqual([])
    await pkiAcmeEabResource.delete(engine, id, spec, "safe", { before: used, now })
  })

  test("is deleted while it is waiting, and rejected for an unknown directory", async () => {
    const { engine } = world
    const { id, observed } = await pkiAcmeEabResource.create(engine, { mount: "pki" }, origin)
    await pkiAcmeEabResource.delete(engine, id, { mount: "pki" }, "safe", { before: observed, now })
    expect((await engine.acme("pki").eab.list()).map((waiting) => waiting.id)).not.toContain(observed.keyId)
    await expect(pkiAcmeEabResource.create(engine, { mount: "pki", role: "none" }, origin)).rejects.toThrow("none")
    expect(await pkiAcmeEabResource.observe(engine, "gone/eab/x", {}, { before: observed, now })).toBeUndefined()
    await expect(pkiAcmeEabResource.observe(engine, "x", {}, { before: observed, now })).rejects.toThrow(
      "MOUNT/eab/KEY_ID",
    )
  })
})
