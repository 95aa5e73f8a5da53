// Writable parameters of `/v1`: every one that docs/conformance.md, Vault's API documentation
// (https://developer.hashicorp.com/vault/api-docs/secret/pki, /system/mounts, /system/auth, /system/policies, /auth/token, /auth/approle,
// /auth/kubernetes, /auth/userpass; November 2026) or a parser of this server names for a resource. Values are not the defaults.
import { createPrivateKey } from "node:crypto"
import { appRoleParts } from "../../engine/src/access/approle/app-role.ts"
import { expect } from "vitest"
import { type Answer, openTestEngine, type TestEngine } from "../../engine/testing/test-engine.ts"
import { crls } from "../../engine/src/contracts/vault/crl.ts"
import { externalPolicy } from "../../engine/src/contracts/vault/external-policy.ts"
import * as appRole from "../../engine/src/contracts/vault/app-role.ts"
import { blockedKeys as blockedKeyContract } from "../../engine/src/contracts/vault/blocked-key.ts"
import {
  issueParameters,
  signIntermediateParameters,
  signParameters,
  signVerbatimParameters,
} from "../../engine/src/contracts/vault/certificate.ts"
import { intermediateParameters, issuerParameters, rootParameters } from "../../engine/src/contracts/vault/issuer.ts"
import { keyImportParameters, keyRenameParameters, newKeyParameters } from "../../engine/src/contracts/vault/key.ts"
import { certificateLogins } from "../../engine/src/contracts/vault/certificate-login.ts"
import { kubernetesLogins } from "../../engine/src/contracts/vault/kubernetes-login.ts"
import * as userpass from "../../engine/src/contracts/vault/userpass.ts"
import { cheapPasswordHash } from "../../engine/testing/cheap-password.ts"
import { enableAuthMethod, tuneAuthMethod } from "../../engine/src/contracts/vault/auth-method.ts"
import { enableMount, tuneMount } from "../../engine/src/contracts/vault/mount.ts"
import { policies } from "../../engine/src/contracts/vault/policy.ts"
import { revokeParameters, revokeWithKeyParameters } from "../../engine/src/contracts/vault/revocation.ts"
import { role } from "../../engine/src/contracts/vault/role.ts"
import { serviceTokens } from "../../engine/src/contracts/vault/service-token.ts"
import { estConfig } from "../../engine/src/contracts/vault/est.ts"
import { mountSettings } from "../../engine/src/contracts/vault/mount-settings.ts"
import { tidy } from "../../engine/src/contracts/vault/tidy.ts"
import { renewalSignalParameters } from "../../engine/src/contracts/vault/acme-management.ts"
import { tokenRoles as tokenRoleContract } from "../../engine/src/contracts/vault/token-role.ts"
import { testTlsPem } from "../../engine/testing/policy-server.ts"
import { testKeyGenerator } from "../../engine/testing/test-keys.ts"
import { writePem } from "../../engine/src/x509/pem.ts"
import { sha256 } from "../../engine/src/x509/digest.ts"
import {
  type Expectation,
  type Members,
  type WireFormat,
  type WritableMember,
  type WritableResource,
} from "./writable-members.ts"

/** Every resource creates its own mount or auth method. */
type Refs = undefined

export interface VaultResource extends WritableResource<Refs> {
  /** Routes that write the resource, as in the route tables. */
  readonly routes: readonly string[]
  /** Names that the resource's parsers read; the table must have them all. */
  readonly parsed: readonly string[]
}

const refused: Expectation = { kind: "refused" }
const stored = (values: Members): WritableMember[] => Object.entries(values).map(([name, value]) => ({ name, value }))
const refusing = (values: Members): WritableMember[] =>
  Object.entries(values).map(([name, value]) => ({ name, value, expects: refused }))
/** Members that are returned in another form than they are written in. */
const storedAs = (values: Readonly<Record<string, readonly [value: unknown, as: unknown]>>): WritableMember[] =>
  Object.entries(values).map(([name, [value, as]]) => ({ name, value, expects: { kind: "stored", as } }))
const shownBy = (name: string, value: unknown, shows: Members): WritableMember => ({
  name,
  value,
  expects: { kind: "hidden", shows },
})
const inConfig = (members: readonly WritableMember[]): WritableMember[] =>
  members.map(({ name, ...rest }) => ({ ...rest, name: `config.${name}` }))
const on = (verb: "create" | "update", members: readonly WritableMember[]): WritableMember[] =>
  members.map((member) => ({ ...member, verbs: [verb] }))
const namesOf = (...tables: readonly { readonly byWireName: ReadonlyMap<string, unknown> }[]): string[] =>
  tables.flatMap(({ byWireName }) => [...byWireName.keys()])

/** Sends a request as Vault clients do: durations are read in seconds, and `warnings` is a list. */
const send = (testEngine: TestEngine, method: string, path: string, body?: unknown): Promise<Answer> =>
  testEngine.pki(method, path, {
    token: null,
    headers: { "x-vault-token": testEngine.rootToken },
    ...(body === undefined ? {} : { body }),
  })

/** Builds a body. `config.x` is the member `x` of `config`. */
function document(members: Members): Record<string, unknown> {
  const config = Object.entries(members).flatMap(([name, value]) =>
    name.startsWith("config.") ? [[name.slice("config.".length), value] as const] : [],
  )
  const others = Object.entries(members).filter(([name]) => !name.startsWith("config.") && name !== nameMember)
  return { ...Object.fromEntries(others), ...(config.length === 0 ? {} : { config: Object.fromEntries(config) }) }
}

function membersOf({ body }: Answer): Members {
  const { config, ...others } = body.data
  return {
    ...others,
    ...Object.fromEntries(Object.entries((config ?? {}) as object).map(([name, value]) => [`config.${name}`, value])),
  }
}

let mounts = 0
async function newMount(testEngine: TestEngine): Promise<string> {
  const path = `own-${(mounts += 1)}`
  await succeeded(send(testEngine, "POST", `/sys/mounts/${path}`, { type: "pki" }))
  return path
}

async function succeeded(answering: Promise<Answer>): Promise<Answer> {
  const answer = await answering
  if (answer.status >= 300) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
  return answer
}

interface Routes {
  /** Creates the surroundings of a resource and returns its address. */
  readonly prepare: (testEngine: TestEngine, unique: string) => Promise<string>
  /** Address of the POST that creates the resource. Default: its own. */
  readonly write?: (address: string) => string
  readonly update?: { readonly method: "POST" | "PATCH"; readonly path: (address: string) => string }
  /** Undefined for resources that only the response to their creation shows. */
  readonly read?: (address: string) => string
}

const nameMember = "(name)"
type Rest = Pick<VaultResource, "members" | "readOnly" | "routes" | "parsed"> & { readonly required?: Members }

function resource(
  name: string,
  { prepare, write = (address) => address, update, read }: Routes,
  { required = {}, ...rest }: Rest,
): VaultResource {
  const sent = async (answering: Promise<Answer>, id: string): Promise<Answer> => {
    const answer = await answering
    return { ...answer, body: { ...(answer.body as object | undefined), id } }
  }
  return {
    name,
    ...rest,
    // The name is part of the address and not a member.
    required: (unique) => ({ [nameMember]: unique, ...required }),
    create: async (testEngine, _refs, { [nameMember]: unique, ...members }) => {
      const address = await prepare(testEngine, unique as string)
      return sent(send(testEngine, "POST", write(address), document(members)), address)
    },
    ...(update === undefined
      ? {}
      : {
          update: (testEngine: TestEngine, _refs: Refs, id: string, members: Members) =>
            sent(send(testEngine, update.method, update.path(id), document(members)), id),
        }),
    ...(read === undefined
      ? {}
      : { read: (testEngine: TestEngine, _refs: Refs, id: string) => send(testEngine, "GET", read(id)) }),
    membersOf,
    idOf: ({ body }) => body.id as string,
  }
}

// Mounts and auth methods.

const mountConfig: readonly WritableMember[] = [
  ...stored({
    default_lease_ttl: 3_600,
    max_lease_ttl: 7_200,
    force_no_cache: true,
    listing_visibility: "unauth",
    allowed_response_headers: ["Location"],
    passthrough_request_headers: ["X-Team"],
    audit_non_hmac_request_keys: ["common_name"],
    audit_non_hmac_response_keys: ["serial_number"],
    delegated_auth_accessors: ["auth_approle_1"],
  }),
  ...refusing({
    plugin_version: "v1.0.0",
    override_pinned_version: true,
    allowed_managed_keys: ["hsm"],
    identity_token_key: "other",
    trim_request_trailing_slashes: true,
  }),
]
const userLockout = refusing({ user_lockout_config: { lockout_threshold: "3" } })
const notOfMounts = [...userLockout, ...refusing({ token_type: "service" })]
const lockout = { lockout_threshold: 3, lockout_duration: 60, lockout_counter_reset: 30, lockout_disable: true }
const ofUserpass = stored({ user_lockout_config: lockout, token_type: "service" })
const lockoutInForce = ["threshold", "duration", "counter_reset_duration", "disable"].map(
  (name) => `user_lockout_${name}`,
)
const ofAuthMethods = [...userLockout, ...stored({ token_type: "service" })]

const described = stored({ description: "about it" })
const options = storedAs({ options: [{ version: "2" }, { version: "2" }] })
const enabled: readonly WritableMember[] = [
  ...described,
  ...options,
  ...stored({ local: true, seal_wrap: true, external_entropy_access: true }),
  ...refusing({ plugin_name: "other", plugin_version: "v1.0.0" }),
]
const mountFacts = [
  "accessor",
  "deprecation_status",
  "running_plugin_version",
  "running_sha256",
  "uuid",
  nameMember,
] as const
const systemPaths = (root: string) => ({
  address: (_world: TestEngine, unique: string) => Promise.resolve(`${root}/${unique}`),
  read: (address: string) => address,
})

const enabledMounts = resource(
  "mounts",
  { prepare: systemPaths("/sys/mounts").address, read: (address) => address },
  {
    required: { type: "pki" },
    members: [...enabled, ...inConfig([...mountConfig, ...notOfMounts])],
    readOnly: mountFacts,
    routes: ["/sys/mounts/*path"],
    parsed: namesOf(enableMount.table).filter((name) => name !== "config"),
  },
)

const tuned = (
  kind: "mounts" | "auth",
  type: string,
  { own, readOnly = [] }: { readonly own: readonly WritableMember[]; readonly readOnly?: readonly string[] },
  parsed: readonly string[],
) =>
  resource(
    `tuning of ${kind}: ${type}`,
    {
      prepare: async (testEngine, unique) => {
        await succeeded(send(testEngine, "POST", `/sys/${kind}/${unique}`, { type }))
        return `/sys/${kind}/${unique}/tune`
      },
      update: { method: "POST", path: (address) => address },
      read: (address) => address,
    },
    {
      members: [...described, ...options, ...mountConfig, ...own],
      readOnly,
      routes: kind === "mounts" ? ["/sys/mounts/*path/tune"] : ["/sys/auth/*path/tune", "/sys/mounts/auth/*path/tune"],
      parsed,
    },
  )

const enabledAuthMethods = resource(
  "auth methods",
  { prepare: systemPaths("/sys/auth").address, read: (address) => address },
  {
    required: { type: "approle" },
    members: [...enabled, ...inConfig([...mountConfig, ...ofAuthMethods])],
    readOnly: mountFacts,
    routes: ["/sys/auth/*path"],
    parsed: namesOf(enableAuthMethod.table).filter((name) => name !== "config"),
  },
)

// Mounts: roles, issuers, keys and settings.

const future = "2099-01-31T08:00:00Z"
const roles = resource(
  "roles",
  {
    prepare: async (testEngine, unique) => `/${await newMount(testEngine)}/roles/${unique}`,
    update: { method: "PATCH", path: (address) => address },
    read: (address) => address,
  },
  {
    members: [
      ...stored({
        ttl: 3_600,
        max_ttl: 7_200,
        not_before_duration: 60,
        not_before: "2020-01-31T08:00:00Z",
        not_before_bound: "forbid",
        not_after: future,
        not_after_bound: "forbid",
        allow_localhost: false,
        allowed_domains: ["example.com"],
        allowed_domains_template: true,
        allow_bare_domains: true,
        allow_subdomains: true,
        allow_glob_domains: true,
        allow_wildcard_certificates: false,
        allow_partial_wildcards: true,
        allow_any_name: true,
        enforce_hostnames: false,
        allow_ip_sans: false,
        allowed_ip_sans_cidr: ["10.0.0.0/8"],
        allowed_uri_sans: ["spiffe://example.com/*"],
        allowed_uri_sans_template: true,
        allow_globs_in_identity_templates: true,
        allowed_other_sans: ["1.3.6.1.4.1.311.20.2.3;UTF8:*"],
        allowed_serial_numbers: ["7*"],
        allowed_user_ids: ["alice"],
        server_flag: false,
        client_flag: false,
        code_signing_flag: true,
        email_protection_flag: true,
        key_usage: ["DigitalSignature"],
        ext_key_usage: ["OCSPSigning"],
        ext_key_usage_oids: ["1.3.6.1.5.5.7.3.17"],
        key_type: "ec",
        key_bits: 3_072,
        signature_bits: 384,
        allowed_rsa_exponents: [3, 65_537],
        use_pss: true,
        use_csr_common_name: false,
        use_csr_sans: false,
        serial_number_source: "json",
        require_cn: false,
        cn_validations: ["disabled"],
        ou: ["Web"],
        organization: ["Acme"],
        country: ["DE"],
        locality: ["Berlin"],
        province: ["BE"],
        street_address: ["Weg 1"],
        postal_code: ["10115"],
        policy_identifiers: ["1.3.6.1.4.1.1"],
        basic_constraints_valid_for_non_ca: true,
        issuer_ref: "other",
        generate_lease: true,
        no_store: true,
        no_store_metadata: true,
      }),
    ],
    readOnly: [nameMember, "allow_token_displayname"],
    routes: ["/roles/:name"],
    parsed: namesOf(role.table),
  },
)

/** Creates a mount with two issuers, which share no key. */
async function withIssuers(testEngine: TestEngine): Promise<string> {
  const mount = await newMount(testEngine)
  for (const [name, bits] of [
    ["one", 2_048],
    ["two", 3_072],
  ] as const)
    await succeeded(
      send(testEngine, "POST", `/${mount}/root/generate/internal`, {
        common_name: `Root ${name}`,
        key_type: "rsa",
        key_bits: bits,
        issuer_name: name,
        key_name: name,
      }),
    )
  return mount
}
const idOfIssuer = async (testEngine: TestEngine, mount: string, name: string): Promise<string> =>
  (await succeeded(send(testEngine, "GET", `/${mount}/issuer/${name}`))).body.data.issuer_id as string

const issuers = resource(
  "issuers",
  {
    prepare: async (testEngine) => {
      const mount = await withIssuers(testEngine)
      return `/${mount}/issuer/${await idOfIssuer(testEngine, mount, "one")}`
    },
    update: { method: "PATCH", path: (address) => address },
    read: (address) => address,
  },
  {
    members: [
      ...stored({
        issuer_name: "renamed",
        leaf_not_after_behavior: "truncate",
        revocation_signature_algorithm: "SHA384WithRSA",
        disable_name_constraint_checks: true,
        disable_name_checks: true,
        disable_path_length_checks: true,
        disable_critical_extension_checks: true,
        issuing_certificates: ["http://a.example/ca"],
        crl_distribution_points: ["http://a.example/crl"],
        delta_crl_distribution_points: ["http://a.example/delta"],
        ocsp_servers: ["http://a.example/ocsp"],
        enable_aia_url_templating: true,
      }),
      ...storedAs({ usage: [["read-only", "crl-signing"], "read-only,crl-signing"] }),
      shownBy("manual_chain", ["default"], { manual_chain: [expect.any(String)] }),
    ],
    readOnly: ["issuer_id", "certificate", "ca_chain", "key_id", "revoked", nameMember],
    routes: ["/issuer/:issuer_ref"],
    parsed: namesOf(issuerParameters),
  },
)

/** Reads the length of a key from its export: the server does not return it. */
const keyMembers = ({ body }: Answer): Members => {
  const { private_key: exported, ...data } = body.data
  const { asymmetricKeyDetails: details } = createPrivateKey(exported as string)
  return { ...data, key_bits: details?.namedCurve === "secp384r1" ? 384 : details?.modulusLength }
}
const keys: VaultResource = {
  ...resource(
    "keys",
    { prepare: async (testEngine) => `/${await newMount(testEngine)}/keys/generate/exported` },
    {
      members: [
        ...stored({ key_name: "signer", key_type: "ec" }),
        { name: "key_bits", value: 384, beside: { key_type: "ec" } },
        ...refusing({ managed_key_name: "hsm", managed_key_id: "1" }),
      ],
      readOnly: ["key_id", "subject_key_id", nameMember],
      routes: ["/keys/generate/:type"],
      parsed: namesOf(newKeyParameters),
    },
  ),
  membersOf: keyMembers,
}

const exportedKey = async () => (await testKeyGenerator.generate({ type: "ec", bits: 256 })).pem("pkcs8")
const importedKeyPem = await exportedKey()
const importedKeys = resource(
  "imported keys",
  { prepare: async (testEngine) => `/${await newMount(testEngine)}/keys/import` },
  {
    required: { pem_bundle: importedKeyPem },
    members: [...stored({ key_name: "brought" }), shownBy("pem_bundle", importedKeyPem, { key_type: "ec" })],
    readOnly: ["key_id", "key_type", "subject_key_id", nameMember],
    routes: ["/keys/import"],
    parsed: namesOf(keyImportParameters),
  },
)
const renamedKeys = resource(
  "names of keys",
  {
    prepare: async (testEngine) => {
      const mount = await newMount(testEngine)
      const { body } = await succeeded(send(testEngine, "POST", `/${mount}/keys/generate/internal`, { key_type: "ec" }))
      return `/${mount}/key/${body.data.key_id}`
    },
    read: (address) => address,
  },
  {
    required: { key_name: "first" },
    members: stored({ key_name: "signer" }),
    readOnly: ["key_id", "key_type", "subject_key_id", nameMember],
    routes: ["/key/:key_ref"],
    parsed: namesOf(keyRenameParameters),
  },
)

const setting = (
  name: string,
  members: readonly WritableMember[],
  parsed: readonly string[],
  prepare: (testEngine: TestEngine) => Promise<string> = newMount,
  readOnly: readonly string[] = [],
) =>
  resource(
    `config/${name}`,
    {
      prepare: async (testEngine) => `/${await prepare(testEngine)}/config/${name}`,
      update: { method: "POST", path: (address) => address },
      read: (address) => address,
    },
    { members, readOnly: [nameMember, ...readOnly], routes: [`/config/${name}`], parsed },
  )

const settings: readonly VaultResource[] = [
  setting(
    "issuers",
    [shownBy("default", "two", { default: expect.any(String) }), ...stored({ default_follows_latest_issuer: true })],
    namesOf(mountSettings.changeIssuers.body.table),
    withIssuers,
  ),
  setting(
    "keys",
    [shownBy("default", "two", { default: expect.any(String) })],
    namesOf(mountSettings.changeKeys.body.table),
    withIssuers,
  ),
  setting(
    "urls",
    stored({
      issuing_certificates: ["http://a.example/ca"],
      crl_distribution_points: ["http://a.example/crl"],
      delta_crl_distribution_points: ["http://a.example/delta"],
      ocsp_servers: ["http://a.example/ocsp"],
      enable_templating: true,
    }),
    namesOf(mountSettings.changeUrls.body.table),
  ),
  setting(
    "cluster",
    stored({ path: "https://a.example/v1/pki", aia_path: "http://b.example/v1/pki" }),
    namesOf(mountSettings.changeCluster.body.table),
  ),
  setting(
    "crl",
    [
      ...stored({
        expiry: "48h",
        disable: true,
        ocsp_disable: true,
        ocsp_expiry: "6h",
        ocsp_unknown_serials: "good",
        ocsp_delegated_responder: true,
        ocsp_responder_key_type: "ec",
        ocsp_responder_ttl: "100h",
        auto_rebuild: true,
        auto_rebuild_grace_period: "6h",
        delta_rebuild_interval: "30m",
        allow_expired_cert_revocation: true,
        max_crl_entries: 50,
        shards: 4,
      }),
      { name: "enable_delta", value: true, beside: { auto_rebuild: true } },
      ...refusing({ cross_cluster_revocation: true, unified_crl: true, unified_crl_on_existing_paths: true }),
    ],
    namesOf(crls.configure.body.table),
  ),
  setting(
    "est",
    [
      ...stored({
        enabled: true,
        default_path_policy: "role:web",
        label_to_path_policy: { printers: "sign-verbatim" },
        enable_sentinel_parsing: true,
        audit_fields: ["csr"],
        manual_approval: ["role:web"],
      }),
      { name: "default_mount", value: true, beside: { default_path_policy: "role:web" } },
      ...refusing({ authenticators: { userpass: { accessor: "auth_userpass_00000000" } } }),
    ],
    namesOf(estConfig.configure.body.table),
    async (testEngine) => {
      const mount = await newMount(testEngine)
      await succeeded(send(testEngine, "POST", `/${mount}/roles/web`, { allow_any_name: true }))
      return mount
    },
    ["last_updated"],
  ),
  setting(
    "acme",
    [
      ...stored({
        enabled: true,
        allowed_issuers: ["two"],
        allowed_roles: ["web"],
        allow_role_ext_key_usage: true,
        default_directory_policy: "forbid",
        dns_resolver: "10.0.0.53:53",
        eab_policy: "always-required",
        max_ttl: 86_400,
        challenge_permitted_ip_ranges: ["10.0.0.0/8"],
        challenge_excluded_ip_ranges: ["192.0.2.0/24"],
        caa_identities: ["ca.example"],
        terms_of_service: "https://a.example/terms",
        website: "https://a.example",
        orders_per_account: 300,
        orders_per_name: 50,
        accounts_per_address: 10,
        failed_validations: 5,
        directory_limits: ["roles/web/acme orders_per_account=30"],
      }),
    ],
    namesOf(mountSettings.changeAcme.body.table),
    async (testEngine) => {
      const mount = await withIssuers(testEngine)
      await succeeded(send(testEngine, "POST", `/${mount}/roles/web`, { allow_any_name: true }))
      await succeeded(send(testEngine, "POST", `/${mount}/config/cluster`, { path: `https://a.example/v1/${mount}` }))
      const headers = { allowed_response_headers: ["Location", "Replay-Nonce", "Link"] }
      await succeeded(send(testEngine, "POST", `/sys/mounts/${mount}/tune`, headers))
      return mount
    },
  ),
  setting(
    "auto-tidy",
    [
      { name: "enabled", value: true, beside: { tidy_acme: true } },
      ...stored({
        interval_duration: 7_200,
        min_startup_backoff_duration: 60,
        max_startup_backoff_duration: 1_200,
        maintain_stored_certificate_counts: true,
        publish_stored_certificate_count_metrics: true,
        tidy_cert_store: true,
        tidy_revoked_certs: true,
        tidy_invalid_certs: true,
        tidy_revoked_cert_issuer_associations: true,
        tidy_expired_issuers: true,
        tidy_cert_metadata: true,
        tidy_move_legacy_ca_bundle: true,
        tidy_acme: true,
        tidy_revocation_queue: true,
        tidy_cross_cluster_revoked_certs: true,
        tidy_cmpv2_nonce_store: true,
        safety_buffer: 3_600,
        revoked_safety_buffer: 7_200,
        issuer_safety_buffer: 10_800,
        acme_account_safety_buffer: 14_400,
        revocation_queue_safety_buffer: 18_000,
        pause_duration: "1s",
        page_size: 50,
      }),
      shownBy("tidy_revocation_list", true, { tidy_revoked_certs: true }),
    ],
    namesOf(tidy.changeAutomatic.body.table),
  ),
  externalPolicySetting(),
]

function externalPolicySetting(): VaultResource {
  const trust = { trusted_leaf_certificate_bundle: testTlsPem("server") }
  return {
    ...setting(
      "external-policy",
      [
        { name: "enabled", value: true, beside: { ...trust, external_service_url: "https://a.example" } },
        ...stored({ external_service_url: "https://a.example/policy", entity_jmespath: "@", group_jmespath: "@" }),
        ...storedAs({ timeout: ["5s", 5_000_000_000] }),
        ...stored({ trusted_ca: testTlsPem("server"), ...trust }),
        {
          name: "vault_client_cert_bundle",
          value: testTlsPem("client") + testTlsPem("client-key"),
          expects: {
            kind: "hidden",
            shows: { vault_client_cert_bundle_no_keys: expect.stringContaining("CERTIFICATE") },
          },
        },
      ],
      namesOf(externalPolicy.configure.body.table),
    ),
    readOnly: [
      nameMember,
      "vault_client_cert_bundle_no_keys",
      "external_service_last_updated",
      "external_service_validated",
      "last_successful_request",
    ],
  }
}

const renewalFacts = ["id", "issuer_id", "serial_number_count", "raised_at", "renew_by", nameMember]
const renewalPath = { prepare: async (testEngine: TestEngine) => `/${await withIssuers(testEngine)}/acme/mgmt/renewal` }
const renewalSignals = resource("renewal signals", renewalPath, {
  required: { issuer_ref: "one" },
  members: [
    shownBy("issuer_ref", "two", { issuer_id: expect.any(String) }),
    shownBy("within", "1h", { renew_by: expect.any(String) }),
    ...stored({ explanation_url: "https://a.example/why" }),
  ],
  readOnly: renewalFacts,
  routes: ["/acme/mgmt/renewal"],
  parsed: namesOf(renewalSignalParameters).filter((name) => name !== "serial_numbers"),
})

// The server's own: policies, tokens and their roles, blocked keys.

const rules = 'path "pki/*" { capabilities = ["read"] }'
const policy = (path: string) =>
  resource(
    `policies at ${path}`,
    {
      prepare: (_world, unique) => Promise.resolve(`${path}/${unique}`),
      update: { method: "POST", path: (address) => address },
      read: (address) => address,
    },
    {
      required: { policy: 'path "pki" { capabilities = ["list"] }' },
      members: [...stored({ policy: rules }), ...on("update", [shownBy("rules", rules, { policy: rules })])],
      readOnly: ["name", "rules", nameMember],
      routes: [`${path}/:name`],
      parsed: namesOf(policies.put.body.table),
    },
  )

const tokenRoles = resource(
  "token roles",
  {
    prepare: (_world, unique) => Promise.resolve(`/auth/token/roles/${unique}`),
    update: { method: "POST", path: (address) => address },
    read: (address) => address,
  },
  {
    members: [
      ...stored({
        allowed_policies: ["a"],
        allowed_policies_glob: ["a-*"],
        disallowed_policies: ["b"],
        disallowed_policies_glob: ["b-*"],
        orphan: true,
        renewable: false,
        path_suffix: "deep",
        token_bound_cidrs: ["10.0.0.0/8"],
        token_explicit_max_ttl: 3_600,
        token_no_default_policy: true,
        token_num_uses: 3,
        token_period: 60,
        token_type: "service",
        bound_cidrs: ["10.0.0.0/8"],
        explicit_max_ttl: 3_600,
        period: 60,
      }),
      ...refusing({ allowed_entity_aliases: ["a"], token_strictly_bind_ip: true }),
    ],
    readOnly: ["name", nameMember],
    routes: ["/auth/token/roles/:role_name"],
    parsed: namesOf(tokenRoleContract.save.body.table),
  },
)

/** Read by the accessor of the new token. */
const tokens: VaultResource = {
  ...resource(
    "tokens",
    { prepare: () => Promise.resolve("/auth/token/create") },
    {
      members: [
        ...stored({
          explicit_max_ttl: 7_200,
          meta: { team: "web" },
          num_uses: 3,
          period: 60,
          renewable: false,
        }),
        shownBy("policies", ["other"], { policies: ["default", "other"] }),
        shownBy("ttl", "1h", { creation_ttl: 3_600 }),
        shownBy("lease", "1h", { creation_ttl: 3_600 }),
        shownBy("no_parent", true, { orphan: true }),
        {
          name: "no_default_policy",
          value: true,
          beside: { policies: ["other"] },
          expects: { kind: "hidden", shows: { policies: ["other"] } },
        },
        shownBy("display_name", "ci", { display_name: "token-ci" }),
        shownBy("type", "service", { type: "service" }),
        ...refusing({ id: "mine", entity_alias: "a", type: "batch" }),
      ],
      readOnly: [
        "accessor",
        "creation_time",
        "creation_ttl",
        "display_name",
        "entity_id",
        "expire_time",
        "issue_time",
        "last_renewal",
        "last_renewal_time",
        "orphan",
        "path",
        nameMember,
      ],
      routes: ["/auth/token/create", "/auth/token/create-orphan", "/auth/token/create/:role_name"],
      parsed: namesOf(serviceTokens.create.body.table),
    },
  ),
  idOf: ({ body }) => (body.auth as { accessor: string }).accessor,
  read: (testEngine, _refs, accessor) => send(testEngine, "POST", "/auth/token/lookup-accessor", { accessor }),
}

const blockedKeyPem = async () => testKeyGenerator.generate({ type: "ec", bits: 256 })
const compromised = await blockedKeyPem()
const digest = sha256(compromised.publicKey.spki)
const blockedKeyFacts = ["source", "mount", "serial_number", "created_at", nameMember]
const blockedKeys: readonly VaultResource[] = [
  resource(
    "blocked keys",
    { prepare: () => Promise.resolve("/sys/blocked-keys") },
    {
      required: { spki_sha256: digest },
      members: stored({ spki_sha256: digest, comment: "found in a repository" }),
      readOnly: blockedKeyFacts,
      routes: ["/sys/blocked-keys"],
      parsed: namesOf(blockedKeyContract.add.body.table).filter((name) => name !== "key"),
    },
  ),
  resource(
    "blocked keys by PEM",
    { prepare: () => Promise.resolve("/sys/blocked-keys") },
    {
      required: { key: publicKeyPem() },
      members: [shownBy("key", publicKeyPem(), { spki_sha256: digest }), ...stored({ comment: "found elsewhere" })],
      readOnly: [...blockedKeyFacts, "spki_sha256"],
      routes: ["/sys/blocked-keys"],
      parsed: namesOf(blockedKeyContract.add.body.table).filter((name) => name !== "spki_sha256"),
    },
  ),
]

// Auth methods: their roles, and the credentials of their callers.

const tokenTerms: readonly WritableMember[] = [
  ...stored({
    token_ttl: 3_600,
    token_max_ttl: 7_200,
    token_policies: ["a"],
    token_bound_cidrs: ["10.0.0.0/8"],
    token_explicit_max_ttl: 3_600,
    token_no_default_policy: true,
    token_num_uses: 3,
    token_period: 60,
    token_type: "service",
  }),
  ...refusing({ alias_metadata: { team: "web" }, token_strictly_bind_ip: true }),
]
const method = (type: string) => async (testEngine: TestEngine, unique: string) => {
  const path = `${type}-${unique}`.replaceAll(/[^a-z0-9-]/g, "")
  await succeeded(send(testEngine, "POST", `/sys/auth/${path}`, { type }))
  return `/auth/${path}`
}

const appRoles = resource(
  "roles of AppRole",
  {
    prepare: async (testEngine, unique) => `${await method("approle")(testEngine, unique)}/role/web`,
    update: { method: "POST", path: (address) => address },
    read: (address) => address,
  },
  {
    members: [
      { name: "bind_secret_id", value: false, beside: { secret_id_bound_cidrs: ["10.0.0.0/8"] } },
      ...stored({ secret_id_bound_cidrs: ["10.0.0.0/8"], secret_id_num_uses: 3, secret_id_ttl: 3_600 }),
      ...on("create", stored({ local_secret_ids: true })),
      ...on("update", refusing({ local_secret_ids: true })),
      shownBy("role_id", "chosen", {}),
      ...tokenTerms,
      shownBy("bound_cidr_list", ["10.0.0.0/8"], { secret_id_bound_cidrs: ["10.0.0.0/8"] }),
      shownBy("policies", ["a"], { token_policies: ["a"] }),
      shownBy("period", 60, { token_period: 60 }),
    ],
    readOnly: [nameMember],
    routes: ["/role/:name"],
    parsed: namesOf(appRole.appRoles.save.body.table),
  },
)

/** Fields of an AppRole with a separate endpoint each. */
const appRoleMembers: Readonly<Record<string, unknown>> = {
  policies: ["a"],
  "secret-id-num-uses": 3,
  "secret-id-ttl": 3_600,
  "token-ttl": 3_600,
  "token-max-ttl": 7_200,
  "token-num-uses": 3,
  "bind-secret-id": false,
  "secret-id-bound-cidrs": ["10.0.0.0/8"],
  "token-bound-cidrs": ["10.0.0.0/8"],
  period: 60,
}
/** Values before the write, so that an ignored write is detected. */
const firstAppRoleMembers = Object.fromEntries(
  Object.entries(appRoleMembers).map(([part, value]) => [
    part,
    typeof value === "number" ? 1 : typeof value === "boolean" ? true : part === "policies" ? ["b"] : ["192.0.2.0/24"],
  ]),
)
const newName: Readonly<Record<string, string>> = {
  policies: "token_policies",
  period: "token_period",
}
const appRolePartsOf = appRoleParts.map((part) => {
  const name = newName[part] ?? part.replaceAll("-", "_")
  return resource(
    `roles of AppRole: ${part}`,
    {
      prepare: async (testEngine, unique) => {
        const role = `${await method("approle")(testEngine, unique)}/role/web`
        await succeeded(send(testEngine, "POST", role, { secret_id_bound_cidrs: ["192.0.2.0/24"] }))
        return `${role}/${part}`
      },
      read: (address) => address,
    },
    {
      required: { [name]: firstAppRoleMembers[part] },
      members: [
        { name, value: appRoleMembers[part] },
        ...namesOf(appRole.appRolePartContracts[part].change.body.table)
          .filter((other) => other !== name)
          .map((former) => shownBy(former, appRoleMembers[part], { [name]: expect.anything() })),
      ],
      readOnly: [nameMember],
      routes: [`/role/:name/${part}`],
      parsed: namesOf(appRole.appRolePartContracts[part].change.body.table),
    },
  )
})

const secretIds = (kind: "secret-id" | "custom-secret-id"): VaultResource => ({
  ...resource(
    `secret ids: ${kind}`,
    {
      prepare: async (testEngine, unique) => {
        const role = `${await method("approle")(testEngine, unique)}/role/web`
        await succeeded(send(testEngine, "POST", role, {}))
        return role
      },
      write: (address) => `${address}/${kind}`,
    },
    {
      required: kind === "secret-id" ? {} : { secret_id: "chosen-by-the-client" },
      members: [
        shownBy("metadata", '{"team":"web"}', { metadata: { team: "web" } }),
        ...stored({ cidr_list: ["10.0.0.0/8"], token_bound_cidrs: ["10.0.0.0/8"] }),
        shownBy("num_uses", 3, { secret_id_num_uses: 3 }),
        shownBy("ttl", "1h", { secret_id_ttl: 3_600 }),
        kind === "secret-id"
          ? { name: "secret_id", value: "chosen", expects: refused }
          : shownBy("secret_id", "chosen-too", {}),
      ],
      readOnly: [
        "creation_time",
        "expiration_time",
        "last_updated_time",
        "secret_id_accessor",
        "secret_id_num_uses",
        "secret_id_ttl",
        "metadata",
        nameMember,
      ],
      routes: [`/role/:name/${kind}`],
      parsed: namesOf(appRole.secretIds.createChosen.body.table),
    },
  ),
  idOf: ({ body }) => `${body.id} ${(body.data as { secret_id_accessor: string }).secret_id_accessor}`,
  read: (testEngine, _refs, id) => {
    const [role = "", accessor = ""] = id.split(" ")
    return send(testEngine, "POST", `${role}/secret-id-accessor/lookup`, { secret_id_accessor: accessor })
  },
})

const roleIds = resource(
  "role ids of AppRole",
  {
    prepare: async (testEngine, unique) => {
      const role = `${await method("approle")(testEngine, unique)}/role/web`
      await succeeded(send(testEngine, "POST", role, {}))
      return `${role}/role-id`
    },
    read: (address) => address,
  },
  {
    required: { role_id: "first" },
    members: stored({ role_id: "chosen" }),
    readOnly: [nameMember],
    routes: ["/role/:name/role-id"],
    parsed: [],
  },
)

const segment = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url")
const reviewerJwt = [
  segment({ alg: "RS256", kid: "1" }),
  segment({
    sub: "system:serviceaccount:shop:web",
    "kubernetes.io": { namespace: "shop", serviceaccount: { name: "web", uid: "1" } },
  }),
  "c2lnbmF0dXJl",
].join(".")

const kubernetesConfig = resource(
  "the configuration of Kubernetes logins",
  {
    prepare: async (testEngine, unique) => `${await method("kubernetes")(testEngine, unique)}/config`,
    update: { method: "POST", path: (address) => address },
    read: (address) => address,
  },
  {
    required: { kubernetes_host: "https://a.example" },
    members: [
      ...stored({
        kubernetes_host: "https://b.example",
        kubernetes_ca_cert: testTlsPem("server"),
        issuer: "https://issuer.example",
        disable_iss_validation: false,
        disable_local_ca_jwt: true,
      }),
      shownBy("pem_keys", [publicKeyPem()], { pem_keys: [expect.stringContaining("PUBLIC KEY")] }),
      shownBy("token_reviewer_jwt", reviewerJwt, { token_reviewer_jwt_set: true }),
      ...refusing({ use_annotations_as_alias_metadata: true }),
    ].map((member): WritableMember => ({ beside: { kubernetes_host: "https://a.example" }, ...member })),
    readOnly: ["token_reviewer_jwt_set", nameMember],
    routes: ["/config"],
    parsed: namesOf(kubernetesLogins.configure.body.table),
  },
)

function publicKeyPem(): string {
  return writePem("PUBLIC KEY", compromised.publicKey.spki)
}

const bound = { bound_service_account_names: ["web"], bound_service_account_namespaces: ["shop"] }
const kubernetesRoles = resource(
  "roles of Kubernetes logins",
  {
    prepare: async (testEngine, unique) => `${await method("kubernetes")(testEngine, unique)}/role/web`,
    update: { method: "POST", path: (address) => address },
    read: (address) => address,
  },
  {
    required: bound,
    members: [
      ...stored({
        bound_service_account_names: ["api"],
        bound_service_account_namespaces: ["other"],
        audience: "chancery",
        alias_name_source: "serviceaccount_name",
      }),
      ...tokenTerms,
      shownBy("ttl", 3_600, { token_ttl: 3_600 }),
      shownBy("max_ttl", 7_200, { token_max_ttl: 7_200 }),
      shownBy("period", 60, { token_period: 60 }),
      shownBy("policies", ["a"], { token_policies: ["a"] }),
      shownBy("num_uses", 3, { token_num_uses: 3 }),
      shownBy("bound_cidrs", ["10.0.0.0/8"], { token_bound_cidrs: ["10.0.0.0/8"] }),
      ...refusing({ bound_service_account_namespace_selector: "{}" }),
    ],
    readOnly: [nameMember],
    routes: ["/role/:name"],
    parsed: namesOf(kubernetesLogins.saveRole.body.table),
  },
)

const passwordHash = cheapPasswordHash.replace("$2b$", "$2y$")
const userpassUsers = resource(
  "users of userpass",
  {
    prepare: async (testEngine, unique) => `${await method("userpass")(testEngine, unique)}/users/web`,
    update: { method: "POST", path: (address) => address },
    read: (address) => address,
  },
  {
    required: { password_hash: cheapPasswordHash },
    members: [
      ...tokenTerms,
      shownBy("ttl", 3_600, { token_ttl: 3_600 }),
      shownBy("max_ttl", 7_200, { token_max_ttl: 7_200 }),
      shownBy("policies", ["a"], { token_policies: ["a"] }),
      shownBy("bound_cidrs", ["10.0.0.0/8"], { token_bound_cidrs: ["10.0.0.0/8"] }),
      shownBy("password_hash", passwordHash, {}),
      ...on("update", [shownBy("password", "another", {})]),
    ],
    readOnly: [nameMember],
    routes: ["/users/:name"],
    parsed: namesOf(userpass.userpassUsers.save.body.table),
  },
)

const certificateConfig = resource(
  "the configuration of certificate logins",
  {
    prepare: async (testEngine, unique) => `${await method("cert")(testEngine, unique)}/config`,
    update: { method: "POST", path: (address) => address },
    read: (address) => address,
  },
  {
    required: {},
    members: stored({
      disable_binding: true,
      enable_identity_alias_metadata: true,
      enable_metadata_on_failures: true,
      ocsp_cache_size: 50,
      role_cache_size: -1,
    }),
    readOnly: [nameMember],
    routes: ["/config"],
    parsed: namesOf(certificateLogins.configure.body.table),
  },
)

const certificateRoles = resource(
  "roles of certificate logins",
  {
    prepare: async (testEngine, unique) => `${await method("cert")(testEngine, unique)}/certs/web`,
    update: { method: "POST", path: (address) => address },
    read: (address) => address,
  },
  {
    required: { certificate: testTlsPem("authority") },
    members: [
      ...stored({
        certificate: testTlsPem("client"),
        allowed_names: ["a"],
        allowed_common_names: ["b"],
        allowed_dns_sans: ["c.example"],
        allowed_email_sans: ["*@d.example"],
        allowed_uri_sans: ["spiffe://e/*"],
        allowed_organizational_units: ["f"],
        required_extensions: ["1.2.3.4:g*"],
        allowed_metadata_extensions: ["1.2.3.5"],
        ocsp_enabled: true,
        ocsp_ca_certificates: testTlsPem("server"),
        ocsp_servers_override: ["http://ocsp.example"],
        ocsp_fail_open: true,
        ocsp_query_all_servers: true,
        ocsp_this_update_max_age: 3_600,
        ocsp_max_retries: 1,
        display_name: "printers",
      }),
      ...tokenTerms,
      shownBy("ttl", 3_600, { token_ttl: 3_600 }),
      shownBy("max_ttl", 7_200, { token_max_ttl: 7_200 }),
      shownBy("period", 60, { token_period: 60 }),
      shownBy("policies", ["a"], { token_policies: ["a"] }),
      shownBy("bound_cidrs", ["10.0.0.0/8"], { token_bound_cidrs: ["10.0.0.0/8"] }),
      ...refusing({ lease: 60 }),
    ],
    readOnly: [nameMember],
    routes: ["/certs/:name"],
    parsed: namesOf(certificateLogins.saveRole.body.table),
  },
)

export const vaultResources: readonly VaultResource[] = [
  enabledMounts,
  tuned("mounts", "pki", { own: notOfMounts }, namesOf(tuneMount.table)),
  enabledAuthMethods,
  tuned("auth", "approle", { own: ofAuthMethods }, namesOf(tuneAuthMethod.table)),
  tuned("auth", "userpass", { own: ofUserpass, readOnly: lockoutInForce }, namesOf(tuneAuthMethod.table)),
  roles,
  issuers,
  keys,
  importedKeys,
  renamedKeys,
  ...settings,
  renewalSignals,
  policy("/sys/policies/acl"),
  policy("/sys/policy"),
  tokenRoles,
  tokens,
  ...blockedKeys,
  appRoles,
  ...appRolePartsOf,
  roleIds,
  secretIds("secret-id"),
  secretIds("custom-secret-id"),
  certificateConfig,
  certificateRoles,
  kubernetesConfig,
  kubernetesRoles,
  userpassUsers,
]

export const vaultFormat: WireFormat<Refs> = {
  name: "/v1",
  refusedStatus: 400,
  names: ({ body }, member) => {
    const name = member.replace(/^config\./, "")
    return (body.errors as string[]).some((error) => new RegExp(`\\b${name}\\b`).test(error))
  },
  ignored: ({ body }) =>
    ((body?.warnings ?? []) as string[]).flatMap((warning) => {
      const [, names] = /^Endpoint ignored these unrecognized parameters: \[(.*)\]$/.exec(warning) ?? []
      return names?.split(" ") ?? []
    }),
  open: async () => {
    const testEngine = await openTestEngine({ keyGenerator: testKeyGenerator })
    await testEngine.engine.policies.put("other", rules)
    return { testEngine, refs: undefined }
  },
  resources: vaultResources,
}

/** Routes that issue, sign, revoke, import or start something: their parameters are not settings that a later read shows. */
export const operations: readonly RegExp[] = [
  /^(\/issuer\/:issuer_ref)?(\/external-policy)?\/(issue|sign|sign-verbatim|sign-intermediate|sign-self-issued)(\/:(name|policy))?$/,
  /^\/root\/(sign-intermediate|sign-self-issued|replace|generate\/:type|rotate\/:type)$/,
  /^\/issuers\/(generate\/(root|intermediate)\/:type|import\/(bundle|cert))$/,
  /^\/intermediate\/(generate\/:type|cross-sign|set-signed)$/,
  /^\/config\/ca$/,
  /^\/certs\/import$/,
  /^\/revoke(-with-key)?$/,
  /^\/issuer\/:issuer_ref\/(revoke|resign-crls|sign-revocation-list|crl\/import)$/,
  /^\/tidy(-cancel|\/secret-id)?$/,
  /^\/ocsp$/,
  // EST, whose bodies are CSRs.
  /^(\/roles\/:role|\/external-policy(\/:policy)?)?\/est\/(simpleenroll|simplereenroll|serverkeygen)$/,
  /^(\/issuer\/:issuer_ref)?(\/roles\/:role)?(\/external-policy(\/:policy)?)?\/acme\/new-eab$/,
  // The status of an account, which the account's own requests change as well.
  /^\/acme\/mgmt\/account\/keyid\/:key_id$/,
  // A decision, which is final.
  /^\/enrolments\/:enrolment_id\/(approve|deny)$/,
  // The second address of one resource.
  /^\/sys\/(blocked-keys\/:digest|remount)$/,
  /^\/sys\/policies\/attachments\//,
  /^\/sys\/(capabilities|leases|renew|revoke|revoke-prefix|revoke-force)(-self|-accessor)?(\/|$)/,
  /^\/auth\/token\/(lookup|renew|revoke)(-self|-accessor|-orphan)?$/,
  /^\/role\/:name\/secret-id(-accessor)?\/(lookup|destroy)$/,
  /^\/login(\/:name)?$/,
  // A CRL, of which a read has only the serial numbers.
  /^\/crls\/:name$/,
  // Members of a user with a path of their own.
  /^\/users\/:name\/(password|policies)$/,
  /^\/sys\/locked-users\/:mount_accessor\/unlock\/:alias_identifier$/,
]

const subject = [
  ...["ou", "organization", "country", "locality", "province", "street_address", "postal_code", "serial_number"],
]
const names = ["common_name", "alt_names", "ip_sans", "uri_sans", "other_sans", "exclude_cn_from_sans"]
const constraints = ["dns_domains", "email_addresses", "ip_ranges", "uri_domains"].flatMap((kind) => [
  `permitted_${kind}`,
  `excluded_${kind}`,
])
const presented = ["format", "private_key_format"]
const managedKeys = ["managed_key_name", "managed_key_id"]
const authority = [...names, ...subject, "not_before_duration", "not_after", "ttl", "max_path_length", "signature_bits"]
const madeKey = ["key_type", "key_bits", "key_name", "key_ref", ...managedKeys]
const leaf = [...names, "ttl", "not_after", "format", "remove_roots_from_chain", "user_ids", "cert_metadata"]

/** Parameters of operations in Vault's documentation: none may be ignored. */
export const documentedParameters: readonly {
  readonly operation: string
  readonly parsed: readonly string[]
  readonly documented: readonly string[]
}[] = [
  { operation: "issue", parsed: namesOf(issueParameters), documented: [...leaf, "private_key_format"] },
  { operation: "sign", parsed: namesOf(signParameters), documented: [...leaf, "csr"] },
  {
    operation: "sign-verbatim",
    parsed: namesOf(signVerbatimParameters),
    documented: [
      ...["csr", "key_usage", "ext_key_usage", "ext_key_usage_oids", "ttl", "format", "not_after", "signature_bits"],
      ...["use_pss", "remove_roots_from_chain", "user_ids", "cert_metadata", "enforce_leaf_not_after_behavior"],
    ],
  },
  {
    operation: "root/sign-intermediate",
    parsed: namesOf(signIntermediateParameters),
    documented: [
      ...[...authority, ...constraints, "csr", "format", "use_csr_values", "skid", "use_pss", "key_usage"],
      "enforce_leaf_not_after_behavior",
    ],
  },
  {
    operation: "root/generate",
    parsed: namesOf(rootParameters),
    documented: [...authority, ...constraints, ...presented, ...madeKey, "issuer_name", "use_pss", "key_usage"],
  },
  {
    operation: "intermediate/generate",
    parsed: namesOf(intermediateParameters),
    documented: [
      ...names,
      ...subject,
      ...presented,
      ...madeKey,
      "signature_bits",
      "add_basic_constraints",
      "key_usage",
    ],
  },
  { operation: "revoke", parsed: namesOf(revokeParameters), documented: ["serial_number", "certificate"] },
  {
    operation: "revoke-with-key",
    parsed: namesOf(revokeWithKeyParameters),
    documented: ["serial_number", "certificate", "private_key"],
  },
  {
    operation: "tidy",
    parsed: namesOf(tidy.start.body.table),
    documented: [
      ...["tidy_cert_store", "tidy_revoked_certs", "tidy_revoked_cert_issuer_associations", "tidy_expired_issuers"],
      ...["tidy_move_legacy_ca_bundle", "tidy_acme", "tidy_revocation_queue", "tidy_cross_cluster_revoked_certs"],
      ...["tidy_cmpv2_nonce_store", "tidy_cert_metadata", "safety_buffer", "issuer_safety_buffer"],
      ...["acme_account_safety_buffer", "revocation_queue_safety_buffer", "pause_duration"],
    ],
  },
]
