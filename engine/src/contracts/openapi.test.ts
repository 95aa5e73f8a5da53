// Every endpoint of a contract has its row in the permission table and its operation in OpenAPI, by the rules at the head of
// openapi.ts.
import { readFile } from "node:fs/promises"
import { expect, test } from "vitest"
import { configurationUploadRoutes } from "../http/routes/configuration-versions.ts"
import { discoveryRoutes } from "../http/routes/discovery.ts"
import { homeRoutes } from "../http/routes/home.ts"
import { runLogRoutes } from "../http/routes/runs.ts"
import { signInRoutes } from "../http/routes/sign-in.ts"
import { stateUploadRoutes } from "../http/routes/state-versions.ts"
import type { Contract as TfeContract, Endpoint as TfeEndpoint } from "./tfe/endpoint.ts"
import { bulkActions } from "./tfe/bulk-action.ts"
import { agentPools } from "./tfe/agent-pool.ts"
import { assessments } from "./tfe/assessment.ts"
import { configurationVersions } from "./tfe/configuration-version.ts"
import { events } from "./tfe/event.ts"
import { remoteStateConsumers } from "./tfe/remote-state-consumers.ts"
import { organizations } from "./tfe/organization.ts"
import { organizationMemberships } from "./tfe/organization-membership.ts"
import { organizationRetention, siteRetention, workspaceRetention } from "./tfe/retention-policy.ts"
import { tags } from "./tfe/tag.ts"
import { vcsConnections } from "./tfe/vcs-connection.ts"
import { siteSettingsContract } from "./tfe/site-settings.ts"
import { sshKeys } from "./tfe/ssh-key.ts"
import { teamProjects, teamWorkspaces } from "./tfe/team-access.ts"
import { terraformVersions } from "./tfe/terraform-version.ts"
import { tokens } from "./tfe/token.ts"
import { variables } from "./tfe/variable.ts"
import { webhooks } from "./tfe/webhook.ts"
import { namedWorkspaces, workspaces } from "./tfe/workspace.ts"
import { projects } from "./tfe/project.ts"
import { users } from "./tfe/user.ts"
import { openAddresses, signedAddresses } from "./tfe/open-address.ts"
import { type Paths, openApi, tfePaths, vaultPaths } from "./openapi.ts"
import { teams } from "./tfe/team.ts"
import { type Contract, contract, keys as listed, nothing } from "./vault/endpoint.ts"
import { runClaims } from "./tfe/run-claim.ts"
import { runs } from "./tfe/run.ts"
import { stateVersions } from "./tfe/state-version.ts"
import { authMethods } from "./vault/auth-method.ts"
import { accountBindings, newAccountBindings } from "./vault/account-binding.ts"
import { acmeAccounts, acmeOrders, renewalSignals } from "./vault/acme-management.ts"
import { certificates } from "./vault/certificate.ts"
import { crlFileEndpoints, crls } from "./vault/crl.ts"
import { externalPolicy, policyIssue, policySign, policySignIntermediate } from "./vault/external-policy.ts"
import { keys } from "./vault/key.ts"
import { ocsp } from "./vault/ocsp.ts"
import { revocations } from "./vault/revocation.ts"
import { certificateInventory, storedCertificates } from "./vault/stored-certificate.ts"
import { tidy } from "./vault/tidy.ts"
import {
  appRoleLogins,
  appRolePartContracts,
  appRoles,
  roleIds,
  secretIds,
  secretIdsByAccessor,
  secretIdsBySecret,
} from "./vault/app-role.ts"
import { blockedKeys } from "./vault/blocked-key.ts"
import { health } from "./vault/health.ts"
import { issuers } from "./vault/issuer.ts"
import { kubernetesLogins } from "./vault/kubernetes-login.ts"
import { leaseContracts } from "./vault/lease.ts"
import { mounts } from "./vault/mount.ts"
import { mountSettings } from "./vault/mount-settings.ts"
import { olderPolicies, policies, teamPolicies, tokenPolicies, userPolicies } from "./vault/policy.ts"
import { roles } from "./vault/role.ts"
import { ownToken, serviceTokens, tokensByAccessor, tokensBySecret } from "./vault/service-token.ts"
import { tokenRoles } from "./vault/token-role.ts"

const tfe = {
  agentPools,
  assessments,
  bulkActions,
  configurationVersions,
  events,
  namedWorkspaces,
  organizationMemberships,
  organizationRetention,
  organizations,
  projects,
  remoteStateConsumers,
  runClaims,
  runs,
  siteRetention,
  siteSettings: siteSettingsContract,
  sshKeys,
  stateVersions,
  tags,
  teamProjects,
  teams,
  teamWorkspaces,
  terraformVersions,
  tokens,
  users,
  variables,
  vcsConnections,
  webhooks,
  workspaceRetention,
  workspaces,
}

const partContracts = Object.fromEntries(
  Object.entries(appRolePartContracts).map(([part, contract]) => [`appRole.${part}`, contract]),
)
const policyContracts = { policies, olderPolicies, userPolicies, teamPolicies, tokenPolicies }
const tokenContracts = { serviceTokens, tokensBySecret, tokensByAccessor, ownToken }

/** Contracts by the address above their paths, as docs/permissions.md and OpenAPI write it. */
const vaultContracts = [
  {
    below: "mount",
    row: "/:mount",
    template: "/{mount}",
    contracts: {
      issuers,
      accountBindings,
      newAccountBindings,
      acmeAccounts,
      acmeOrders,
      renewalSignals,
      certificates,
      crlFileEndpoints,
      crls,
      externalPolicy,
      policyIssue,
      policySign,
      policySignIntermediate,
      keys,
      ocsp,
      revocations,
      storedCertificates,
      tidy,
      mountSettings,
      roles,
    },
  },
  {
    below: "root",
    row: "",
    template: "",
    contracts: {
      certificateInventory,
      authMethods,
      blockedKeys,
      health,
      mounts,
      tokenRoles,
      ...leaseContracts,
      ...policyContracts,
      ...tokenContracts,
    },
  },
  {
    below: "method",
    row: "/auth/*approle",
    template: "/auth/{method}",
    contracts: {
      appRoleLogins,
      appRoles,
      roleIds,
      secretIds,
      secretIdsByAccessor,
      secretIdsBySecret,
      ...partContracts,
    },
  },
  { below: "kubernetes", row: "/auth/*kubernetes", template: "/auth/{kubernetes}", contracts: { kubernetesLogins } },
] as const

const paths: Paths = Object.assign(
  {},
  tfePaths(tfe),
  ...vaultContracts.map(({ contracts, below }) => vaultPaths(contracts, below)),
)

/** Endpoints in the tables of docs/permissions.md, such as `LIST /:mount/roles`. */
async function permissionRows(): Promise<readonly string[]> {
  const text = await readFile(new URL("../../../docs/permissions.md", import.meta.url), "utf8")
  return [...text.matchAll(/^\| `([A-Z]+ \/\S*)` \|/gm)].map(([, row = ""]) => row)
}

const verbs = { read: "GET", list: "LIST", write: "POST", patch: "PATCH", delete: "DELETE" } as const
const tfeEndpoints = Object.values<TfeContract>(tfe)
  .flatMap((contract) => Object.values(contract))
  .map(({ method, path }) => ({ row: `${method} ${path}`, verb: method, path, above: [] }))
const vaultEndpoints = vaultContracts.flatMap(({ row, template, contracts }) =>
  Object.values<Contract>(contracts)
    .flatMap((contract) => Object.values(contract))
    .flatMap(({ operation, path, alsoAt = [] }) =>
      [path, ...alsoAt].map((one) => ({
        row: `${verbs[operation]} ${row}${one}`,
        verb: verbs[operation],
        path: `${template}${one}`,
        above: [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
      })),
    ),
)
const endpoints = [...tfeEndpoints, ...vaultEndpoints]

test.each(endpoints)("$row has its row in the permission table and its operation in OpenAPI", async (endpoint) => {
  const { row, verb, path, above } = endpoint
  expect(await permissionRows()).toContain(row)
  const operation = paths[path.replaceAll(/[:*](\w+)/g, "{$1}")]?.[verb === "LIST" ? "get" : verb.toLowerCase()]
  const parameters = operation?.["parameters"] as readonly Readonly<Record<string, unknown>>[]
  const inPath = parameters.filter((parameter) => parameter["in"] === "path")
  const names = (marks: RegExp) => [...path.matchAll(marks)].map(([, name]) => name)
  expect(inPath.map(({ name }) => name)).toEqual([...above, ...names(/[:*](\w+)/g)])
  // At an address with read and list, the query `list` selects the operation.
  const [list] = parameters.filter(({ name }) => name === "list")
  expect(list !== undefined).toBe(
    verb === "LIST" || endpoints.some((one) => one.path === path && one.verb === "LIST" && verb === "GET"),
  )
  expect(inPath.filter((one) => one["x-allow-slashes"] === true).map(({ name }) => name)).toEqual([
    ...above,
    ...names(/\*(\w+)/g),
  ])
})

test("every endpoint of the permission table is in a contract", async () => {
  const rows = endpoints.map(({ row }) => row)
  expect((await permissionRows()).filter((row) => !rows.includes(row))).toEqual([])
})

test("every route without a token is in a contract, and has its operation in OpenAPI", () => {
  const routes = [
    ...discoveryRoutes,
    ...signInRoutes,
    ...homeRoutes,
    ...stateUploadRoutes({} as never),
    ...configurationUploadRoutes({} as never),
    ...runLogRoutes({} as never),
  ].map(({ method, path }) => `${method} ${path}`)
  const declared = [...Object.values<TfeEndpoint>(openAddresses), ...Object.values<TfeEndpoint>(signedAddresses)]
  expect(declared.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(routes.toSorted())
  const described = Object.values(tfePaths({ openAddresses, signedAddresses }))
  expect(described.flatMap((methods) => Object.keys(methods))).toHaveLength(routes.length)
})

test("OpenAPI has one GET for an address that is read and listed, and x-allow-slashes for several segments", () => {
  const older = contract({
    get: { operation: "read", path: "/sys/policy", summary: "Reads.", rights: "read", answers: nothing },
    list: { operation: "list", path: "/sys/policy", summary: "Lists.", rights: "list", answers: listed },
    tune: { operation: "write", path: "/sys/mounts/*path/tune", summary: "Tunes.", rights: "update", answers: nothing },
  })
  const described = vaultPaths({ older }, "root")
  expect(described["/sys/policy"]?.["get"]).toMatchObject({
    operationId: "older.get",
    parameters: [{ name: "list", required: false }],
  })
  expect(described["/sys/mounts/{path}/tune"]?.["post"]).toMatchObject({
    parameters: [{ name: "path", in: "path", "x-allow-slashes": true }],
  })
})

test("OpenAPI has no other operations, and each has an id of its own", () => {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  // One GET stands for reading and listing.
  const addresses = endpoints.map(({ path, verb }) => `${verb === "LIST" ? "GET" : verb} ${path}`)
  expect(operations).toHaveLength(new Set(addresses).size)
  expect(new Set(operations.map((operation) => operation["operationId"])).size).toBe(operations.length)
})

test("OpenAPI says types, defaults, examples, and what is read-only or required", () => {
  const document = openApi("Teams", "/api/v2", tfePaths(tfe))
  expect(document).toMatchObject({ openapi: "3.1.1", servers: [{ url: "/api/v2" }] })
  expect(paths["/organizations/{organization_name}/teams"]?.["post"]).toMatchObject({
    requestBody: {
      content: {
        "application/vnd.api+json": {
          schema: {
            properties: {
              data: {
                properties: {
                  type: { const: "teams" },
                  attributes: {
                    required: ["name"],
                    properties: {
                      name: { type: "string", examples: ["platform"] },
                      visibility: { enum: ["secret", "organization"], default: "secret" },
                      "organization-access": { anyOf: [{ type: "object" }, { type: "null" }] },
                    },
                  },
                },
              },
            },
          },
        },
      },
    },
    responses: { 201: expect.anything(), default: expect.anything() },
  })
  expect(JSON.stringify(paths["/teams/{team_id}"]?.["patch"])).not.toContain('"required":["name"]')
  expect(paths["/teams/{team_id}"]?.["get"]).toMatchObject({
    responses: {
      200: {
        content: {
          "application/vnd.api+json": {
            schema: {
              properties: {
                data: {
                  properties: {
                    attributes: { properties: { "users-count": { type: "integer", readOnly: true } } },
                    relationships: { properties: { users: { properties: { data: { type: "array" } } } } },
                  },
                },
              },
            },
          },
        },
      },
    },
  })
  expect(paths["/{mount}/roles/{name}"]?.["patch"]).toMatchObject({
    requestBody: {
      content: {
        "application/merge-patch+json": {
          schema: { properties: { max_ttl: { type: "string", default: "0s", description: expect.any(String) } } },
        },
      },
    },
    responses: {
      200: {
        content: {
          "application/json": {
            schema: { properties: { data: { properties: { allow_token_displayname: { const: false } } } } },
          },
        },
      },
    },
  })
})
