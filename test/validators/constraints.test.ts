// The issuer agrees with verifiers: OpenSSL rejects what the issuer refuses because of its chain, and accepts what it issues. To test
// refused certificates, a twin CA with the same names and keys, but without the constraint, issues them.
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { isEngineError } from "../../engine/src/core/errors.ts"
import { dayMs, hourMs, secondMs } from "../../engine/src/core/time.ts"
import { parseIpRange } from "../../engine/src/pki/names/ip-address.ts"
import type { IssueInput } from "../../engine/src/pki/issuance/certificate-api.ts"
import type { RoleInput } from "../../engine/src/pki/roles/role.ts"
import { openTestEngine, type TestEngine } from "../../engine/testing/test-engine.ts"
import { testKeyGenerator } from "../../engine/testing/test-keys.ts"
import { oids } from "../../engine/src/x509/asn1/oids.ts"
import { assembleCertificate, encodeTbsCertificate } from "../../engine/src/x509/certificate.ts"
import type { Extension } from "../../engine/src/x509/extension.ts"
import {
  authorityKeyIdentifier,
  basicConstraints,
  extendedKeyUsage,
  keyUsage,
  subjectAltName,
  subjectKeyIdentifier as subjectKeyIdentifierExtension,
} from "../../engine/src/x509/extensions.ts"
import { encodeName } from "../../engine/src/x509/name.ts"
import { nameConstraints, type Subtree } from "../../engine/src/x509/name-constraints.ts"
import { writePem } from "../../engine/src/x509/pem.ts"
import type { PrivateKey } from "../../engine/src/x509/private-key.ts"
import { subjectKeyIdentifier } from "../../engine/src/x509/public-key.ts"
import { signatureAlgorithmIdentifier } from "../../engine/src/x509/signature-algorithm.ts"
import { signingKey } from "../../engine/src/x509/signing-key.ts"
import { openssl } from "../toolchain/validators.ts"
import { publicProgram } from "../toolchain/public-program.ts"
import { run } from "./run.ts"

const program = await publicProgram(openssl)

/** Constraints of a CA in a chain; its twin has none of them. */
interface Authority {
  readonly permitted?: readonly Subtree[]
  readonly excluded?: readonly Subtree[]
  readonly purposes?: readonly string[]
  readonly pathLength?: number
  readonly beginsInMs?: number
  readonly altName?: string
  readonly critical?: string
}

interface Case {
  readonly why: string
  /** From the root down; the last one issues. */
  readonly chain: readonly Authority[]
  readonly request: IssueInput
  readonly role?: RoleInput
  /** Part of the error text of the refusal; undefined if the certificate is issued. */
  readonly refused?: string
  /** The CA certificate that the refusal names. */
  readonly by?: "Authority 0" | "Authority 1" | "Authority 2"
  readonly purpose?: "sslserver" | "sslclient" | "smimesign"
  /** Reason why OpenSSL differs from RFC 5280 or from other verifiers. */
  readonly disagreement?: string
}

const dns = (value: string): Subtree => ({ kind: "dns", value })
const email = (value: string): Subtree => ({ kind: "email", value })
const uri = (value: string): Subtree => ({ kind: "uri", value })
const ip = (range: string): Subtree => {
  const parsed = parseIpRange(range)
  if (parsed === undefined) throw new TypeError(range)
  return { kind: "ip", ...parsed }
}
const directory = (commonName: string): Subtree => ({ kind: "directory", name: encodeName(nameOf(commonName)) })

const permits = (...permitted: Subtree[]): readonly Authority[] => [{ permitted }]
const excludes = (...excluded: Subtree[]): readonly Authority[] => [{ excluded }]
const host = (name: string): IssueInput => ({ altNames: [name] })

const notPermitted = "is not permitted"
const isExcluded = "is excluded"

const nameCases: readonly Case[] = [
  { why: "the domain itself", chain: permits(dns("example.com")), request: host("example.com") },
  { why: "a subdomain", chain: permits(dns("example.com")), request: host("a.b.EXAMPLE.com") },
  { why: "a wildcard below the domain", chain: permits(dns("example.com")), request: host("*.example.com") },
  {
    why: "one of two domains",
    chain: permits(dns("example.org"), dns("example.com")),
    request: host("www.example.com"),
  },
  { why: "every domain", chain: permits(dns("")), request: host("www.evil.org") },
  { why: "another domain", chain: permits(dns("example.com")), request: host("www.evil.org"), refused: notPermitted },
  {
    why: "a domain with the same ending",
    chain: permits(dns("example.com")),
    request: host("badexample.com"),
    refused: notPermitted,
  },
  {
    why: "a wildcard above the domain",
    chain: permits(dns("www.example.com")),
    request: host("*.example.com"),
    refused: notPermitted,
  },
  {
    why: "a subdomain where only those are permitted",
    chain: permits(dns(".example.com")),
    request: host("www.example.com"),
  },
  {
    why: "the domain where only subdomains are permitted",
    chain: permits(dns(".example.com")),
    request: host("example.com"),
    refused: notPermitted,
  },
  {
    why: "one good and one bad name",
    chain: permits(dns("example.com")),
    request: { altNames: ["www.example.com", "www.evil.org"] },
    refused: notPermitted,
  },
  { why: "a name outside an excluded domain", chain: excludes(dns("evil.org")), request: host("www.example.com") },
  { why: "an excluded domain", chain: excludes(dns("evil.org")), request: host("www.evil.org"), refused: isExcluded },
  {
    why: "an excluded part of a permitted domain",
    chain: [{ permitted: [dns("example.com")], excluded: [dns("secret.example.com")] }],
    request: host("a.secret.example.com"),
    refused: isExcluded,
  },
  {
    why: "a wildcard over an excluded name",
    chain: excludes(dns("secret.example.com")),
    request: host("*.example.com"),
    refused: isExcluded,
    disagreement: "it compares the wildcard as text; Go does not (CVE-2025-61727)",
  },
  {
    why: "a common name that is no alternative name",
    chain: permits(dns("example.com")),
    request: { commonName: "www.evil.org", excludeCnFromSans: true },
    refused: notPermitted,
  },
  {
    why: "a common name that is no host name",
    chain: permits(dns("example.com")),
    request: { commonName: "Some Body" },
  },
  {
    why: "a common name beside a good alternative name",
    chain: permits(dns("example.com")),
    request: { commonName: "some.body", altNames: ["www.example.com"], excludeCnFromSans: true },
  },
  {
    why: "names of another type",
    chain: permits(dns("example.com")),
    request: { ipSans: ["192.0.2.1"], uriSans: ["https://evil.org/"], altNames: ["a@evil.org"] },
  },
  { why: "an address in a permitted range", chain: permits(ip("192.0.2.0/24")), request: { ipSans: ["192.0.2.7"] } },
  {
    why: "an address outside a permitted range",
    chain: permits(ip("192.0.2.0/24")),
    request: { ipSans: ["192.0.3.7"] },
    refused: notPermitted,
  },
  {
    why: "an IPv6 address where IPv4 is permitted",
    chain: permits(ip("192.0.2.0/24")),
    request: { ipSans: ["2001:db8::1"] },
    refused: notPermitted,
  },
  { why: "an IPv6 address in range", chain: permits(ip("2001:db8::/32")), request: { ipSans: ["2001:db8:1::1"] } },
  {
    why: "an excluded address",
    chain: excludes(ip("10.0.0.0/8")),
    request: { ipSans: ["10.1.2.3"] },
    refused: isExcluded,
  },
  { why: "an address beside an excluded range", chain: excludes(ip("10.0.0.0/8")), request: { ipSans: ["11.1.2.3"] } },
  { why: "a mailbox of a permitted host", chain: permits(email("example.com")), request: host("a@example.com") },
  {
    why: "a mailbox of a host below it",
    chain: permits(email("example.com")),
    request: host("a@mail.example.com"),
    refused: notPermitted,
  },
  {
    why: "a mailbox below a permitted domain",
    chain: permits(email(".example.com")),
    request: host("a@mail.example.com"),
  },
  {
    why: "a mailbox of the domain where only those below are permitted",
    chain: permits(email(".example.com")),
    request: host("a@example.com"),
    refused: notPermitted,
  },
  { why: "the permitted mailbox", chain: permits(email("a@example.com")), request: host("a@Example.com") },
  {
    why: "another mailbox",
    chain: permits(email("a@example.com")),
    request: host("b@example.com"),
    refused: notPermitted,
  },
  {
    why: "an excluded mailbox",
    chain: excludes(email("example.com")),
    request: host("a@example.com"),
    refused: isExcluded,
  },
  {
    why: "a URI of a permitted host",
    chain: permits(uri("example.com")),
    request: { uriSans: ["spiffe://example.com/x"] },
  },
  {
    why: "a URI of a host below it",
    chain: permits(uri("example.com")),
    request: { uriSans: ["https://www.example.com/"] },
    refused: notPermitted,
  },
  {
    why: "a URI below a permitted domain",
    chain: permits(uri(".example.com")),
    request: { uriSans: ["https://u@www.example.com:8443/"] },
  },
  {
    why: "an excluded URI",
    chain: excludes(uri("evil.org")),
    request: { uriSans: ["https://evil.org/"] },
    refused: isExcluded,
  },
  {
    why: "a URI without a host",
    chain: excludes(uri("evil.org")),
    request: { uriSans: ["urn:example:a"] },
    refused: "cannot be compared",
  },
  {
    why: "a URI with an address for a host",
    chain: excludes(uri("evil.org")),
    request: { uriSans: ["https://192.0.2.1/"] },
    refused: "cannot be compared",
    disagreement: "it compares the address as a host name; Go and RFC 5280 do not",
  },
  {
    why: "a subject below a permitted name",
    chain: permits(directory("Some Body")),
    request: { commonName: "some  BODY" },
  },
  {
    why: "another subject",
    chain: permits(directory("Some Body")),
    request: { commonName: "Another Body" },
    refused: notPermitted,
  },
  {
    why: "an excluded subject",
    chain: excludes(directory("Some Body")),
    request: { commonName: "Some Body" },
    refused: isExcluded,
  },
  {
    why: "a name outside what the root permits",
    chain: [{ permitted: [dns("example.com")] }, {}],
    request: host("www.evil.org"),
    refused: notPermitted,
    by: "Authority 0",
  },
  {
    why: "a name inside what the root permits",
    chain: [{ permitted: [dns("example.com")] }, {}],
    request: host("www.example.com"),
  },
  {
    why: "a name that root and issuer permit",
    chain: [{ permitted: [dns("example.com")] }, { permitted: [dns("a.example.com")] }],
    request: host("b.a.example.com"),
  },
  {
    why: "a name that only the root permits",
    chain: [{ permitted: [dns("example.com")] }, { permitted: [dns("a.example.com")] }],
    request: host("b.example.com"),
    refused: notPermitted,
    by: "Authority 1",
  },
  {
    why: "anything below an issuer whose own name the root forbids",
    chain: [{ permitted: [dns("example.com")] }, { altName: "ca.evil.org" }],
    request: host("www.example.com"),
    refused: "ca.evil.org",
    by: "Authority 1",
  },
]

const serverOnly = { clientFlag: false } as const
const clientOnly = { serverFlag: false } as const

const otherCases: readonly Case[] = [
  {
    why: "a server below a CA for servers",
    chain: [{ purposes: [oids.serverAuth] }],
    role: serverOnly,
    request: host("a.example.com"),
  },
  {
    why: "a server below a CA for any purpose",
    chain: [{ purposes: [oids.anyExtendedKeyUsage] }],
    role: serverOnly,
    request: host("a.example.com"),
    disagreement: "it wants the very purpose in authorities, where RFC 5280 lets any stand for it",
  },
  {
    why: "a server below a CA for code signing",
    chain: [{ purposes: [oids.codeSigning] }],
    role: serverOnly,
    request: host("a.example.com"),
    refused: "does not allow serverAuth",
  },
  {
    why: "a client below a CA for servers",
    chain: [{ purposes: [oids.serverAuth] }],
    role: clientOnly,
    request: host("a.example.com"),
    purpose: "sslclient",
    refused: "does not allow clientAuth",
  },
  {
    why: "a client and server below a CA for servers",
    chain: [{ purposes: [oids.serverAuth] }],
    request: host("a.example.com"),
    purpose: "sslclient",
    refused: "does not allow clientAuth",
  },
  {
    why: "a server below a root for e-mail",
    chain: [{ purposes: [oids.emailProtection] }, {}],
    role: serverOnly,
    request: host("a.example.com"),
    refused: "does not allow serverAuth",
    by: "Authority 0",
  },
  { why: "a leaf below a path length of zero", chain: [{ pathLength: 0 }], request: host("a.example.com") },
  {
    why: "a leaf below an issuer that the root leaves no room for",
    chain: [{ pathLength: 0 }, {}],
    request: host("a.example.com"),
    refused: "limits the path length to 0",
    by: "Authority 0",
  },
  {
    why: "a leaf below the last issuer that there is room for",
    chain: [{ pathLength: 1 }, { pathLength: 0 }],
    request: host("a.example.com"),
  },
  {
    why: "a leaf two issuers below a path length of one",
    chain: [{ pathLength: 1 }, {}, {}],
    request: host("a.example.com"),
    refused: "limits the path length to 1",
    by: "Authority 0",
  },
  {
    why: "a leaf below an issuer that has not begun",
    chain: [{ beginsInMs: hourMs }],
    request: host("a.example.com"),
    refused: "is not valid before",
  },
  {
    why: "a leaf below a root that has not begun",
    chain: [{ beginsInMs: hourMs }, {}],
    request: host("a.example.com"),
    refused: "is not valid before",
    by: "Authority 0",
  },
  {
    why: "a leaf below a root with a critical extension of its own",
    chain: [{ critical: "1.3.6.1.4.1.99999.1" }, {}],
    request: host("a.example.com"),
    refused: "critical extension 1.3.6.1.4.1.99999.1",
    by: "Authority 0",
  },
]

function nameOf(commonName: string) {
  return [[{ type: oids.commonName, value: commonName }]]
}

const algorithm = "ECDSAWithSHA256"

async function certificateOf(
  at: number,
  authority: Authority,
  key: PrivateKey,
  parent: { readonly name: string; readonly key: PrivateKey },
): Promise<string> {
  const now = Math.floor(Date.now() / secondMs) * secondMs
  const { permitted = [], excluded = [], purposes, pathLength, beginsInMs = -hourMs, altName, critical } = authority
  const extensions: Extension[] = [
    basicConstraints({ isCa: true, ...(pathLength === undefined ? {} : { maxPathLength: pathLength }) }),
    keyUsage(["keyCertSign", "cRLSign"]),
    subjectKeyIdentifierExtension(subjectKeyIdentifier(key.publicKey)),
    authorityKeyIdentifier(subjectKeyIdentifier(parent.key.publicKey)),
    ...(permitted.length + excluded.length > 0 ? [nameConstraints({ permitted, excluded })] : []),
    ...(purposes === undefined ? [] : [extendedKeyUsage(purposes)]),
    ...(altName === undefined ? [] : [subjectAltName([{ kind: "dns", value: altName }], { critical: false })]),
    ...(critical === undefined ? [] : [{ oid: critical, critical: true, value: Uint8Array.of(5, 0) }]),
  ]
  const signatureAlgorithm = signatureAlgorithmIdentifier(algorithm)
  const tbs = encodeTbsCertificate({
    serialNumber: Uint8Array.of(1, at),
    signatureAlgorithm,
    issuer: encodeName(nameOf(parent.name)),
    notBefore: now + beginsInMs,
    notAfter: now + 30 * dayMs,
    subject: encodeName(nameOf(`Authority ${at}`)),
    subjectPublicKeyInfo: key.publicKey.spki,
    extensions,
  })
  const signature = await signingKey(parent.key).sign(tbs, algorithm)
  return writePem("CERTIFICATE", assembleCertificate(tbs, signatureAlgorithm, signature))
}

function refusalText(error: unknown): string {
  if (!isEngineError(error, "invalid")) throw error
  return error.message
}

const role: RoleInput = {
  allowAnyName: true,
  enforceHostnames: false,
  allowedUriSans: ["*"],
  allowedOtherSans: ["*"],
  cnValidations: ["disabled"],
  requireCn: false,
  keyType: "ec",
  ttlMs: hourMs,
}

describe.skipIf(program === undefined)("an issuer and OpenSSL", () => {
  let folder: string
  let testEngine: TestEngine
  let keys: readonly PrivateKey[]
  let mounts = 0

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "chancery-constraints-"))
    testEngine = await openTestEngine({ jobs: false })
    keys = await Promise.all([0, 1, 2].map(() => testKeyGenerator.generate({ type: "ec", bits: 256 })))
  })
  afterAll(async () => {
    await testEngine[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  const chainOf = (authorities: readonly Authority[]) =>
    Promise.all(
      authorities.map((authority, at) => {
        const parent = Math.max(0, at - 1)
        const [key, parentKey] = [keys[at], keys[parent]]
        if (key === undefined || parentKey === undefined) throw new TypeError("a chain is too long")
        return certificateOf(at, authority, key, { name: `Authority ${parent}`, key: parentKey })
      }),
    )

  async function issueFrom(chain: readonly string[], { role: change = {}, request }: Case): Promise<Uint8Array> {
    const path = `pki-${(mounts += 1)}`
    await testEngine.engine.mounts.create({ path })
    const pki = testEngine.engine.pki(path)
    const issuerPem = chain.at(-1) ?? ""
    const key = keys[chain.length - 1]?.pem("pkcs8") ?? ""
    const { mapping } = await pki.issuers.import([issuerPem, key, ...chain].join("\n"))
    const [issuerId = ""] = [...mapping].filter(([, keyId]) => keyId !== null).map(([id]) => id)
    await pki.roles.save("any", { ...role, ...change, issuerRef: issuerId })
    return (await pki.certificates.issue("any", request)).certificate
  }

  async function verify(certificate: Uint8Array, chain: readonly string[], purpose: string): Promise<boolean> {
    const [root = "", ...others] = chain
    const file = (name: string) => join(folder, name)
    await writeFile(file("root.pem"), `${root}\n`)
    await writeFile(file("untrusted.pem"), `${[root, ...others].join("\n")}\n`)
    await writeFile(file("leaf.pem"), `${writePem("CERTIFICATE", certificate)}\n`)
    const files = ["-CAfile", file("root.pem"), "-untrusted", file("untrusted.pem"), file("leaf.pem")]
    const { code } = await run(program ?? "", ["verify", "-x509_strict", "-purpose", purpose, ...files])
    return code === 0
  }

  const cases = [...nameCases, ...otherCases]

  test.each(cases.filter(({ refused }) => refused === undefined))("[F-P2] accept $why", async (constraintCase) => {
    const { chain, purpose = "sslserver", disagreement } = constraintCase
    const certificates = await chainOf(chain)
    const issued = await issueFrom(certificates, constraintCase)
    expect(await verify(issued, certificates, purpose)).toBe(disagreement === undefined)
  })

  test.each(cases.filter(({ refused }) => refused !== undefined))(
    "[F-P2] reject $why: $refused",
    async (constraintCase) => {
      const {
        chain,
        refused = "",
        by = `Authority ${chain.length - 1}`,
        purpose = "sslserver",
        disagreement,
      } = constraintCase
      const certificates = await chainOf(chain)
      const sentence = await issueFrom(certificates, constraintCase).then(() => "", refusalText)
      expect(sentence).toContain(refused)
      expect(sentence).toContain(`the certificate of "CN=${by}" (serial number 01:0${by.at(-1)})`)
      const twins = await chainOf(chain.map(() => ({})))
      const made = await issueFrom(twins, constraintCase)
      expect(await verify(made, certificates, purpose)).toBe(disagreement !== undefined)
    },
  )

  test.each([
    { setting: "disableNameConstraintChecks", chain: permits(dns("example.com")), request: host("www.evil.org") },
    { setting: "disablePathLengthChecks", chain: [{ pathLength: 0 }, {}], request: host("a.example.com") },
    {
      setting: "disableCriticalExtensionChecks",
      chain: [{ critical: "1.3.6.1.4.1.99999.1" }, {}],
      request: host("a.example.com"),
    },
  ])(
    "[F-P2] an issuer with $setting issues a certificate that OpenSSL rejects",
    async ({ setting, chain, request }) => {
      const certificates = await chainOf(chain)
      await testEngine.engine.mounts.create({ path: setting.toLowerCase() })
      const pki = testEngine.engine.pki(setting.toLowerCase())
      const { mapping } = await pki.issuers.import(
        [...certificates, keys[chain.length - 1]?.pem("pkcs8") ?? ""].join("\n"),
      )
      const [issuerId = ""] = [...mapping].filter(([, keyId]) => keyId !== null).map(([id]) => id)
      await pki.roles.save("any", { ...role, issuerRef: issuerId })
      await expect(pki.certificates.issue("any", request)).rejects.toMatchObject({ code: "invalid" })
      const { issuer } = await pki.issuers.update(issuerId, { [setting]: true })
      expect(issuer.settings).toMatchObject({ [setting]: true })
      const { certificate } = await pki.certificates.issue("any", request)
      expect(await verify(certificate, certificates, "sslserver")).toBe(false)
    },
  )
})
