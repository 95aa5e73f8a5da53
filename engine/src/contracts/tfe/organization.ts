import { z } from "zod"
import type { OrganizationId, ProjectId } from "../../core/ids.ts"
import { emailFaults } from "../../organizations/user.ts"
import {
  collaboratorAuthPolicies,
  executionModes,
  organizationNameFaults,
  organizationPermissionNames,
  type OrganizationView,
  plans,
  recordedSettingFaults,
  type RemoteOperations,
  remoteOperationModes,
} from "../../organizations/organization.ts"
import { type ResourceIdentifier, ruled, ruledNumber, toOne } from "./json-api/document.ts"
import { unsupported } from "./json-api/unsupported.ts"
import { emptyAsNull, flags, instant } from "../codec.ts"
import {
  alias,
  computed,
  constant,
  document,
  mapped,
  one,
  oneInput,
  oneOrNull,
  readOnly,
  writable,
} from "./document.ts"
import { contract, created, inclusionOfParts, nothing, page, resource, resourceWithIncluded, text } from "./endpoint.ts"

const pathOf = (name: unknown): string => `/api/v2/organizations/${String(name)}`
const recorded = "It is stored and returned, and changes nothing here."
const minutes = (name: "sessionTimeout" | "sessionRemember") =>
  ruledNumber((number) => recordedSettingFaults({ [name]: number })).nullable()

const flat = document("organizations", {
  id: z.custom<string>(),
  self: pathOf,
  attributes: {
    name: writable(z.string(), {
      input: ruled(organizationNameFaults),
      required: true,
      rule: "Name, unique on the server, and the id of the document: letters, numbers, - and _, at most 40 characters.",
      example: "acme",
    }),
    externalId: readOnly(z.custom<OrganizationId>(), {
      rule: "Id that stays if the name changes.",
      example: "org-xyz",
    }),
    email: writable(z.string(), {
      input: ruled(emailFaults),
      required: true,
      rule: "Address of the administrators.",
      example: "ops@example.com",
    }),
    createdAt: readOnly(instant, { rule: "Time of the creation.", example: "2026-11-26T12:00:00.000Z" }),
    defaultExecutionMode: writable(z.enum(executionModes), {
      rule: "Execution mode of workspaces whose project and workspace have none of their own.",
      default: "remote",
      example: "local",
    }),
    remoteOperations: writable(z.enum(remoteOperationModes), {
      rule: "Execute runs on agents (on), or on the machines of the clients (off). With off, all workspaces execute locally.",
      default: "on",
      example: "off",
    }),
    allowForceDeleteWorkspaces: writable(z.boolean(), {
      rule: "Let workspace administrators delete workspaces that manage resources.",
      default: false,
      example: true,
    }),
    assessmentsEnforced: writable(z.boolean(), {
      rule: "Assess the health of all workspaces that can be assessed.",
      default: false,
      example: true,
    }),
    collaboratorAuthPolicy: writable(z.enum(collaboratorAuthPolicies), {
      rule: `Authentication that members need. ${recorded}`,
      default: "password",
      example: "two_factor_mandatory",
    }),
    costEstimationEnabled: writable(z.boolean(), {
      rule: `Estimate costs. ${recorded}`,
      default: false,
      example: true,
    }),
    plan: writable(z.enum(plans), {
      wireName: "plan-identifier",
      rule: "Plan, which says what the organization may use. Only site administrators set it.",
      default: "plus",
      example: "standard",
    }),
    sessionRemember: writable(z.number().nullable(), {
      input: minutes("sessionRemember"),
      rule: `Minutes that a session lasts. ${recorded}`,
      default: null,
      example: 20160,
    }),
    sessionTimeout: writable(z.number().nullable(), {
      input: minutes("sessionTimeout"),
      rule: `Minutes without activity after which a session ends. ${recorded}`,
      default: null,
      example: 1440,
    }),
    ownersTeamSamlRoleId: writable(z.string().nullable(), {
      input: ruled((ownersTeamSamlRoleId) => recordedSettingFaults({ ownersTeamSamlRoleId })).nullable(),
      rule: `SAML role of the team owners. ${recorded}`,
      default: null,
      example: "owners",
    }),
    aggregatedCommitStatusEnabled: writable(z.boolean(), {
      rule: `Send one status for all workspaces of a commit. ${recorded}`,
      default: true,
      example: false,
    }),
    sendPassingStatusesForUntriggeredSpeculativePlans: writable(z.boolean(), {
      rule: `Send a passing status if a commit starts no plan; excludes aggregated-commit-status-enabled. ${recorded}`,
      default: false,
      example: true,
    }),
    speculativePlanManagementEnabled: writable(z.boolean(), {
      rule: `Cancel plans of outdated commits. ${recorded}`,
      default: true,
      example: false,
    }),
    stacksEnabled: writable(z.boolean(), { rule: `Allow stacks. ${recorded}`, default: false, example: true }),
    defaultAgentPoolId: alias("defaultAgentPoolId", z.string().nullable(), {
      input: emptyAsNull(z.string()),
      writeOnly: true,
      rule: "Id of the default agent pool, if the relationship is left out.",
      example: "apool-9tVs3bYhfsB4mJ7q",
    }),
    samlEnabled: constant(false, { rule: "Always false." }),
    twoFactorConformant: constant(true, { rule: "Always true." }),
    userTokensEnabled: {
      ...constant(true, { rule: "Always true; requests that set it to false are refused." }),
      input: unsupported("user-tokens-enabled", true, "organizations without user tokens"),
    },
    enforceHyok: {
      ...constant(false, { rule: "Always false; requests that set it to true are refused." }),
      input: unsupported("enforce-hyok", false, "customer-managed keys"),
    },
    registryMonorepoSupportEnabled: {
      ...constant(false, { rule: "Always false; requests that set it to true are refused." }),
      input: unsupported("registry-monorepo-support-enabled", false, "registry modules"),
    },
    permissions: readOnly(flags(organizationPermissionNames), { rule: "What the caller may do in the organization." }),
  },
  relationships: {
    defaultProjectId: readOnly(one<ProjectId>("projects"), {
      wireName: "default-project",
      rule: "Project of workspaces that are created without one.",
    }),
    defaultAgentPoolId: writable(oneOrNull<string>("agent-pools"), {
      input: oneInput<string>("agent-pools"),
      wireName: "default-agent-pool",
      rule: "Agent pool of workspaces whose execution mode is agent and that have no pool of their own.",
    }),
    entitlementSet: computed(
      z.object({ data: z.object({ type: z.literal("entitlement-sets"), id: z.string() }), links: z.unknown() }),
      ({ externalId, id }: { readonly externalId: string; readonly id: string }) => ({
        ...toOne("entitlement-sets", externalId),
        links: { related: `${pathOf(id)}/entitlement-set` },
      }),
      { rule: "Features of the server." },
    ),
    dataRetentionPolicy: computed(
      z.object({ data: z.object({ type: z.string(), id: z.string() }) }),
      ({ retentionPolicy }: WithPolicy) => retentionPolicy && { data: retentionPolicy },
      { rule: "Data retention policy, if the organization has one, in the answer for one organization." },
    ),
  },
})

interface WithPolicy {
  readonly retentionPolicy?: ResourceIdentifier | undefined
}

export const organization = mapped(flat, {
  from: ({ id, ...view }: OrganizationView & WithPolicy) => ({ ...view, id: view.name, externalId: id }),
  to: ({ externalId, ...view }) => ({ ...view, id: externalId }),
})

/** Features of the server, by which clients decide which requests to make. */
export const entitlementSet = document("entitlement-sets", {
  id: z.custom<OrganizationId>(),
  self: (_id, { name }) => `${pathOf(name)}/entitlement-set`,
  attributes: {
    agents: constant(true, { rule: "Agent pools." }),
    auditLogging: constant(false, { rule: "Audit trails." }),
    costEstimation: constant(false, { rule: "Cost estimates." }),
    globalRunTasks: constant(false, { rule: "Run tasks of organizations." }),
    operations: computed(
      z.boolean(),
      ({ remoteOperations }: { readonly remoteOperations: RemoteOperations }) => remoteOperations === "on",
      { rule: "Runs execute on agents. False makes clients plan and apply on their machine.", example: true },
    ),
    policyEnforcement: constant(false, { rule: "Policies." }),
    privateModuleRegistry: constant(false, { rule: "Registry of modules." }),
    privatePolicyAgents: constant(false, { rule: "Policies on agents." }),
    runTasks: constant(false, { rule: "Run tasks." }),
    selfServeBilling: constant(false, { rule: "Billing." }),
    sentinel: constant(false, { rule: "Sentinel." }),
    sso: constant(false, { rule: "Single sign-on." }),
    stateStorage: constant(true, { rule: "States." }),
    teams: constant(true, { rule: "Teams." }),
    usageReporting: constant(false, { rule: "Reports of usage." }),
    userLimit: constant(null, { rule: "Maximum of users; null is none." }),
    vcsIntegrations: constant(true, { rule: "Version control." }),
  },
  relationships: {},
})

export const organizations = contract({
  list: {
    method: "GET",
    path: "/organizations",
    summary: "Lists the organizations of the caller.",
    rights: "Any token.",
    query: {
      search: { parameter: "q", schema: text, rule: "Part of the name or of the email address.", example: "acme" },
    },
    answers: page(organization),
  },
  create: {
    method: "POST",
    path: "/organizations",
    summary: "Creates an organization. The caller is its first owner.",
    rights: "Tokens of users.",
    body: organization.input,
    answers: created(organization),
  },
  get: {
    method: "GET",
    path: "/organizations/:organization_name",
    summary: "Returns an organization.",
    rights: "Members of the organization.",
    query: {
      include: {
        parameter: "include",
        schema: inclusionOfParts("default_project", "entitlement_set"),
        rule: "Resources beside the organization: default_project, entitlement_set, or both with a comma.",
        example: "default_project",
      },
    },
    answers: resourceWithIncluded(organization),
  },
  update: {
    method: "PATCH",
    path: "/organizations/:organization_name",
    summary: "Changes an organization. Members left out keep their values.",
    rights: "Owners and the token of the organization; site administrators for `plan-identifier`.",
    body: organization.patch,
    answers: resource(organization),
  },
  delete: {
    method: "DELETE",
    path: "/organizations/:organization_name",
    summary: "Deletes an organization with everything in it.",
    rights: "Owners.",
    answers: nothing,
  },
  entitlements: {
    method: "GET",
    path: "/organizations/:organization_name/entitlement-set",
    summary: "Returns the features of the server.",
    rights: "Members of the organization.",
    answers: resource(entitlementSet),
  },
})
