// Writes docs/reference/ from the contracts; with --check, fails when a page is not what it would write.
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { acme, directoryPaths } from "../../engine/src/contracts/acme/directory.ts"
import type { AcmeEndpoint } from "../../engine/src/contracts/acme/endpoint.ts"
import { type Json, requestSchema, resourceSchema } from "../../engine/src/contracts/openapi.ts"
import { agentPool, agentPools } from "../../engine/src/contracts/tfe/agent-pool.ts"
import { assessment, assessments } from "../../engine/src/contracts/tfe/assessment.ts"
import { bulkAction, bulkActions, bulkRequest } from "../../engine/src/contracts/tfe/bulk-action.ts"
import {
  configurationVersion,
  configurationVersions,
  ingressAttributes,
  readme,
} from "../../engine/src/contracts/tfe/configuration-version.ts"
import type { Definition } from "../../engine/src/contracts/tfe/document.ts"
import { entitlementSet, organization, organizations } from "../../engine/src/contracts/tfe/organization.ts"
import {
  organizationMembership,
  organizationMemberships,
} from "../../engine/src/contracts/tfe/organization-membership.ts"
import { project, projects } from "../../engine/src/contracts/tfe/project.ts"
import {
  organizationRetention,
  retentionPolicy,
  siteRetention,
  workspaceRetention,
} from "../../engine/src/contracts/tfe/retention-policy.ts"
import { effectiveTagBinding, tag, tagBinding, tags } from "../../engine/src/contracts/tfe/tag.ts"
import {
  appInstallation,
  oauthClient,
  oauthToken,
  vcsConnections,
} from "../../engine/src/contracts/tfe/vcs-connection.ts"
import { siteSettings, siteSettingsContract } from "../../engine/src/contracts/tfe/site-settings.ts"
import { sshKey, sshKeys } from "../../engine/src/contracts/tfe/ssh-key.ts"
import { teamProject, teamProjects, teamWorkspace, teamWorkspaces } from "../../engine/src/contracts/tfe/team-access.ts"
import { terraformVersion, terraformVersions } from "../../engine/src/contracts/tfe/terraform-version.ts"
import { createdToken, token, tokens } from "../../engine/src/contracts/tfe/token.ts"
import { variable, variables } from "../../engine/src/contracts/tfe/variable.ts"
import { deadLetter, webhook, webhooks } from "../../engine/src/contracts/tfe/webhook.ts"
import { openAddresses, signedAddresses } from "../../engine/src/contracts/tfe/open-address.ts"
import { lock, namedWorkspaces, workspace, workspaces } from "../../engine/src/contracts/tfe/workspace.ts"
import { account, adminUser, user, users } from "../../engine/src/contracts/tfe/user.ts"
import { team, teams } from "../../engine/src/contracts/tfe/team.ts"
import { remoteStateConsumers } from "../../engine/src/contracts/tfe/remote-state-consumers.ts"
import { apply, comment, plan, run, runCapacity, runs } from "../../engine/src/contracts/tfe/run.ts"
import {
  stateVersion,
  stateVersionInput,
  stateVersionOutput,
  stateVersions,
  workspaceOutput,
  workspaceResource,
} from "../../engine/src/contracts/tfe/state-version.ts"
import {
  claimInput,
  executionVariable,
  logSize,
  runClaim,
  runClaims,
} from "../../engine/src/contracts/tfe/run-claim.ts"
import { event, events } from "../../engine/src/contracts/tfe/event.ts"
import type * as tfe from "../../engine/src/contracts/tfe/endpoint.ts"
import type * as vault from "../../engine/src/contracts/vault/endpoint.ts"
import type { Table } from "../../engine/src/contracts/vault/record.ts"
import { keyPage } from "../../engine/src/contracts/vault/endpoint.ts"
import {
  appRoleLogins,
  appRolePartContracts,
  appRoles,
  roleIds,
  secretIds,
  secretIdsByAccessor,
  secretIdsBySecret,
} from "../../engine/src/contracts/vault/app-role.ts"
import { authMethods } from "../../engine/src/contracts/vault/auth-method.ts"
import { accountBindings, newAccountBindings } from "../../engine/src/contracts/vault/account-binding.ts"
import { acmeAccounts, acmeOrders, renewalSignals } from "../../engine/src/contracts/vault/acme-management.ts"
import { certificates } from "../../engine/src/contracts/vault/certificate.ts"
import { crlFileEndpoints, crls } from "../../engine/src/contracts/vault/crl.ts"
import {
  externalPolicy,
  policyIssue,
  policySign,
  policySignIntermediate,
} from "../../engine/src/contracts/vault/external-policy.ts"
import { blockedKeys } from "../../engine/src/contracts/vault/blocked-key.ts"
import { health } from "../../engine/src/contracts/vault/health.ts"
import { issuers } from "../../engine/src/contracts/vault/issuer.ts"
import { kubernetesLogins } from "../../engine/src/contracts/vault/kubernetes-login.ts"
import { leaseContracts } from "../../engine/src/contracts/vault/lease.ts"
import { mounts } from "../../engine/src/contracts/vault/mount.ts"
import { mountSettings } from "../../engine/src/contracts/vault/mount-settings.ts"
import {
  olderPolicies,
  policies,
  teamPolicies,
  tokenPolicies,
  userPolicies,
} from "../../engine/src/contracts/vault/policy.ts"
import {
  ownToken,
  serviceTokens,
  tokensByAccessor,
  tokensBySecret,
} from "../../engine/src/contracts/vault/service-token.ts"
import { keys } from "../../engine/src/contracts/vault/key.ts"
import { ocsp } from "../../engine/src/contracts/vault/ocsp.ts"
import { revocations } from "../../engine/src/contracts/vault/revocation.ts"
import { tokenRoles } from "../../engine/src/contracts/vault/token-role.ts"
import { declaredResources, defaultTextOf, type Definition as Declared } from "../../engine/src/declared/index.ts"
import { role, roles } from "../../engine/src/contracts/vault/role.ts"
import { certificateInventory, storedCertificates } from "../../engine/src/contracts/vault/stored-certificate.ts"
import { tidy } from "../../engine/src/contracts/vault/tidy.ts"
import type { FieldType } from "../../engine/src/contracts/vault/types.ts"

const folder = new URL("../../docs/reference/", import.meta.url)
const generated = "Written from the contract of the endpoints by `npm run docs:reference`; do not edit."

const code = (value: unknown): string => (value === undefined ? "" : `\`${JSON.stringify(value)}\``)
const sentence = (text: string): string =>
  text.replaceAll("*", "\\*").replaceAll("|", "\\|").replaceAll("<oid>;UTF8:<value>", "`<oid>;UTF8:<value>`")

function tableOf(header: readonly string[], body: readonly (readonly string[])[]): string {
  const widths = header.map((_, at) => Math.max(...[header, ...body].map((row) => row[at]?.length ?? 0)))
  const line = (row: readonly string[]) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`
  return [line(header), line(widths.map((width) => "-".repeat(width))), ...body.map(line)].join("\n")
}

/** In words, of JSON Schema. */
function typeOf(schema: Json): string {
  if (Array.isArray(schema["enum"])) return schema["enum"].map((value) => `\`${String(value)}\``).join(" or ")
  if (Array.isArray(schema["anyOf"])) return schema["anyOf"].map((one) => typeOf(one as Json)).join(" or ")
  const types = [schema["type"] ?? "any"].flat().map(String)
  return types.map((type) => (type === "array" ? "list" : type)).join(" or ")
}
const memberOf = (schema: Json, ...names: readonly string[]): Readonly<Record<string, Json>> =>
  names.reduce<unknown>((value, name) => (value as Json)[name], schema) as Readonly<Record<string, Json>>

function attributeRows(definition: Definition, create: tfe.Endpoint["body"]): readonly (readonly string[])[] {
  const sent = create === undefined ? {} : memberOf(requestSchema(create), ...data, "attributes")
  const required: readonly unknown[] = [sent["required"] ?? []].flat()
  return Object.entries(memberOf(resourceSchema(definition), "properties", "attributes", "properties")).map(
    ([name, schema]) => [
      `\`${name}\``,
      typeOf(schema),
      schema["readOnly"] === true
        ? "read-only"
        : required.some((one) => one === name)
          ? "required"
          : code(schema["default"]),
      sentence(String(schema["description"])),
      code([schema["examples"]].flat()[0]),
    ],
  )
}
const data = ["properties", "data", "properties"] as const

/** Members of attributes that are objects. */
const memberLists = (definition: Definition): readonly string[] =>
  Object.entries(memberOf(resourceSchema(definition), "properties", "attributes", "properties")).flatMap(
    ([name, { properties: own, anyOf }]) => {
      const properties = own ?? ([anyOf].flat()[0] as Json | undefined)?.["properties"]
      return typeof properties !== "object" || properties === null
        ? []
        : [
            `Members of \`${name}\`: ${Object.keys(properties)
              .map((one) => `\`${one}\``)
              .join(", ")}.`,
          ]
    },
  )

const relationshipRows = (definition: Definition): readonly (readonly string[])[] =>
  Object.entries(memberOf(resourceSchema(definition), "properties", "relationships", "properties")).map(
    ([name, { description, properties }]) => {
      const linkage = (properties as Readonly<Record<string, Json>> | undefined)?.["data"]
      const types = [...JSON.stringify(linkage ?? {}).matchAll(/"(?:const|enum)":(?:"([a-z-]+)"|\["([a-z",-]+)"\])/g)]
      const type = types.flatMap(([, one, several]) => one ?? several?.split('","') ?? []).join("` or `")
      const resources = type === "" ? "link" : `\`${type}\`${linkage?.["type"] === "array" ? ", a list" : ""}`
      return [`\`${name}\``, resources, sentence(String(description))]
    },
  )

const queryRows = (contract: tfe.Contract): readonly (readonly string[])[] =>
  Object.values(contract).flatMap(({ method, path, query = {} }) =>
    Object.values(query).map(({ parameter, rule, example, required }) => [
      `\`${method} ${path}\``,
      `\`${parameter}\``,
      `${sentence(rule)}${required === true ? " Required." : ""}`,
      `\`${String(example)}\``,
    ]),
  )

const headerRows = (contract: tfe.Contract): readonly (readonly string[])[] =>
  Object.values(contract).flatMap(({ method, path, headers = {} }) =>
    Object.entries(headers).map(([header, { rule, example }]) => [
      `\`${method} ${path}\``,
      `\`${header}\``,
      sentence(rule),
      `\`${String(example)}\``,
    ]),
  )

interface Described {
  readonly title: string
  readonly document: Definition
  readonly create?: tfe.Endpoint["body"]
}

const section = (title: string, rows: readonly (readonly string[])[], header: readonly string[], note = ""): string =>
  rows.length === 0 ? "" : `\n## ${title}\n\n${tableOf(header, rows)}\n${note === "" ? "" : `\n${note}\n`}`

/** A page of a contract, with its documents. */
const tfePage = (title: string, contract: tfe.Contract, ...documents: readonly Described[]): string =>
  pageOf(
    title,
    "Paths are relative to `/api/v2`. Who may do what is in [permissions.md](../permissions.md).",
    contract,
    documents,
  )

const pageOf = (
  title: string,
  introduction: string,
  contract: tfe.Contract,
  documents: readonly Described[] = [],
): string => `# ${title}

${generated}

## Endpoints

${introduction}

${tableOf(
  ["Endpoint", "What it does", "Rights needed"],
  Object.values(contract).map(({ method, path, summary, rights }) => [
    `\`${method} ${path}\``,
    sentence(summary),
    sentence(rights),
  ]),
)}
${section("Query parameters", queryRows(contract), ["Endpoint", "Parameter", "Rule", "Example"])}${section(
  "Headers",
  headerRows(contract),
  ["Endpoint", "Header", "Rule", "Example"],
)}${
  Object.values(contract).some(({ answers }) => answers.paged === true)
    ? "\nLists have pages: `page[number]` and `page[size]`, at most 100.\n"
    : ""
}${documents
  .map(({ title: name, document, create }) => {
    const suffix = documents.length === 1 ? "" : ` of ${name}`
    return `${section(
      `Attributes${suffix}`,
      attributeRows(document, create),
      ["Field", "Type", "Default", "Rule", "Example"],
      memberLists(document).join("\n\n"),
    )}${section(`Relationships${suffix}`, relationshipRows(document), ["Field", "Resources", "Rule"])}`
  })
  .join("")}`

const typeNames: Readonly<Partial<Record<FieldType, string>>> = { "duration (sec)": "duration", slice: "list" }
const methods = { read: "GET", write: "POST", patch: "PATCH", list: "LIST", delete: "DELETE" } as const

const parameterRows = ({ members }: Table): readonly (readonly string[])[] =>
  members.map(({ wireName, kind, note }) => [
    `\`${wireName}\``,
    typeNames[kind.type] ?? kind.type,
    code(note?.default),
    sentence(note?.rule ?? ""),
    code(note?.example),
  ])

const vaultPage = (
  title: string,
  { table, constants }: { readonly table: Table; readonly constants: Json },
  contract: vault.Contract,
  introduction: string,
): string => `# ${title}

${generated}

## Endpoints

Paths are relative to \`/v1/<mount>\`. Who may do what is in [permissions.md](../permissions.md).

${tableOf(
  ["Endpoint", "What it does", "Capability needed"],
  Object.values(contract).map(({ operation, path, summary, rights }) => [
    `\`${methods[operation]} ${path}\``,
    sentence(summary),
    sentence(rights),
  ]),
)}

## Parameters

${introduction}

Lists are JSON arrays, or one string with commas. Durations are strings such as \`90s\`, \`1h30m\` and \`7d\`, or whole seconds. Booleans
and integers may be strings.

${tableOf(["Parameter", "Type", "Default", "Rule", "Example"], parameterRows(table))}
${Object.entries(constants)
  .map(
    ([name, value]) => `\nAnswers have \`${name}\` as well, which is always ${JSON.stringify(value)}, as in Vault.\n`,
  )
  .join("")}`

/** Endpoints of several resources or tables, with a section for every table of parameters or members. */
const vaultPages = (
  title: string,
  contract: vault.Contract,
  introduction: string,
  base = "/v1/<mount>",
): string => `# ${title}

${generated}

${introduction}

## Endpoints

Paths are relative to \`${base}\`. Who may do what is in [permissions.md](../permissions.md).

${tableOf(
  ["Endpoint", "What it does", "Capability needed"],
  Object.values(contract).map((endpoint) => [
    [endpoint.path, ...(endpoint.alsoAt ?? [])].map((path) => `\`${addressOf({ ...endpoint, path })}\``).join(", "),
    sentence(endpoint.summary),
    endpoint.open === true ? "none; no token is needed" : sentence(endpoint.rights),
  ]),
)}

${[
  ...sections("Parameters of", contract, ({ body }) =>
    body === undefined || body.table === keyPage.table ? [] : [body.table],
  ),
  ...sections("Members of objects in", contract, ({ body }) => body?.nested ?? []),
  ...sections("Answers of", contract, ({ body, answers }) =>
    answers.record === undefined || answers.record.table === body?.table ? [] : [answers.record.table],
  ),
  `Lists in requests are JSON arrays, or one string with commas. Durations are strings such as \`90s\`, \`1h30m\` and \`7d\`, or whole seconds.
Booleans and integers may be strings. LIST takes \`after\` (a key to begin behind) and \`limit\`.`,
].join("\n\n")}
`

const addressOf = ({ operation, path }: vault.Endpoint): string => `${methods[operation]} ${path}`

function sections(
  heading: string,
  contract: vault.Contract,
  tablesIn: (endpoint: vault.Endpoint) => readonly Table[],
): readonly string[] {
  const tables = new Map<Table, vault.Endpoint[]>()
  for (const endpoint of Object.values(contract))
    for (const table of tablesIn(endpoint)) tables.set(table, [...(tables.get(table) ?? []), endpoint])
  return [...tables].map(([table, [first, ...others]]) =>
    [
      `## ${heading} \`${first === undefined ? "" : addressOf(first)}\``,
      ...(others.length === 0 ? [] : [`Also of ${others.map((one) => `\`${addressOf(one)}\``).join(", ")}.`]),
      tableOf(["Member", "Type", "Default", "Rule", "Example"], parameterRows(table)),
    ].join("\n\n"),
  )
}

const rolesIntroduction = `\`POST /v1/<mount>/roles/<name>\` replaces a role: parameters that it leaves out get their defaults. \`PATCH\` keeps them. \`GET\` with
\`?help=1\` (\`vault path-help <mount>/roles/<name>\`) lists the same parameters. Names, periods of validity and dialects are explained
in [authorities.md](../authorities.md) and [dialects.md](../dialects.md).`

const issuersIntroduction = `Issuers are the authorities of a mount. How to make them and rotate them is explained in [authorities.md](../authorities.md).
\`issuer_ref\` is an id, a name, or \`default\`. \`POST /issuer/:issuer_ref\` replaces the settings: parameters that it leaves out get their
defaults. \`PATCH\` keeps them.`

const mountsIntroduction = `A mount is one certificate authority at a path of its own, which may have several segments. Its settings below the mount are on a
page of their own.`

const mountSettingsIntroduction = `Settings are of one mount. Those of ACME are explained in [acme.md](../acme.md), the others in [authorities.md](../authorities.md).`

/** Several contracts on one page. */
const joined = <Endpoint>(
  contracts: Readonly<Record<string, Readonly<Record<string, Endpoint>>>>,
): Readonly<Record<string, Endpoint>> =>
  Object.fromEntries(
    Object.entries(contracts).flatMap(([prefix, contract]) =>
      Object.entries(contract).map(([name, endpoint]) => [`${prefix}.${name}`, endpoint]),
    ),
  )

const policiesIntroduction = `Policies say what their holders may do below \`/v1\`. How they are written is explained in [permissions.md](../permissions.md).`

const serviceTokensIntroduction = `Service tokens are for machines. Answers that create or renew one have it in \`auth\`, as Vault clients expect; in the native dialect
\`data\` has its record besides.`

const appRoleIntroduction = `Programs log in with a role id and a secret id. See [logins.md](../logins.md). Members with an address of their own can be allowed alone
by policies.`

const blockedKeysIntroduction = `No mount certifies, imports, or accepts for an ACME account a key that is blocked. A revocation with reason keyCompromise blocks
the key of its certificate.`

const healthIntroduction = `Answers are documents without an envelope, as Vault clients and load balancers expect.`

const kubernetesIntroduction = `Pods log in with the token of their service account. See [logins.md](../logins.md).`

const leasesIntroduction = `A lease ends with its certificate, or with the token that requested it, which revokes the certificate.`

const tokenRolesIntroduction = `A token role creates service tokens with policies that its users need not hold. Answers have the members that have an older name
under that name as well.`

const authMethodsIntroduction = `An auth method is one way to log in, at a path below \`auth/\`. See [logins.md](../logins.md).`
const keysIntroduction = `Keys sign for the issuers of a mount. \`key_ref\` is an id, a name, or \`default\`, the key of the default issuer.`

const certificatesIntroduction = `Endpoints that issue and sign. \`name\` is a role, \`issuer_ref\` an id, a name, or \`default\`: the issuer that signs in
place of the one of the role or the mount. Policies, periods of validity and dialects are explained in
[authorities.md](../authorities.md) and [dialects.md](../dialects.md).`
const storedCertificatesIntroduction = `Certificates are public; lists of them and their metadata are not. \`serial\` is a serial number in hexadecimal, with colons or
hyphens. Answers about the default issuer have an ETag, and 304 for a client that has them.`
const inventoryIntroduction = `A search across mounts. With \`format=csv\` the answer is CSV (RFC 4180).`
const externalPolicyIntroduction = `A service outside decides what is issued. Parameters that are not listed here go on to it as they are.
What it is sent and how it answers is explained in [authorities.md](../authorities.md).`

const revocationIntroduction = `Revocation is final. How it becomes known is explained in [authorities.md](../authorities.md).`
const crlsIntroduction = `Certificate revocation lists (RFC 5280) are public. Addresses of issuers answer DER, and JSON to Vault's clients. They have an
ETag, and 304 for a client that has the list.`
const ocspIntroduction = `The OCSP responder of a mount (RFC 6960). The status is 200 whatever the response says. Answers to GET have an ETag and
\`Cache-Control\` (RFC 5019, section 6.2).`

const tidyIntroduction = `Tidying deletes what has expired, in pages, beside the work of the server. [operations.md](../operations.md) explains it.`
const acmeManagementIntroduction = `External account bindings, accounts, orders and renewal signals of ACME, for administrators. ACME itself is explained in
[acme.md](../acme.md).`

/** Endpoints below the directories of a mount. */
const acmePage = (): string => `# ACME

${generated}

A directory of a mount is an ACME server (RFC 8555). Its addresses are in the answer of \`GET /directory\`. Paths below are relative to a
directory, which is one of ${directoryPaths.map((path) => `\`/v1/<mount>${path}\``).join(", ")}.
GET is open. POST is a JWS, signed as the table says; without payload it is a POST-as-GET (section 6.3).
Settings, limits and clients are explained in [acme.md](../acme.md).

## Endpoints

${tableOf(
  ["Endpoint", "What it does", "Signed by", "Payload"],
  Object.values<AcmeEndpoint>(acme).map(({ method, path, summary, signer, payload, payloadOptional }) => [
    `\`${method} ${path}\``,
    sentence(summary),
    signer === undefined ? "" : `key of the ${signer}`.replace("key of the new key", "new key"),
    payload === undefined ? "" : payloadOptional === true ? "optional" : "required",
  ]),
)}

${Object.values<AcmeEndpoint>(acme)
  .filter(({ payload }) => Object.keys(payload?.members ?? {}).length > 0)
  .map(({ method, path, payload }) =>
    [
      `## Payload of \`${method} ${path}\``,
      tableOf(
        ["Member", "Type", "Default", "Rule", "Example"],
        Object.entries(payload?.members ?? {}).map(([name, one]) => [
          `\`${name}\``,
          typeOf("const" in one.schema ? { enum: [one.schema["const"]] } : one.schema),
          one.required === true ? "required" : code(one.default),
          sentence(one.rule),
          code(one.example),
        ]),
      ),
    ].join("\n\n"),
  )
  .join("\n\n")}
`

/** Names are unique in a page. */
const prefixed = (prefix: string, contract: vault.Contract): vault.Contract =>
  Object.fromEntries(Object.entries(contract).map(([name, endpoint]) => [`${prefix} ${name}`, endpoint]))
const titleOf = ({ name }: Declared): string => name.charAt(0).toUpperCase() + name.slice(1)

const memberRows = ({ members }: Declared): readonly (readonly string[])[] =>
  Object.entries(members).map(([name, member]) => [
    `\`${name}\``,
    member.label,
    member.providedBy === "name"
      ? "name of the resource"
      : (defaultTextOf(member, "markdown") ?? (member.isRequired ? "required" : "")),
    member.forcesReplacement === true ? "yes" : "",
    sentence(
      `${member.description}${member.edition === undefined ? "" : ` Only in the ${member.edition} edition.`}${member.secret === undefined ? "" : " Secret."}`,
    ),
    code(member.example),
  ])

const outputRows = ({ outputs, members, adoption }: Declared): readonly (readonly string[])[] =>
  [
    ...Object.entries(outputs),
    ...Object.entries(members).filter(([name, { isHidden }]) => isHidden !== true && !(name in outputs)),
    ...(adoption === undefined
      ? []
      : [["adopted", { description: "The resource existed before and was adopted." }] as const]),
  ].map(([name, { description }]) => [`\`${name}\``, sentence(description)])

const declaredPage = (resource: Declared): string => `# ${titleOf(resource)}

Written from the declared resource by \`npm run docs:reference\`; do not edit.

${resource.description}

## Fields

${resource.argsDescription ?? "A field that is not declared is not managed."}

${tableOf(["Field", "Type", "Default", "Forces replacement", "Rule", "Example"], memberRows(resource))}

## Outputs

${resource.outputsDescription}

${tableOf(["Output", "Meaning"], outputRows(resource))}
`

const declaredPages = declaredResources.map(
  (resource) =>
    [
      `declared/${resource.name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.md`,
      declaredPage(resource),
    ] as const,
)

const pages: Readonly<Record<string, string>> = {
  ...Object.fromEntries(declaredPages),
  "issuers.md": vaultPages("Issuers", issuers, issuersIntroduction),
  "auth-methods.md": vaultPages("Auth methods", authMethods, authMethodsIntroduction, "/v1"),
  "mounts.md": vaultPages("Mounts", mounts, mountsIntroduction, "/v1"),
  "mount-settings.md": vaultPages("Settings of a mount", mountSettings, mountSettingsIntroduction),
  "policies.md": vaultPages(
    "Policies",
    joined<vault.Endpoint>({ policies, olderPolicies, userPolicies, teamPolicies, tokenPolicies }),
    policiesIntroduction,
    "/v1",
  ),
  "service-tokens.md": vaultPages(
    "Service tokens",
    joined<vault.Endpoint>({ serviceTokens, tokensBySecret, tokensByAccessor, ownToken }),
    serviceTokensIntroduction,
    "/v1",
  ),
  "keys.md": vaultPages("Keys", keys, keysIntroduction),
  "certificates.md": vaultPages("Certificates", certificates, certificatesIntroduction),
  "stored-certificates.md": vaultPages("Stored certificates", storedCertificates, storedCertificatesIntroduction),
  "certificate-inventory.md": vaultPages("Certificate inventory", certificateInventory, inventoryIntroduction, "/v1"),
  "external-policy.md": vaultPages(
    "External policy",
    {
      ...externalPolicy,
      ...prefixed("issue", policyIssue),
      ...prefixed("sign", policySign),
      ...prefixed("signIntermediate", policySignIntermediate),
    },
    externalPolicyIntroduction,
  ),
  "revocation.md": vaultPages("Revocation", revocations, revocationIntroduction),
  "crls.md": vaultPages("CRLs", { ...crls, ...crlFileEndpoints }, crlsIntroduction),
  "ocsp.md": vaultPages("OCSP", ocsp, ocspIntroduction),
  "acme.md": acmePage(),
  "tidy.md": vaultPages("Tidy", tidy, tidyIntroduction),
  "acme-management.md": vaultPages(
    "ACME management",
    {
      ...prefixed("bindings", { ...accountBindings, ...newAccountBindings }),
      ...prefixed("accounts", acmeAccounts),
      ...prefixed("orders", acmeOrders),
      ...prefixed("renewals", renewalSignals),
    },
    acmeManagementIntroduction,
  ),
  "agent-pools.md": tfePage("Agent pools", agentPools, {
    title: "agent pools",
    document: agentPool,
    create: agentPool.input,
  }),
  "assessment-results.md": tfePage("Assessment results", assessments, {
    title: "results",
    document: assessment,
    create: assessment.input,
  }),
  "bulk-actions.md": tfePage("Bulk actions", bulkActions, {
    title: "bulk actions",
    document: bulkAction,
    create: bulkRequest,
  }),
  "organization-memberships.md": tfePage("Organization memberships", organizationMemberships, {
    title: "memberships",
    document: organizationMembership,
    create: organizationMembership.input,
  }),
  "open-addresses.md": pageOf(
    "Addresses without a token",
    "Paths are from the root of the server. Addresses with a credential are in the documents of the API.",
    joined<tfe.Endpoint>({ openAddresses, signedAddresses }),
  ),
  "organizations.md": tfePage(
    "Organizations",
    organizations,
    { title: "organizations", document: organization, create: organization.input },
    { title: "entitlement sets", document: entitlementSet },
  ),
  "projects.md": tfePage("Projects", projects, { title: "projects", document: project, create: project.input }),
  "configuration-versions.md": tfePage(
    "Configuration versions",
    configurationVersions,
    { title: "configuration-versions", document: configurationVersion, create: configurationVersion.input },
    { title: "ingress-attributes", document: ingressAttributes },
    { title: "workspace-readme", document: readme },
  ),
  "remote-state-consumers.md": tfePage("Remote state consumers", remoteStateConsumers),
  "retention-policies.md": tfePage(
    "Data retention policies",
    joined<tfe.Endpoint>({ workspaceRetention, organizationRetention, siteRetention }),
    { title: "policies", document: retentionPolicy },
  ),
  "state-versions.md": tfePage(
    "State versions",
    stateVersions,
    { title: "state-versions", document: stateVersion, create: stateVersionInput },
    { title: "state-version-outputs", document: stateVersionOutput },
    { title: "workspace-outputs", document: workspaceOutput },
    { title: "resources", document: workspaceResource },
  ),
  "site-settings.md": tfePage("Site settings", siteSettingsContract, { title: "settings", document: siteSettings }),
  "ssh-keys.md": tfePage("SSH keys", sshKeys, { title: "SSH keys", document: sshKey, create: sshKey.input }),
  "tags.md": tfePage(
    "Tags",
    tags,
    { title: "tags", document: tag },
    { title: "bindings", document: tagBinding },
    { title: "effective bindings", document: effectiveTagBinding },
  ),
  "team-access.md": tfePage(
    "Team access",
    joined<tfe.Endpoint>({ teamWorkspaces, teamProjects }),
    { title: "access to workspaces", document: teamWorkspace, create: teamWorkspace.input },
    { title: "access to projects", document: teamProject, create: teamProject.input },
  ),
  "teams.md": tfePage("Teams", teams, { title: "teams", document: team, create: team.input }),
  "run-claims.md": tfePage(
    "Run claims",
    runClaims,
    { title: "run-claims", document: runClaim, create: claimInput },
    { title: "execution-variables", document: executionVariable },
    { title: "run-logs", document: logSize },
  ),
  "events.md": tfePage("Events", events, { title: "events", document: event }),
  "runs.md": tfePage(
    "Runs",
    runs,
    { title: "runs", document: run, create: run.input },
    { title: "plans", document: plan },
    { title: "applies", document: apply },
    { title: "comments", document: comment, create: comment.input },
    { title: "organization-capacity", document: runCapacity },
  ),
  "terraform-versions.md": tfePage("Terraform versions", terraformVersions, {
    title: "versions",
    document: terraformVersion,
    create: terraformVersion.input,
  }),
  "tokens.md": tfePage(
    "Authentication tokens",
    tokens,
    { title: "tokens", document: token, create: token.input },
    { title: "the answer that creates one", document: { ...createdToken, relationships: {} } },
  ),
  "users.md": tfePage(
    "Users",
    users,
    { title: "users", document: user },
    { title: "the caller's account", document: account },
    { title: "users for site administrators", document: adminUser, create: adminUser.input },
  ),
  "variables.md": tfePage("Variables", variables, {
    title: "variables",
    document: variable,
    create: variable.input,
  }),
  "vcs-connections.md": tfePage(
    "VCS connections",
    vcsConnections,
    { title: "OAuth clients", document: oauthClient, create: oauthClient.input },
    { title: "OAuth tokens", document: oauthToken },
    { title: "installations of GitHub apps", document: appInstallation, create: appInstallation.input },
  ),
  "webhooks.md": tfePage(
    "Webhooks",
    webhooks,
    { title: "webhooks", document: webhook, create: webhook.input },
    { title: "undelivered events", document: deadLetter },
  ),
  "workspaces.md": tfePage(
    "Workspaces",
    joined<tfe.Endpoint>({ workspaces, namedWorkspaces }),
    { title: "workspaces", document: workspace, create: workspace.input },
    { title: "locks in requests", document: lock },
  ),
  "approle.md": vaultPages(
    "AppRole",
    joined<vault.Endpoint>({
      appRoles,
      roleIds,
      secretIds,
      secretIdsBySecret,
      secretIdsByAccessor,
      appRoleLogins,
      ...Object.fromEntries(Object.entries(appRolePartContracts)),
    }),
    appRoleIntroduction,
    "/v1/auth/<method>",
  ),
  "blocked-keys.md": vaultPages("Blocked keys", blockedKeys, blockedKeysIntroduction, "/v1"),
  "health.md": vaultPages("Health", health, healthIntroduction, "/v1"),
  "kubernetes-logins.md": vaultPages(
    "Kubernetes logins",
    kubernetesLogins,
    kubernetesIntroduction,
    "/v1/auth/<method>",
  ),
  "leases.md": vaultPages("Leases", joined<vault.Endpoint>(leaseContracts), leasesIntroduction, "/v1"),
  "token-roles.md": vaultPages("Token roles", tokenRoles, tokenRolesIntroduction, "/v1"),
  "roles.md": vaultPage("Roles", role, roles, rolesIntroduction),
}

await mkdir(new URL("declared/", folder), { recursive: true })
for (const [name, page] of Object.entries(pages)) {
  const target = new URL(name, folder)
  if (!process.argv.includes("--check")) await writeFile(target, page)
  else if ((await readFile(target, "utf8").catch(() => "")) !== page) {
    process.stderr.write(`docs/reference/${name} is stale: run \`npm run docs:reference\` and commit what it writes.\n`)
    process.exitCode = 1
  }
}
