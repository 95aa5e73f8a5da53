// Mounts, authorities and projects that the API server rejects before the operator sees them. The TypeScript schemas apply the same rules without an API server.
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { certificateAuthority } from "../../../operator/src/api/certificate-authority.ts"
import { mount } from "../../../operator/src/api/mount.ts"
import { project } from "../../../operator/src/api/project.ts"
import { admissionCases, type Case, cluster, kubectl } from "./admission-cases.ts"

const connectionRef = { kind: "ClusterConnection", name: "engine" }
const pki = { connectionRef, path: "pki" }
const acme = {
  clusterPath: "https://ca.example.com/v1/pki",
  allowedResponseHeaders: ["Location", "Replay-Nonce", "Link"],
  acme: { enabled: true },
}

const accessor = "auth_userpass_1a2b3c4d"
const est = {
  delegatedAuthAccessors: [accessor],
  est: { enabled: true, authenticators: { userpass: { accessor } } },
}

const mountCases: readonly Case[] = [
  { why: "the required fields only", spec: pki },
  {
    why: "nearly every field",
    spec: {
      ...pki,
      path: "team/pki",
      adoptionPolicy: "IfExists",
      driftPolicy: "Report",
      deletionPolicy: "Delete",
      description: "Certificates of the platform team",
      defaultLeaseTtl: "24h",
      maxLeaseTtl: "8760h",
      listingVisibility: "unauth",
      ...acme,
      clusterAiaPath: "http://ca.example.com/v1/pki",
      urls: { issuingCertificates: ["{{cluster_aia_path}}/ca"], enableTemplating: true },
      crl: { expiry: "48h", autoRebuild: true, enableDelta: true, shards: 16, ocspUnknownSerials: "good" },
      autoTidy: { enabled: true, tidyCertStore: true, safetyBuffer: "24h", pageSize: 500 },
      acme: { enabled: true, defaultDirectoryPolicy: "role:web", allowedRoles: ["web"], eabPolicy: "always-required" },
      delegatedAuthAccessors: [accessor, "auth_cert_5e6f7a8b"],
      est: {
        enabled: true,
        defaultMount: true,
        defaultPathPolicy: "role:printers",
        labelToPathPolicy: { printers: "role:printers", "raw.1": "sign-verbatim", by: "external-policy:devices" },
        authenticators: { userpass: { accessor }, cert: { accessor: "auth_cert_5e6f7a8b", certRole: "printers" } },
        enableSentinelParsing: false,
        auditFields: ["csr", "common_name"],
        manualApproval: ["role:printers"],
      },
    },
  },
  { why: "no path", spec: { connectionRef }, expected: /spec\.path/ },
  { why: "a path with a slash at its end", spec: { ...pki, path: "pki/" }, expected: /spec\.path/ },
  { why: "a lifetime in days", spec: { ...pki, maxLeaseTtl: "90d" }, expected: /spec\.maxLeaseTtl/ },
  {
    why: "a lifetime of nothing",
    spec: { ...pki, maxLeaseTtl: "0s" },
    expected: /maxLeaseTtl must be at least 1s/,
  },
  {
    why: "a default above the maximum",
    spec: { ...pki, defaultLeaseTtl: "48h", maxLeaseTtl: "24h" },
    expected: /defaultLeaseTtl must not exceed maxLeaseTtl/,
  },
  { why: "ACME with all that it needs", spec: { ...pki, ...acme } },
  {
    why: "ACME without an address",
    spec: { ...pki, ...acme, clusterPath: undefined },
    expected: /acme\.enabled requires clusterPath/,
  },
  {
    why: "ACME without one of the headers",
    spec: { ...pki, ...acme, allowedResponseHeaders: ["Location", "Link"] },
    expected: /acme\.enabled requires Location, Replay-Nonce, Link in allowedResponseHeaders/,
  },
  {
    why: "an unknown ACME policy",
    spec: { ...pki, acme: { defaultDirectoryPolicy: "web" } },
    expected: /defaultDirectoryPolicy must be forbid, sign-verbatim, role:NAME/,
  },
  {
    why: "an unknown EAB policy",
    spec: { ...pki, acme: { eabPolicy: "Always" } },
    expected: /spec\.acme\.eabPolicy/,
  },
  { why: "EST with all that it needs", spec: { ...pki, ...est } },
  {
    why: "EST without fields in the audit log, labels and authenticators",
    spec: { ...pki, est: { defaultPathPolicy: "", labelToPathPolicy: {}, authenticators: {}, auditFields: [] } },
  },
  {
    why: "an auth method that the mount does not allow",
    spec: { ...pki, ...est, delegatedAuthAccessors: ["auth_userpass_5e6f7a8b"] },
    expected: /delegatedAuthAccessors must have the accessor of est\.authenticators\.userpass/,
  },
  {
    why: "an auth method in a mount that allows none",
    spec: { ...pki, est: { authenticators: { cert: { accessor: "auth_cert_5e6f7a8b" } } } },
    expected: /delegatedAuthAccessors must have the accessor of est\.authenticators\.cert/,
  },
  {
    why: "authenticators without an accessor",
    spec: { ...pki, est: { authenticators: { cert: { certRole: "printers" } } } },
    expected: /spec\.est\.authenticators\.cert\.accessor/,
  },
  {
    why: "a policy of ACME only",
    spec: { ...pki, est: { defaultPathPolicy: "forbid" } },
    expected: /defaultPathPolicy must be sign-verbatim, role:NAME/,
  },
  {
    why: "a default mount of EST without a policy",
    spec: { ...pki, est: { defaultMount: true } },
    expected: /defaultMount requires defaultPathPolicy/,
  },
  {
    why: "a label with an unknown policy",
    spec: { ...pki, est: { labelToPathPolicy: { printers: "printers" } } },
    expected: /values of labelToPathPolicy must be sign-verbatim, role:NAME/,
  },
  {
    why: "a label with a slash",
    spec: { ...pki, est: { labelToPathPolicy: { "a/b": "role:printers" } } },
    expected: /labels of labelToPathPolicy must be 1 to 64 letters/,
  },
  {
    why: "an approval of no policy",
    spec: { ...pki, est: { manualApproval: ["printers"] } },
    expected: /entries of manualApproval must be \*, sign-verbatim/,
  },
  {
    why: "an unknown field of CSRs",
    spec: { ...pki, est: { auditFields: ["password"] } },
    expected: /spec\.est\.auditFields/,
  },
  {
    why: "delta CRLs without automatic ones",
    spec: { ...pki, crl: { enableDelta: true } },
    expected: /enableDelta requires autoRebuild true/,
  },
  { why: "three shards", spec: { ...pki, crl: { shards: 3 } }, expected: /shards must be a power of two/ },
  { why: "an empty list of URLs", spec: { ...pki, urls: { ocspServers: [] } }, expected: /spec\.urls\.ocspServers/ },
  {
    why: "an unknown deletion policy",
    spec: { ...pki, deletionPolicy: "Force" },
    expected: /spec\.deletionPolicy/,
  },
]

const root = { connectionRef, mount: "pki", type: "Root", commonName: "Example Root" }
const issuing = { ...root, type: "Intermediate", parentRef: { name: "root" } }

const authorityCases: readonly Case[] = [
  { why: "the required fields only", spec: root },
  { why: "the required fields of an intermediate", spec: issuing },
  {
    why: "everything",
    spec: {
      ...root,
      name: "Root_2026",
      subject: {
        organizations: ["Example"],
        organizationalUnits: ["PKI"],
        countries: ["CH"],
        localities: ["Bern"],
        provinces: ["Bern"],
        streetAddresses: ["Bundesplatz 1"],
        postalCodes: ["3003"],
        serialNumber: "1",
      },
      privateKey: { algorithm: "RSA", size: 4096 },
      duration: "87600h",
      renewBefore: "8760h",
      maxPathLength: 1,
      nameConstraints: {
        permitted: { dnsDomains: [".example.com"], ipRanges: ["10.0.0.0/8", "2001:db8::/32"] },
        excluded: { emailAddresses: ["example.org"], uriDomains: ["example.org"] },
      },
      crossSign: true,
      leafNotAfterBehavior: "truncate",
      urls: { issuingCertificates: ["http://ca.example.com/ca"], ocspServers: ["http://ca.example.com/ocsp"] },
      isDefault: true,
      caChainConfigMap: "root-ca",
      deletionPolicy: "Delete",
    },
  },
  { why: "no common name", spec: { ...root, commonName: undefined }, expected: /spec\.commonName/ },
  { why: "an unknown type", spec: { ...root, type: "Leaf" }, expected: /spec\.type/ },
  {
    why: "an intermediate without a parent",
    spec: { ...issuing, parentRef: undefined },
    expected: /parentRef is required with type Intermediate/,
  },
  {
    why: "a root with a parent",
    spec: { ...root, parentRef: { name: "other" } },
    expected: /parentRef is required with type Intermediate, and not allowed with type Root/,
  },
  { why: "the name default", spec: { ...root, name: "default" }, expected: /name must not be default/ },
  { why: "a name with a slash", spec: { ...root, name: "a/b" }, expected: /spec\.name/ },
  {
    why: "a key of an odd size",
    spec: { ...root, privateKey: { algorithm: "RSA", size: 1024 } },
    expected: /size must be 2048, 3072, 4096 or 8192 for RSA/,
  },
  {
    why: "a country in words",
    spec: { ...root, subject: { countries: ["Switzerland"] } },
    expected: /spec\.subject\.countries/,
  },
  { why: "a lifetime in years", spec: { ...root, duration: "10y" }, expected: /spec\.duration/ },
  { why: "a lifetime of minutes", spec: { ...root, duration: "30m" }, expected: /duration must be at least 1h/ },
  {
    why: "a rotation before the beginning",
    spec: { ...root, duration: "720h", renewBefore: "720h" },
    expected: /renewBefore must be less than duration/,
  },
  { why: "a negative path length", spec: { ...root, maxPathLength: -1 }, expected: /spec\.maxPathLength/ },
  {
    why: "an address for a range",
    spec: { ...root, nameConstraints: { permitted: { ipRanges: ["10.0.0.1"] } } },
    expected: /ipRanges must be IP ranges such as 10\.0\.0\.0\/8/,
  },
  {
    why: "a cross-signed intermediate",
    spec: { ...issuing, crossSign: true },
    expected: /crossSign requires type Root/,
  },
  {
    why: "a cross-signature for the same key",
    spec: { ...root, crossSign: true, privateKey: { rotationPolicy: "Never" } },
    expected: /crossSign requires privateKey\.rotationPolicy Always/,
  },
  {
    why: "a cross-signature by a root with nothing below it",
    spec: { ...root, crossSign: true, maxPathLength: 0 },
    expected: /crossSign requires maxPathLength of at least 1/,
  },
  {
    why: "an unknown behaviour of leaves",
    spec: { ...root, leafNotAfterBehavior: "cut" },
    expected: /spec\.leafNotAfterBehavior/,
  },
]

const shop = { connectionRef }

const projectCases: readonly Case[] = [
  { why: "the required fields only", spec: shop },
  {
    why: "everything",
    spec: {
      ...shop,
      organization: "acme",
      name: "The shop",
      adoptionPolicy: "MustExist",
      driftPolicy: "Report",
      deletionPolicy: "Delete",
      description: "What the shop runs on",
      autoDestroyActivityDuration: "14d",
      defaultExecutionMode: "agent",
      defaultAgentPool: { name: "pool" },
      tagBindings: [{ key: "team", value: "shop" }],
    },
  },
  { why: "a name that ends with a space", spec: { ...shop, name: "shop " }, expected: /spec\.name/ },
  { why: "a name of 41 characters", spec: { ...shop, name: "a".repeat(41) }, expected: /spec\.name/ },
  {
    why: "inactivity in weeks",
    spec: { ...shop, autoDestroyActivityDuration: "2w" },
    expected: /spec\.autoDestroyActivityDuration/,
  },
  {
    why: "a pool without agents",
    spec: { ...shop, defaultExecutionMode: "remote", defaultAgentPool: { name: "pool" } },
    expected: /defaultAgentPool is required with defaultExecutionMode agent, and not allowed otherwise/,
  },
  {
    why: "agents without a pool",
    spec: { ...shop, defaultExecutionMode: "agent" },
    expected: /defaultAgentPool is required with defaultExecutionMode agent/,
  },
  {
    why: "a pool by id and name",
    spec: { ...shop, defaultExecutionMode: "agent", defaultAgentPool: { name: "pool", id: "apool-1" } },
    expected: /defaultAgentPool requires exactly one of id, name/,
  },
  {
    why: "two values of one tag",
    spec: {
      ...shop,
      tagBindings: [
        { key: "team", value: "a" },
        { key: "team", value: "b" },
      ],
    },
    expected: /spec\.tagBindings/,
  },
]

const namespace = "platform-admission"
const { manifest, testAdmission, testChanges } = admissionCases(namespace)

testAdmission([
  { kind: mount, cases: mountCases },
  { kind: certificateAuthority, cases: authorityCases },
  { kind: project, cases: projectCases },
])

describe.skipIf(cluster === undefined)("by its name", () => {
  test.each([
    { name: "default", spec: root, expected: /spec\.name is required if the name of the object is default/ },
    { name: "own", spec: { ...issuing, parentRef: { name: "own" } }, expected: /parentRef must name another object/ },
  ])("a CertificateAuthority $name is rejected", async ({ name, spec, expected }) => {
    await kubectl(["create", "namespace", namespace]).catch(() => "")
    const made = JSON.stringify(manifest(certificateAuthority, name, spec))
    await expect(kubectl(["create", "--dry-run=server", "-f", "-"], made)).rejects.toThrow(expected)
  })
})

describe.skipIf(cluster === undefined)("the README", () => {
  test("has a mount, an authority and a project that are admitted as written", async () => {
    const readme = await readFile(join(import.meta.dirname, "../../../operator/README.md"), "utf8")
    const [manifests = ""] = readme.match(/(?<=```yaml\n)[^`]*kind: Mount\n[^`]*(?=```)/) ?? []
    const own = manifests.replaceAll("namespace: platform", `namespace: ${namespace}`)
    const output = await kubectl(["create", "--dry-run=server", "--validate=strict", "-o", "name", "-f", "-"], own)
    expect(output).toBe(
      "mount.chancery.dev/pki\ncertificateauthority.chancery.dev/issuing\nproject.chancery.dev/shop\n",
    )
  })
})

describe.skipIf(cluster === undefined)("once created", () => {
  testChanges([
    { kind: mount, spec: pki, change: { path: "other" }, expected: /path cannot be changed/ },
    {
      kind: mount,
      spec: pki,
      change: { connectionRef: { name: "other" } },
      expected: /connectionRef cannot be changed/,
    },
    {
      kind: certificateAuthority,
      spec: root,
      change: { commonName: "Other" },
      expected: /commonName cannot be changed/,
    },
    {
      kind: certificateAuthority,
      spec: root,
      change: { subject: { organizations: ["Other"] } },
      expected: /subject cannot be changed/,
    },
    {
      kind: certificateAuthority,
      spec: root,
      change: { maxPathLength: 1 },
      expected: /maxPathLength cannot be changed/,
    },
    {
      kind: certificateAuthority,
      spec: root,
      change: { nameConstraints: { permitted: { dnsDomains: ["example.com"] } } },
      expected: /nameConstraints cannot be changed/,
    },
    {
      kind: certificateAuthority,
      spec: root,
      change: { type: "Intermediate", parentRef: { name: "other" } },
      expected: /type cannot be changed/,
    },
    {
      kind: project,
      spec: { ...shop, organization: "acme" },
      change: { organization: "other" },
      expected: /organization cannot be changed/,
    },
  ])
})
