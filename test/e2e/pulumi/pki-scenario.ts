// A mount and its roles from creation to destruction, with the real Pulumi engine.
import { secret } from "@pulumi/pulumi"
import { PkiMount, type PkiMountArgs, PkiRole, type PkiRoleArgs } from "@chancery/pulumi"
import { expect } from "vitest"
import type { TestStack } from "./stack.ts"

export interface DeclaredPki {
  readonly mount: PkiMountArgs
  readonly role: PkiRoleArgs
}

export const declarePki =
  ({ mount, role }: DeclaredPki) =>
  async () => {
    const pki = new PkiMount("pki", mount)
    new PkiRole("web", { mount: pki.path, ...role })
  }

/** Every member of a separately declared role. */
const everyRule: PkiRoleArgs = {
  ttl: "24h",
  maxTtl: "30d",
  notBeforeDuration: "1m",
  notBefore: null,
  notBeforeBound: "duration",
  notAfter: "2040-01-01T00:00:00Z",
  notAfterBound: "2041-01-01T00:00:00Z",
  allowLocalhost: false,
  allowedDomains: ["example.com", "example.org"],
  allowedDomainsTemplate: true,
  allowBareDomains: true,
  allowSubdomains: true,
  allowGlobDomains: true,
  allowWildcardCertificates: false,
  allowPartialWildcards: true,
  allowAnyName: true,
  enforceHostnames: false,
  allowIpSans: false,
  allowedIpSansCidr: ["10.0.0.0/8"],
  allowedUriSans: ["spiffe://example.com/*"],
  allowedUriSansTemplate: true,
  allowGlobsInIdentityTemplates: true,
  allowedOtherSans: ["1.2.3;UTF8:*"],
  allowedSerialNumbers: ["7"],
  allowedUserIds: ["u"],
  serverFlag: false,
  clientFlag: false,
  codeSigningFlag: true,
  emailProtectionFlag: true,
  keyUsages: ["DigitalSignature"],
  extKeyUsages: ["TimeStamping"],
  extKeyUsageOids: ["1.2.3.4"],
  keyType: "ec",
  keyBits: 384,
  signatureBits: 512,
  usePss: true,
  useCsrCommonName: false,
  useCsrSans: false,
  serialNumberSource: "json",
  requireCn: false,
  cnValidations: ["disabled"],
  organizationalUnits: ["Payments"],
  organizations: ["Acme"],
  countries: ["DE"],
  localities: ["Berlin"],
  provinces: ["Berlin"],
  streetAddresses: ["Weg 1"],
  postalCodes: ["10115"],
  policyIdentifiers: ["1.2.3", { oid: "1.2.4", notice: "n", cps: "https://example.com/cps" }],
  basicConstraintsValidForNonCa: true,
  issuerRef: "default",
  generateLease: true,
  noStoreMetadata: true,
}

export async function pkiScenario(stack: TestStack): Promise<void> {
  const { engine } = stack
  const roles = () => engine.pki("pki").roles
  const first: DeclaredPki = {
    mount: { description: secret("s3cret"), maxLeaseTtl: "8760h" },
    role: { allowedDomains: ["example.com"], allowSubdomains: true, ttl: "30d" },
  }
  const created = { pki: "create", web: "create" }
  const same = { pki: "same", web: "same" }

  expect((await stack.preview(declarePki(first))).operations).toEqual(created)
  expect(await engine.mounts.list()).toEqual([])
  expect((await stack.up(declarePki(first))).operations).toEqual(created)
  expect(await engine.mounts.get("pki")).toMatchObject({ description: "s3cret", config: { maxLeaseTtlMs: 31_536e6 } })
  expect(await roles().get("web")).toMatchObject({ allowedDomains: ["example.com"], ttlMs: 2_592e6, requireCn: true })
  const reworded = { ...first, role: { ...first.role, ttl: "720h" } }
  expect((await stack.up(declarePki(reworded))).operations).toEqual(same)

  // Declares every member.
  const everything: DeclaredPki = {
    mount: {
      description: "new",
      defaultLeaseTtl: "24h",
      maxLeaseTtl: "1000h",
      forceNoCache: true,
      listingVisibility: "unauth",
      allowedResponseHeaders: ["Link", "Location", "Replay-Nonce"],
      passthroughRequestHeaders: ["X-Trace"],
      auditNonHmacRequestKeys: ["common_name"],
      auditNonHmacResponseKeys: ["serial_number"],
    },
    role: everyRule,
  }
  const updated = { pki: "update", web: "update" }
  expect((await stack.preview(declarePki(everything))).operations).toEqual(updated)
  expect((await stack.up(declarePki(everything))).operations).toEqual(updated)
  expect(await engine.mounts.get("pki")).toMatchObject({
    description: "new",
    config: { defaultLeaseTtlMs: 86_400_000, listingVisibility: "unauth", auditNonHmacRequestKeys: ["common_name"] },
  })
  expect(await roles().get("web")).toMatchObject({ keyBits: 384, country: ["DE"], cnValidations: ["disabled"] })
  expect((await stack.up(declarePki(everything))).operations).toEqual(same)
  await stack.refresh()
  expect((await stack.preview(declarePki(everything))).operations).toEqual(same)

  // Changes by others, of declared and of undeclared settings.
  await engine.mounts.tune("pki", { description: "stolen" })
  await roles().update("web", { allowedDomains: ["evil.test"], noStore: false })
  await stack.refresh()
  expect((await stack.up(declarePki(everything))).operations).toEqual(updated)
  expect(await roles().get("web")).toMatchObject({ allowedDomains: ["example.com", "example.org"] })

  // Members that are no longer declared are reset to their defaults.
  const { notAfter: _notAfter, countries: _countries, ...fewer } = everyRule
  const less: DeclaredPki = { ...everything, role: fewer }
  expect((await stack.up(declarePki(less))).operations).toEqual({ pki: "same", web: "update" })
  expect(await roles().get("web")).toMatchObject({ notAfter: null, country: [], locality: ["Berlin"] })

  // A change that the engine would refuse fails with its property, before anything is changed.
  const refused: DeclaredPki = { ...less, role: { ...fewer, ttl: "2h", maxTtl: "1h", requireCn: true } }
  await expect(stack.up(declarePki(refused))).rejects.toThrow(/ttl value must be less than maxTtl/)
  expect(await roles().get("web")).toMatchObject({ ttlMs: 86_400_000, requireCn: false })

  // Another name means another role; another path means another mount with its roles.
  const renamed: DeclaredPki = { ...less, role: { ...fewer, name: "site" } }
  expect((await stack.up(declarePki(renamed))).operations).toEqual({ pki: "same", web: "replace" })
  expect(await roles().list()).toEqual(["site"])
  const moved: DeclaredPki = { ...renamed, mount: { ...renamed.mount, path: "team/pki" } }
  expect((await stack.up(declarePki(moved))).operations).toEqual({ pki: "replace", web: "replace" })
  expect((await engine.mounts.list()).map(({ path }) => path)).toEqual(["team/pki"])

  // Resources that others deleted are created again.
  await engine.mounts.delete("team/pki")
  await stack.refresh()
  expect((await stack.up(declarePki(moved))).operations).toEqual(created)

  const state = await stack.state()
  expect(state).toContain("v1.pkiRole;")
  expect(state).not.toContain("s3cret")
  expect(state).not.toContain(stack.token)

  // A mount with an undeclared role is not deleted.
  await engine.pki("team/pki").roles.save("theirs", {})
  await expect(stack.destroy()).rejects.toThrow(/has roles/)
  await engine.pki("team/pki").roles.delete("theirs")
  await stack.destroy()
  expect(await engine.mounts.list()).toEqual([])
}
