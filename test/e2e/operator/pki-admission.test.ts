// Issuers, roles and certificates that the API server rejects before the operator sees them. The TypeScript schemas apply the same rules
// without an API server.
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { beforeAll, describe, expect, test } from "vitest"
import { certificateRole } from "../../../operator/src/api/certificate-role.ts"
import { certificate } from "../../../operator/src/api/certificate.ts"
import type { Kind } from "../../../operator/src/api/definition.ts"
import { clusterIssuer, issuer } from "../../../operator/src/api/issuer.ts"
import { specFaults } from "../../../operator/src/api/rules.ts"
import { sharedCluster } from "./cluster.ts"

const cluster = sharedCluster()
const { kubectl } = cluster ?? { kubectl: async () => "" }
const namespace = "pki-admission"

interface Case {
  readonly why: string
  readonly spec: object
  /** Text in both the API server's error and ours, including the field; unset if the object is admitted. */
  readonly says?: RegExp
  /** Text in our error, if the API server words a built-in rule differently. */
  readonly ours?: RegExp
}

const connectionRef = { kind: "ClusterConnection", name: "engine" }
const web = { secretName: "web-tls", issuerRef: { name: "ca" }, dnsNames: ["www.example.com"] }
const ca = { connectionRef, mount: "pki" }
const many = (count: number, of: (index: number) => unknown) => Array.from({ length: count }, (_, index) => of(index))

const certificateCases: readonly Case[] = [
  { why: "the least that one needs", spec: web },
  {
    why: "everything",
    spec: {
      ...web,
      secretAdoption: "Force",
      issuerRef: { group: "chancery.dev", kind: "ClusterIssuer", name: "ca.example" },
      role: "Web_role.1",
      commonName: "Web",
      dnsNames: ["a.example.com", "*.example.com"],
      ipAddresses: ["10.0.0.1", "2001:db8::1"],
      uris: ["spiffe://example.com/web", "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6"],
      emailAddresses: ["ops@example.com"],
      userIDs: ["alice"],
      otherNames: [{ oid: "1.3.6.1.4.1.311.20.2.3", utf8Value: "alice@example.com" }],
      duration: "2160h",
      renewBefore: "360h30m",
      renewalPolicy: "Disabled",
      renewalWindows: [{ cron: "0 2 * * *", duration: "2h", timezone: "Europe/Zurich" }],
      privateKey: { algorithm: "RSA", size: 4096, encoding: "PKCS1", rotationPolicy: "Never" },
      keySource: "Operator",
      usages: ["digitalSignature", "serverAuth"],
      excludeCNFromSANs: true,
      removeRootsFromChain: true,
      secretTemplate: { labels: { app: "web" }, annotations: { "example.com/note": "x" } },
      additionalOutputFormats: [
        { type: "DER" },
        { type: "CombinedPEM" },
        { type: "FullChain" },
        { type: "PKCS12", password: "hunter2" },
      ],
      trust: { publishTo: { configMapName: "trust" }, overlap: "48h" },
      rolloutRestart: [
        { kind: "Deployment", name: "web" },
        { kind: "StatefulSet", name: "web" },
      ],
      revisionHistoryLimit: 100,
      secretDeletionPolicy: "Retain",
      revocationPolicy: { onDelete: true, onRotation: true },
    },
  },
  { why: "an end in place of a duration", spec: { ...web, notAfter: "2030-01-31T08:00:00Z" } },
  { why: "a share of its life", spec: { ...web, renewBeforePercentage: 33 } },
  { why: "a key of the engine", spec: { ...web, keySource: "Engine" } },
  { why: "an Ed25519 key", spec: { ...web, privateKey: { algorithm: "Ed25519" } } },
  { why: "a P-521 key", spec: { ...web, privateKey: { size: 521 } } },
  ...["commonName", "ipAddresses", "uris", "emailAddresses", "userIDs", "otherNames"].map((name) => {
    const values: Readonly<Record<string, unknown>> = {
      commonName: "web",
      ipAddresses: ["::1"],
      uris: ["https://example.com"],
      emailAddresses: ["a@b"],
      userIDs: ["a"],
      otherNames: [{ oid: "1.2.3", utf8Value: "a" }],
    }
    return { why: `${name} alone`, spec: { ...web, dnsNames: undefined, [name]: values[name] } }
  }),
  {
    why: "no name at all",
    spec: { ...web, dnsNames: undefined },
    says: /at least one of commonName, dnsNames, .* is required/,
  },
  { why: "no Secret", spec: { ...web, secretName: undefined }, says: /spec\.secretName/ },
  { why: "a Secret's name with slashes", spec: { ...web, secretName: "a/b" }, says: /spec\.secretName/ },
  { why: "an issuer without a name", spec: { ...web, issuerRef: {} }, says: /spec\.issuerRef\.name/ },
  {
    why: "an issuer of another group",
    spec: { ...web, issuerRef: { name: "ca", group: "cert-manager.io" } },
    says: /spec\.issuerRef\.group/,
  },
  {
    why: "an issuer of no kind",
    spec: { ...web, issuerRef: { name: "ca", kind: "Role" } },
    says: /spec\.issuerRef\.kind/,
  },
  { why: "a role's name with a slash", spec: { ...web, role: "a/b" }, says: /spec\.role/ },
  { why: "a common name of 65 characters", spec: { ...web, commonName: "a".repeat(65) }, says: /spec\.commonName/ },
  { why: "no host names", spec: { ...web, dnsNames: [] }, says: /spec\.dnsNames/ },
  {
    why: "101 host names",
    spec: { ...web, dnsNames: many(101, (index) => `${index}.example.com`) },
    says: /spec\.dnsNames/,
  },
  { why: "a host name without end", spec: { ...web, dnsNames: ["a".repeat(254)] }, says: /spec\.dnsNames/ },
  {
    why: "an address that is none",
    spec: { ...web, ipAddresses: ["10.0.0.256"] },
    says: /ipAddresses must be IPv4 or IPv6 addresses/,
  },
  { why: "a URI that is none", spec: { ...web, uris: ["www.example.com"] }, says: /uris must be URIs with a scheme/ },
  {
    why: "[F-K6] a URI outside ASCII",
    spec: { ...web, uris: ["https://example.com/größe"] },
    says: /uris must be URIs with a scheme, in ASCII/,
  },
  {
    why: "a mailbox without @",
    spec: { ...web, emailAddresses: ["ops"] },
    says: /emailAddresses must be ASCII before the @/,
  },
  {
    why: "[F-K6] a mailbox outside ASCII",
    spec: { ...web, emailAddresses: ["jürgen@example.com"] },
    says: /emailAddresses must be ASCII before the @/,
  },
  {
    why: "[F-K6] internationalized domain names",
    spec: { ...web, dnsNames: ["bücher.example"], emailAddresses: ["ops@bücher.example"] },
  },
  {
    why: "an other name of no identifier",
    spec: { ...web, otherNames: [{ oid: "upn", utf8Value: "a" }] },
    says: /spec\.otherNames/,
  },
  { why: "a duration in days", spec: { ...web, duration: "90d" }, says: /spec\.duration/ },
  {
    why: "two ends",
    spec: { ...web, duration: "1h", notAfter: "2030-01-31T08:00:00Z" },
    says: /duration and notAfter are mutually exclusive/,
  },
  { why: "an end that is none", spec: { ...web, notAfter: "tomorrow" }, says: /spec\.notAfter/ },
  {
    why: "a renewal a minute before its end",
    spec: { ...web, renewBefore: "1m" },
    says: /renewBefore must be at least 5m/,
  },
  {
    why: "a renewal before its beginning",
    spec: { ...web, duration: "24h", renewBefore: "24h" },
    says: /renewBefore must be less than duration/,
  },
  {
    why: "two times of renewal",
    spec: { ...web, renewBefore: "1h", renewBeforePercentage: 10 },
    says: /renewBefore and renewBeforePercentage are mutually exclusive/,
  },
  { why: "a renewal at once", spec: { ...web, renewBeforePercentage: 100 }, says: /spec\.renewBeforePercentage/ },
  {
    why: "a window of a second",
    spec: { ...web, renewalWindows: [{ cron: "0 2 * * *", duration: "1s" }] },
    says: /duration of a renewal window must be at least 1m/,
  },
  {
    why: "17 windows",
    spec: { ...web, renewalWindows: many(17, () => ({ cron: "0 2 * * *", duration: "1h" })) },
    says: /spec\.renewalWindows/,
  },
  {
    why: "an RSA key of 1024 bits",
    spec: { ...web, privateKey: { algorithm: "RSA", size: 1024 } },
    says: /size must be 2048, 3072, 4096 or 8192 for RSA/,
  },
  {
    why: "an RSA key on a curve",
    spec: { ...web, privateKey: { algorithm: "RSA", size: 256 } },
    says: /size must be 2048, 3072/,
  },
  {
    why: "an Ed25519 key of a size",
    spec: { ...web, privateKey: { algorithm: "Ed25519", size: 256 } },
    says: /absent for Ed25519/,
  },
  {
    why: "an Ed25519 key in PKCS #1",
    spec: { ...web, privateKey: { algorithm: "Ed25519", encoding: "PKCS1" } },
    says: /encoding must be PKCS8 for Ed25519/,
  },
  {
    why: "the engine's key that stays",
    spec: { ...web, keySource: "Engine", privateKey: { rotationPolicy: "Never" } },
    says: /privateKey\.rotationPolicy must be Always if keySource is Engine/,
  },
  { why: "a usage there is not", spec: { ...web, usages: ["everything"] }, says: /spec\.usages/ },
  {
    why: "our label",
    spec: { ...web, secretTemplate: { labels: { "controller.chancery.dev/managed": "no" } } },
    says: /labels must not have the prefix chancery\.dev\//,
  },
  {
    why: "our annotation",
    spec: { ...web, secretTemplate: { annotations: { "chancery.dev/role": "x" } } },
    says: /annotations must not have the prefix chancery\.dev\//,
  },
  {
    why: "a form twice",
    spec: { ...web, additionalOutputFormats: [{ type: "DER" }, { type: "DER" }] },
    says: /spec\.additionalOutputFormats.*Duplicate/,
    ours: /^spec\.additionalOutputFormats\.1: is a duplicate/,
  },
  {
    why: "a password for DER",
    spec: { ...web, additionalOutputFormats: [{ type: "DER", password: "x" }] },
    says: /password requires type PKCS12/,
  },
  {
    why: "a password of other letters",
    spec: { ...web, additionalOutputFormats: [{ type: "PKCS12", password: "pässword" }] },
    says: /password/,
  },
  {
    why: "an overlap of a second",
    spec: { ...web, trust: { publishTo: { configMapName: "trust" }, overlap: "1s" } },
    says: /overlap must be at least 1m/,
  },
  {
    why: "a restart of a Pod",
    spec: { ...web, rolloutRestart: [{ kind: "Pod", name: "web" }] },
    says: /spec\.rolloutRestart/,
  },
  { why: "no history", spec: { ...web, revisionHistoryLimit: 0 }, says: /spec\.revisionHistoryLimit/ },
]

const issuerCases: readonly Case[] = [
  { why: "the least that one needs", spec: ca },
  {
    why: "everything",
    spec: {
      ...ca,
      mount: "team/pki",
      issuerRef: "root-2026",
      defaultRole: "web",
      pathMode: "PathOverride",
      caChainConfigMap: "chain",
      acme: { directory: "role:web", eabPolicy: "NewAccountRequired", eabSecretName: "eab" },
    },
  },
  ...["forbid", "sign-verbatim", "external-policy", "external-policy:strict"].map((directory) => ({
    why: `a directory that is ${directory}`,
    spec: { ...ca, acme: { directory } },
  })),
  { why: "a directory of no role", spec: { ...ca, acme: { directory: "role:" } }, says: /spec\.acme\.directory/ },
  {
    why: "a directory of any other word",
    spec: { ...ca, acme: { directory: "allow" } },
    says: /spec\.acme\.directory/,
  },
  {
    why: "a policy of tokens there is not",
    spec: { ...ca, acme: { eabPolicy: "Never" } },
    says: /spec\.acme\.eabPolicy/,
  },
  {
    why: "a Secret for the token with a slash",
    spec: { ...ca, acme: { eabSecretName: "a/b" } },
    says: /spec\.acme\.eabSecretName/,
  },
  { why: "no connection", spec: { mount: "pki" }, says: /spec\.connectionRef/ },
  { why: "no mount", spec: { connectionRef }, says: /spec\.mount/ },
  { why: "a mount that begins with a slash", spec: { ...ca, mount: "/pki" }, says: /spec\.mount/ },
  { why: "an authority with a slash", spec: { ...ca, issuerRef: "a/b" }, says: /spec\.issuerRef/ },
  { why: "a way there is not", spec: { ...ca, pathMode: "Any" }, says: /spec\.pathMode/ },
  { why: "a ConfigMap with a space", spec: { ...ca, caChainConfigMap: "a b" }, says: /spec\.caChainConfigMap/ },
]

const clusterIssuerCases: readonly Case[] = [
  ...issuerCases,
  {
    why: "a connection of a namespace",
    spec: { ...ca, connectionRef: { name: "engine" } },
    says: /connectionRef\.kind of a ClusterIssuer must be ClusterConnection/,
  },
]

const roleCases: readonly Case[] = [
  { why: "the least that one needs", spec: ca },
  {
    why: "nearly everything",
    spec: {
      ...ca,
      name: "Web",
      adoptionPolicy: "IfExists",
      driftPolicy: "Report",
      deletionPolicy: "Retain",
      ttl: "720h",
      maxTtl: "2160h",
      notBeforeDuration: "30s",
      notBefore: "2026-01-31T08:00:00Z",
      notAfterBound: "ttl-limited",
      allowedDomains: ["example.com"],
      allowSubdomains: true,
      keyUsages: ["DigitalSignature"],
      keyType: "rsa",
      keyBits: 4096,
      cnValidations: ["hostname"],
      organizations: ["Example", "Example"],
      countries: ["CH"],
      policyIdentifiers: [{ oid: "1.2.3", cps: "https://example.com/cps" }],
      issuerRef: "default",
      noStore: true,
    },
  },
  {
    why: "a lease of what is not kept",
    spec: { ...ca, generateLease: true, noStore: true },
    says: /generateLease has no effect with noStore/,
  },
  { why: "a key of no kind", spec: { ...ca, keyType: "dsa" }, says: /spec\.keyType/ },
  { why: "a country of three letters", spec: { ...ca, countries: ["CHE"] }, says: /spec\.countries/ },
  { why: "a lifetime in days", spec: { ...ca, ttl: "90d" }, says: /spec\.ttl/ },
  { why: "a name with a slash", spec: { ...ca, name: "a/b" }, says: /spec\.name/ },
  {
    why: "201 domains",
    spec: { ...ca, allowedDomains: many(201, (index) => `${index}.example.com`) },
    says: /spec\.allowedDomains/,
  },
  {
    why: "a policy of no identifier",
    spec: { ...ca, policyIdentifiers: [{ cps: "x" }] },
    says: /spec\.policyIdentifiers/,
  },
  { why: "a validation there is not", spec: { ...ca, cnValidations: ["dns"] }, says: /spec\.cnValidations/ },
]

const kinds: readonly { readonly kind: Kind<unknown>; readonly cases: readonly Case[] }[] = [
  { kind: certificate, cases: certificateCases },
  { kind: issuer, cases: issuerCases },
  { kind: clusterIssuer, cases: clusterIssuerCases },
  { kind: certificateRole, cases: roleCases },
]

const manifest = (kind: Kind<unknown>, name: string, spec: object) => ({
  apiVersion: "chancery.dev/v1alpha1",
  kind: kind.kind,
  metadata: { name, ...(kind.scope === "Cluster" ? {} : { namespace }) },
  spec,
})

/** Returns the API server's answers by name, from one command, because each command takes a while. */
async function answers(kind: Kind<unknown>, cases: readonly Case[]): Promise<ReadonlyMap<string, string>> {
  const items = cases.map(({ spec }, index) => manifest(kind, `case-${index}`, spec))
  const list = JSON.stringify({ apiVersion: "v1", kind: "List", items })
  const said = await kubectl(["create", "--dry-run=server", "--validate=false", "-o", "name", "-f", "-"], list).catch(
    (error: Error) => error.message,
  )
  const parts = said.split(/^(?=Error from server)/m)
  return new Map(
    parts.flatMap((part) => {
      const [, name] = / "(case-\d+)" is invalid: /.exec(part) ?? []
      return name === undefined ? [] : [[name, part]]
    }),
  )
}

describe.skipIf(cluster === undefined).each(kinds)("the kind $kind.kind", ({ kind, cases }) => {
  let refusals: ReadonlyMap<string, string>
  beforeAll(async () => {
    await kubectl(["create", "namespace", namespace]).catch(() => "")
    refusals = await answers(kind, cases)
  })

  test.each(cases.map((one, index) => ({ ...one, index, is: one.says === undefined ? "admitted" : "refused" })))(
    "is $is with $why, by the apiserver and by us",
    ({ index, spec, says = /^$/, ours = says }) => {
      expect(refusals.get(`case-${index}`) ?? "").toMatch(says)
      const faults = specFaults(kind, JSON.parse(JSON.stringify(spec)))
      expect(faults.map(({ field, message }) => `${field}: ${message}`).join("\n")).toMatch(ours)
    },
  )

  test("has no room for what nobody knows, and is explained", async () => {
    const unknown = JSON.stringify(
      manifest(kind, "unknown", { ...(kind === certificate ? web : ca), everything: true }),
    )
    await expect(kubectl(["create", "--dry-run=server", "--validate=strict", "-f", "-"], unknown)).rejects.toThrow(
      /unknown field "spec\.everything"/,
    )
    const explained = await kubectl(["explain", `${kind.plural}.chancery.dev`, "--recursive=false"])
    expect(explained).toContain(kind.description.slice(0, 40))
  })
})

describe.skipIf(cluster === undefined)("once it is made", () => {
  test.each([
    { kind: certificateRole, spec: ca, change: { mount: "other" }, says: /mount cannot be changed/ },
    { kind: certificateRole, spec: ca, change: { name: "other" }, says: /name cannot be changed/ },
    {
      kind: certificateRole,
      spec: ca,
      change: { connectionRef: { name: "other" } },
      says: /connectionRef cannot be changed/,
    },
  ])("a $kind.kind cannot have $change", async ({ kind, spec, change, says }) => {
    const name = `kept-${Object.keys(change).join("").toLowerCase()}`
    await kubectl(["create", "namespace", namespace]).catch(() => "")
    // Paused, in case an operator reconciles the namespace.
    const made = manifest(kind, name, spec)
    const paused = { ...made, metadata: { ...made.metadata, annotations: { "chancery.dev/paused": "true" } } }
    await kubectl(["create", "-f", "-"], JSON.stringify(paused))
    const patch = JSON.stringify({ spec: change })
    const args = ["patch", `${kind.plural}.chancery.dev`, name, "-n", namespace, "--type=merge", "-p", patch]
    await expect(kubectl(args)).rejects.toThrow(says)
    const faults = specFaults(kind, { ...spec, ...change }, spec)
    expect(faults.map(({ field, message }) => `${field}: ${message}`).join("\n")).toMatch(says)
  })

  test("the README's authority and certificate are admitted as they stand there", async () => {
    const readme = await readFile(join(import.meta.dirname, "../../../operator/README.md"), "utf8")
    const [manifests = ""] = readme.match(/(?<=```yaml\n)[^`]*kind: Certificate\n[^`]*(?=```)/) ?? []
    const own = manifests.replaceAll("namespace: shop", `namespace: ${namespace}`)
    const said = await kubectl(["create", "--dry-run=server", "--validate=strict", "-o", "name", "-f", "-"], own)
    expect(said).toBe("issuer.chancery.dev/internal\ncertificate.chancery.dev/web\n")
  })

  test("a Certificate begins with these defaults, and as one that nobody has looked at", async () => {
    const made = await kubectl(
      ["create", "--dry-run=server", "-o", "json", "-f", "-"],
      JSON.stringify(manifest(certificate, "new", web)),
    )
    expect(JSON.parse(made)).toMatchObject({
      spec: {
        issuerRef: { group: "chancery.dev", kind: "Issuer" },
        privateKey: { algorithm: "ECDSA", encoding: "PKCS8", rotationPolicy: "Always" },
        keySource: "Operator",
        renewalPolicy: "Auto",
        secretAdoption: "Never",
        secretDeletionPolicy: "Delete",
        revisionHistoryLimit: 1,
        revocationPolicy: { onDelete: false, onRotation: false },
      },
      status: { observedGeneration: 0 },
    })
  })
})
