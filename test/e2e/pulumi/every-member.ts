// A sample value for every member of every kind, different from its default. A kind or member without a sample fails its test.
import type { Edition } from "../../../engine/src/core/edition.ts"
import type { ServedEngine } from "../../../engine/src/engine.ts"
import { foreignRoot } from "../../../engine/testing/issuing-mount.ts"
import { writePem } from "../../../engine/src/x509/pem.ts"
import type { KindName } from "../../../provider/src/lifecycle/kind-name.ts"
import type { Values } from "./dynamic-server.ts"

export interface Sample {
  readonly value: unknown
  /** Members that must be declared with it. */
  readonly beside?: Values
  /** Set if the value is retained when it is no longer declared. */
  readonly stays?: true
  /** The only edition that has the member. */
  readonly edition?: Edition
  /** Error text of a change; the member is immutable. */
  readonly refused?: string
  /** Set for a secret that is used once and never read back. */
  readonly notStored?: true
}

export interface Samples {
  /** Members of a minimal declaration of this kind. Each also has a sample to change to. */
  readonly whole: Values
  readonly members: Readonly<Record<string, Sample>>
  /** The member that is empty after a deletion, for a kind that is part of another resource. */
  readonly emptied?: string
  /** Set for a resource that cannot be deleted, so that deleting it only removes it from the state. */
  readonly lasts?: true
  /** The only edition that has the kind. */
  readonly edition?: Edition
}

const is = (value: unknown, beside: Values = {}): Sample => ({ value, beside })
const another = (values: Values): Readonly<Record<string, Sample>> =>
  Object.fromEntries(Object.entries(values).map(([member, value]) => [member, is(value)]))
const stays = (value: unknown): Sample => ({ value, stays: true })

/** Members that several kinds of certificates share. */
const validity = another({ ttl: "10h", notBefore: "2026-01-01T00:00:00Z", notAfter: "2040-01-01T00:00:00Z" })
const names = another({
  commonName: "other.example.com",
  altNames: ["a.example.com", "mail@example.com"],
  ipSans: ["10.0.0.1"],
  uriSans: ["spiffe://example.com/api"],
  otherSans: ["1.2.3;UTF8:x"],
  excludeCnFromSans: true,
  subjectSerialNumber: "7",
})
const authority = {
  ...names,
  ...validity,
  ...another({
    organizationalUnits: ["Payments"],
    organizations: ["Acme"],
    countries: ["DE"],
    localities: ["Berlin"],
    provinces: ["Berlin"],
    streetAddresses: ["Weg 1"],
    postalCodes: ["10115"],
    notBeforeDuration: "1m",
    maxPathLength: 0,
    permittedDnsDomains: ["example.com"],
    excludedDnsDomains: ["evil.test"],
    permittedEmailAddresses: ["example.com"],
    excludedEmailAddresses: ["evil.test"],
    permittedIpRanges: ["10.0.0.0/8"],
    excludedIpRanges: ["10.1.0.0/16"],
    permittedUriDomains: ["example.com"],
    excludedUriDomains: ["evil.test"],
    keyUsages: ["ContentCommitment"],
    signatureBits: 384,
    usePss: true,
    skid: "0a0b",
  }),
}
const issuance = another({
  mount: "other",
  issuerRef: "root",
  format: "der",
  renewBefore: "1h",
  removeRootsFromChain: true,
  onDestroy: "revoke",
})
/** Terms of tokens, which users and roles of auth methods share. */
const tokenTerms = another({
  tokenTtl: "10m",
  tokenMaxTtl: "1d",
  tokenExplicitMaxTtl: "48h",
  tokenPeriod: "1h",
  tokenPolicies: ["Web", "printers"],
  tokenBoundCidrs: ["10.0.0.0/8"],
  tokenNoDefaultPolicy: true,
  tokenNumUses: 7,
  tokenType: "service",
})
const metadata = Buffer.from("ours").toString("base64")

const sshKey = "-----BEGIN OPENSSH PRIVATE KEY-----\nx\n-----END OPENSSH PRIVATE KEY-----"

/** Returns the samples, in organization `acme`; `globex` is another organization. */
export async function samplesOf(engine: ServedEngine): Promise<Readonly<Record<KindName, Samples>>> {
  const workspace = async (name: string) =>
    (await engine.workspaces.create("acme", { name, globalRemoteState: false })).id
  const [workspaceId, other, third] = [await workspace("one"), await workspace("two"), await workspace("three")]
  const { id: projectId } = await engine.projects.create("acme", { name: "elsewhere" })
  const { id: agentPoolId } = await engine.agentPools.create("acme", { name: "pool" })
  const key = async (name: string) => (await engine.sshKeys.create("acme", { name, value: sshKey })).id
  const [sshKeyId, otherKeyId] = [await key("modules"), await key("others")]
  const { tokenIds } = await engine.vcsConnections.createClient("acme", {
    name: null,
    serviceProvider: "github",
    httpUrl: "https://github.test",
    apiUrl: "https://api.github.test",
    token: "t",
  })
  for (const path of ["pki", "other"]) {
    await engine.mounts.create({ path, config: { maxLeaseTtlMs: 20 * 365 * 86_400_000 } })
    const { issuers, roles } = engine.pki(path)
    await issuers.generateRoot({ commonName: "Root", keyType: "ec", issuerName: "root", ttlMs: 6e11 })
    const free = { allowAnyName: true, allowedUriSans: ["*"], allowedOtherSans: ["*"], allowedUserIds: ["*"] }
    const anyTime = { notBeforeBound: "permit", notAfterBound: "permit" } as const
    for (const role of ["servers", "clients"])
      await roles.save(role, { ...free, ...anyTime, allowedSerialNumbers: ["*"], keyType: "ec", ttlMs: 86_400_000 })
  }
  const { certificates, issuers } = engine.pki("pki")
  const { id: rootId } = await issuers.get("root")
  const { csr: presignedCsr } = await issuers.generateIntermediate({
    commonName: "Issuing CA",
    keyType: "ec",
    keyName: "presigned",
  })
  const presigned = await certificates.signIntermediate({
    csr: writePem("CERTIFICATE REQUEST", presignedCsr),
    commonName: "Issuing CA",
  })
  const request = async () =>
    writePem("CERTIFICATE REQUEST", (await issuers.generateIntermediate({ commonName: "CA", keyType: "ec" })).csr)
  const [csr, otherCsr] = [await request(), await request()]
  const [issued, otherIssued] = [
    await certificates.issue("servers", { commonName: "one.example.com" }),
    await certificates.issue("servers", { commonName: "two.example.com" }),
  ]

  const elsewhere = foreignRoot()
  const methods = { users: "userpass", "more/users": "userpass", devices: "cert", "more/devices": "cert" } as const
  for (const [path, type] of Object.entries(methods)) await engine.authMethods.enable({ path, type })
  const accessors = await Promise.all(
    ["users", "devices"].map(async (path) => (await engine.authMethods.get(path)).accessor),
  )
  const [userpass = "", cert = ""] = accessors
  for (const path of ["pki", "other"]) {
    const { externalPolicy, settings } = engine.pki(path)
    // Prerequisites for enabling ACME, EST and external policies on a mount.
    const allowedResponseHeaders = ["Location", "Replay-Nonce", "Link"]
    await engine.mounts.tune(path, { config: { allowedResponseHeaders, delegatedAuthAccessors: accessors } })
    await settings.changeCluster({ path: `https://ca.example/v1/${path}` })
    await externalPolicy.configure({
      enabled: true,
      externalServiceUrl: "https://policy.example",
      trustedCa: elsewhere.certificate,
    })
  }

  return {
    workspace: {
      whole: { organization: "acme", name: "api" },
      members: {
        organization: is("globex"),
        name: is("api-2"),
        projectId: stays(projectId),
        description: is("of the team"),
        executionMode: is("local"),
        agentPoolId: is(agentPoolId, { executionMode: "agent" }),
        settingOverwrites: is({ executionMode: true, agentPool: true }, { executionMode: "local" }),
        allowDestroyPlan: is(false),
        assessmentsEnabled: { value: true, edition: "hosted" },
        autoApply: is(true),
        autoApplyRunTrigger: is(true),
        autoDestroyAt: is("2040-01-01T00:00:00Z"),
        autoDestroyActivityDuration: is("14d"),
        inheritsProjectAutoDestroy: is(false),
        fileTriggersEnabled: is(false),
        globalRemoteState: stays(true),
        projectRemoteState: is(true),
        queueAllRuns: is(true),
        speculativeEnabled: is(false),
        structuredRunOutputEnabled: is(false),
        engineVersion: stays("~> 1.5"),
        triggerPatterns: is(["a/**"]),
        triggerPrefixes: is(["/modules"]),
        vcsRepo: is({ identifier: "acme/api", oauthTokenId: tokenIds[0], branch: "main" }),
        workingDirectory: is("deep/down"),
        tagBindings: is({ env: "prod" }),
      },
    },
    workspaceTags: {
      emptied: "tags",
      whole: { workspaceId, tags: ["web"] },
      members: { workspaceId: is(other), tags: is(["blue", "Green"]), mode: is("exclusive") },
    },
    tagBindings: {
      emptied: "bindings",
      whole: { workspaceId, bindings: { env: "prod" } },
      members: { workspaceId: is(other), bindings: is({ env: "dev", team: "payments" }), mode: is("exclusive") },
    },
    tag: {
      whole: { organization: "acme", name: "shared" },
      members: { organization: is("globex"), name: is("common"), workspaceIds: is([workspaceId]) },
    },
    remoteStateConsumers: {
      emptied: "consumerIds",
      whole: { workspaceId, consumerIds: [other] },
      members: { workspaceId: is(third), consumerIds: is([other, third]), mode: is("exclusive") },
    },
    sshKeyAssignment: {
      whole: { workspaceId, sshKeyId },
      members: { workspaceId: is(other), sshKeyId: is(otherKeyId) },
    },
    workspaceLock: {
      whole: { workspaceId },
      members: { workspaceId: is(other), reason: is("moving"), forceUnlock: is(true) },
    },
    dataRetentionPolicy: {
      edition: "self-hosted",
      whole: { workspaceId },
      members: { workspaceId: is(other), deleteOlderThanDays: is(30) },
    },
    variable: {
      whole: { workspaceId, key: "region", category: "terraform" },
      members: {
        workspaceId: is(other),
        key: is("place"),
        category: is("env"),
        value: is("eu"),
        description: is("where"),
        hcl: is(true),
        sensitive: is(true),
      },
    },
    project: {
      whole: { organization: "acme", name: "payments" },
      members: {
        organization: is("globex"),
        name: is("treasury"),
        description: is("money"),
        autoDestroyActivityDuration: is("14d"),
        defaultExecutionMode: is("local"),
        defaultAgentPoolId: is(agentPoolId, { defaultExecutionMode: "agent" }),
        tagBindings: is({ env: "prod" }),
      },
    },
    pkiMount: {
      whole: { path: "team/pki" },
      members: {
        path: is("team/other"),
        description: is("of the team"),
        defaultLeaseTtl: is("24h"),
        maxLeaseTtl: is("1000h"),
        forceNoCache: is(true),
        listingVisibility: is("unauth"),
        allowedResponseHeaders: is(["Link", "Location"]),
        passthroughRequestHeaders: is(["X-Trace"]),
        auditNonHmacRequestKeys: is(["common_name"]),
        auditNonHmacResponseKeys: is(["serial_number"]),
        delegatedAuthAccessors: is([userpass, cert]),
        clusterPath: is("https://ca.example.com/v1/team/pki"),
        clusterAiaPath: is("http://ca.example.com/v1/team/pki"),
      },
    },
    pkiRole: {
      whole: { mount: "pki", name: "web" },
      members: {
        mount: is("other"),
        name: is("site"),
        ttl: is("24h"),
        maxTtl: is("48h"),
        notBeforeDuration: is("1m"),
        notBefore: is("2030-01-01T00:00:00Z"),
        notBeforeBound: is("forbid"),
        notAfter: is("2040-01-01T00:00:00Z"),
        notAfterBound: is("2041-01-01T00:00:00Z"),
        allowLocalhost: is(false),
        allowedDomains: is(["example.com"]),
        allowedDomainsTemplate: is(true),
        allowBareDomains: is(true),
        allowSubdomains: is(true),
        allowGlobDomains: is(true),
        allowWildcardCertificates: is(false),
        allowPartialWildcards: is(true),
        allowAnyName: is(true),
        enforceHostnames: is(false),
        allowIpSans: is(false),
        allowedIpSansCidr: is(["10.0.0.0/8"]),
        allowedUriSans: is(["spiffe://example.com/*"]),
        allowedUriSansTemplate: is(true),
        allowGlobsInIdentityTemplates: is(true),
        allowedOtherSans: is(["1.2.3;UTF8:*"]),
        allowedSerialNumbers: is(["7"]),
        allowedUserIds: is(["u"]),
        serverFlag: is(false),
        clientFlag: is(false),
        codeSigningFlag: is(true),
        emailProtectionFlag: is(true),
        keyUsages: is(["DigitalSignature"]),
        extKeyUsages: is(["TimeStamping"]),
        extKeyUsageOids: is(["1.2.3.4"]),
        keyType: is("ec"),
        keyBits: is(4096),
        signatureBits: is(512),
        allowedRsaExponents: is([3, 65_537]),
        usePss: is(true),
        useCsrCommonName: is(false),
        useCsrSans: is(false),
        serialNumberSource: is("json"),
        requireCn: is(false),
        cnValidations: is(["disabled"]),
        organizationalUnits: is(["Payments"]),
        organizations: is(["Acme"]),
        countries: is(["DE"]),
        localities: is(["Berlin"]),
        provinces: is(["Berlin"]),
        streetAddresses: is(["Weg 1"]),
        postalCodes: is(["10115"]),
        policyIdentifiers: is(["1.2.3", { oid: "1.2.4", notice: "n", cps: "https://example.com/cps" }]),
        basicConstraintsValidForNonCa: is(true),
        issuerRef: is("other-issuer"),
        generateLease: is(true),
        noStore: is(true),
        noStoreMetadata: is(true),
      },
    },
    acmeConfig: {
      whole: { mount: "pki" },
      emptied: "caaIdentities",
      members: another({
        mount: "other",
        enabled: true,
        allowedIssuers: ["root"],
        allowedRoles: ["servers"],
        allowRoleExtKeyUsage: true,
        defaultDirectoryPolicy: "role:servers",
        dnsResolver: "10.0.0.53:53",
        eabPolicy: "always-required",
        maxTtl: "24h",
        challengePermittedIpRanges: ["10.0.0.0/8"],
        challengeExcludedIpRanges: ["10.1.0.0/16"],
        caaIdentities: ["ca.example"],
        termsOfService: "https://ca.example/terms",
        website: "https://ca.example",
        ordersPerAccount: 300,
        ordersPerName: 50,
        accountsPerAddress: 10,
        failedValidations: 5,
        directoryLimits: ["roles/servers/acme orders_per_account=30"],
      }),
    },
    acmeEab: {
      lasts: true,
      whole: { mount: "pki" },
      members: another({ mount: "other", issuerRef: "root", role: "servers", externalPolicy: "team", ttl: "24h" }),
    },
    estConfig: {
      whole: { mount: "pki" },
      emptied: "labelToPathPolicy",
      members: {
        ...another({
          mount: "other",
          enabled: true,
          defaultPathPolicy: "role:servers",
          labelToPathPolicy: { printers: "role:servers", raw: "sign-verbatim" },
          authenticators: { userpass: { accessor: userpass }, cert: { accessor: cert, certRole: "printers" } },
          enableSentinelParsing: true,
          auditFields: ["csr"],
          manualApproval: ["role:servers"],
        }),
        defaultMount: is(true, { defaultPathPolicy: "role:servers" }),
      },
    },
    pkiCertificate: {
      lasts: true,
      whole: { mount: "pki", role: "servers", commonName: "api.example.com" },
      members: {
        ...issuance,
        ...validity,
        ...names,
        ...another({ role: "clients", userIds: ["u"], certMetadata: metadata }),
        ...another({ keyType: "ec", privateKeyFormat: "pkcs8", onDestroy: "revokeWithKey" }),
        keyBits: is(256, { keyType: "ec" }),
      },
    },
    pkiSignedCertificate: {
      lasts: true,
      whole: { mount: "pki", role: "servers", commonName: "api.example.com", csr },
      members: {
        ...issuance,
        ...validity,
        ...names,
        ...another({ role: "clients", userIds: ["u"], certMetadata: metadata, csr: otherCsr }),
        verbatim: is(true, { commonName: undefined }),
        ...Object.fromEntries(
          Object.entries({
            keyUsages: ["DigitalSignature"],
            extKeyUsages: ["ServerAuth"],
            extKeyUsageOids: ["1.2.3.4"],
            signatureBits: 384,
            usePss: true,
            basicConstraintsValidForNonCa: true,
            enforceLeafNotAfterBehavior: true,
          }).map(([member, value]) => [member, is(value, { verbatim: true, commonName: undefined })]),
        ),
      },
    },
    pkiIntermediate: {
      lasts: true,
      whole: { mount: "pki", commonName: "Issuing CA", csr },
      members: {
        ...issuance,
        ...authority,
        ...another({ csr: otherCsr, useCsrValues: true, enforceLeafNotAfterBehavior: true }),
      },
    },
    pkiRevocation: {
      lasts: true,
      whole: { mount: "pki", serialNumber: issued.serialNumber },
      members: {
        mount: is("other", {
          serialNumber: (await engine.pki("other").certificates.issue("servers", { commonName: "x" })).serialNumber,
        }),
        serialNumber: is(otherIssued.serialNumber),
        certificate: is(writePem("CERTIFICATE", otherIssued.certificate), { serialNumber: undefined }),
        reason: { value: "superseded", refused: "reason of a revocation cannot be changed" },
        privateKey: { value: issued.privateKey?.pem("pkcs8"), notStored: true },
      },
    },
    authMethod: {
      whole: { path: "people", type: "userpass" },
      members: another({
        path: "staff",
        type: "approle",
        description: "of the team",
        defaultLeaseTtl: "1h",
        maxLeaseTtl: "24h",
        tokenType: "service",
        lockoutThreshold: 10,
        lockoutDuration: "5m",
        lockoutCounterReset: "10m",
        lockoutDisable: true,
        forceNoCache: true,
        listingVisibility: "unauth",
        allowedResponseHeaders: ["Link"],
        passthroughRequestHeaders: ["X-Trace"],
        auditNonHmacRequestKeys: ["role"],
        auditNonHmacResponseKeys: ["policies"],
      }),
    },
    userpassUser: {
      whole: { authMethod: "users", name: "printer", password: "a long first password" },
      members: {
        ...tokenTerms,
        authMethod: is("more/users"),
        name: is("Scanner"),
        password: is("a long second password"),
        passwordHash: is("$2y$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy", { password: undefined }),
      },
    },
    certificateAuthRole: {
      whole: { authMethod: "devices", name: "printers", certificate: elsewhere.certificate },
      members: {
        ...tokenTerms,
        ...another({
          authMethod: "more/devices",
          name: "Scanners",
          certificate: foreignRoot().certificate,
          allowedNames: ["*.example.com"],
          allowedCommonNames: ["printer-*"],
          allowedDnsSans: ["*.example.com"],
          allowedEmailSans: ["*@example.com"],
          allowedUriSans: ["spiffe://example.com/*"],
          allowedOrganizationalUnits: ["printing"],
          requiredExtensions: ["1.3.6.1.4.1.32473.1:printer-*"],
          allowedMetadataExtensions: ["1.3.6.1.4.1.32473.1"],
          ocspEnabled: true,
          ocspCaCertificates: elsewhere.certificate,
          ocspServersOverride: ["http://ocsp.example.com"],
          ocspFailOpen: true,
          ocspQueryAllServers: true,
          ocspThisUpdateMaxAge: "1h",
          ocspMaxRetries: 2,
          displayName: "devices of the office",
        }),
      },
    },
    pkiIssuer: {
      whole: { mount: "pki", name: "second", kind: "root", commonName: "Second Root", keyType: "ec" },
      members: {
        ...authority,
        ...another({
          mount: "other",
          name: "another",
          kind: "intermediate",
          keyType: "ed25519",
          keyBits: 384,
          leafNotAfterBehavior: "truncate",
          manualChain: [rootId],
          revocationSignatureAlgorithm: "ECDSAWithSHA512",
          disableNameConstraintChecks: true,
          disableNameChecks: true,
          disablePathLengthChecks: true,
          disableCriticalExtensionChecks: true,
          issuingCertificates: ["http://pki.test/ca"],
          crlDistributionPoints: ["http://pki.test/crl"],
          deltaCrlDistributionPoints: ["http://pki.test/delta"],
          ocspServers: ["http://pki.test/ocsp"],
          enableTemplating: true,
        }),
        usage: stays(["read-only", "issuing-certificates"]),
        isDefault: stays(true),
        keyName: stays("another"),
        parentMount: is("other", { kind: "intermediate" }),
        parentIssuerRef: is("root", { kind: "intermediate" }),
        addBasicConstraints: is(true, { kind: "intermediate" }),
        signedCertificate: is(writePem("CERTIFICATE", presigned.certificate), {
          kind: "intermediate",
          keyName: "presigned",
          commonName: "Issuing CA",
        }),
        bundle: {
          value: [elsewhere.certificate, elsewhere.key].join("\n"),
          beside: { kind: "imported", commonName: undefined, keyType: undefined },
          notStored: true,
        },
      },
    },
  }
}
