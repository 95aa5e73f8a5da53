// The organization document. Its id is its name.
import { z } from "zod"
import { formatInstant } from "../../core/time.ts"
import {
  collaboratorAuthPolicies,
  executionModes,
  type OrganizationInput,
  organizationNameFaults,
  type OrganizationPatch,
  plans,
  recordedSettingFaults,
} from "../../organizations/organization.ts"
import { organizationPermissionNames } from "../../organizations/organization-permissions.ts"
import type { OrganizationView } from "../../organizations/organizations.ts"
import type { OrganizationId, ProjectId } from "../../core/ids.ts"
import { readResource } from "./answer.ts"
import { decodeDocument, encodeDocument, relatedTo, type RequestDocument, type Resource, toOne } from "./document.ts"
import { attributePointers, type Pointers, renamedPointers } from "./errors.ts"
import { given } from "./given.ts"
import { dashed, dashedMembers } from "./member-name.ts"
import { emailFaults } from "../../organizations/email.ts"
import { ruled, ruledNumber } from "./ruled.ts"
import { unsupported } from "./unsupported.ts"
import { relatedId, toOneSchema } from "./relationship.ts"

export const organizationNames = { plan: "planIdentifier" }
export const organizationPointers: Pointers = renamedPointers(
  attributePointers(["defaultAgentPool"]),
  organizationNames,
)

export function encodeOrganization(organization: OrganizationView): Resource {
  const { permissions, name } = organization
  return {
    id: name,
    type: "organizations",
    attributes: {
      name,
      "external-id": organization.id,
      email: organization.email,
      "created-at": formatInstant(organization.createdAt),
      "default-execution-mode": organization.defaultExecutionMode,
      "allow-force-delete-workspaces": organization.allowForceDeleteWorkspaces,
      "assessments-enforced": organization.assessmentsEnforced,
      "collaborator-auth-policy": organization.collaboratorAuthPolicy,
      "cost-estimation-enabled": organization.costEstimationEnabled,
      "plan-identifier": organization.plan,
      "session-remember": organization.sessionRemember,
      "session-timeout": organization.sessionTimeout,
      "owners-team-saml-role-id": organization.ownersTeamSamlRoleId,
      "aggregated-commit-status-enabled": organization.aggregatedCommitStatusEnabled,
      "send-passing-statuses-for-untriggered-speculative-plans":
        organization.sendPassingStatusesForUntriggeredSpeculativePlans,
      "speculative-plan-management-enabled": organization.speculativePlanManagementEnabled,
      "stacks-enabled": organization.stacksEnabled,
      // Clients read these members, and get the same value from every organization.
      "saml-enabled": false,
      "two-factor-conformant": true,
      "user-tokens-enabled": true,
      "enforce-hyok": false,
      "registry-monorepo-support-enabled": false,
      permissions: Object.fromEntries(
        organizationPermissionNames.map((member) => [dashed(member), permissions[member]]),
      ),
    },
    relationships: {
      "default-project": toOne("projects", organization.defaultProjectId),
      "default-agent-pool": toOne("agent-pools", organization.defaultAgentPoolId),
      "entitlement-set": {
        ...toOne("entitlement-sets", organization.id),
        links: { related: `/api/v2/organizations/${name}/entitlement-set` },
      },
    },
    links: { self: `/api/v2/organizations/${name}` },
  }
}

/** Encodes the entitlement set. Clients choose their requests by it (docs/compatibility.md, "Discovery"). */
export function encodeEntitlements(organization: OrganizationView): Resource {
  return {
    id: organization.id,
    type: "entitlement-sets",
    attributes: {
      agents: true,
      "audit-logging": false,
      "cost-estimation": false,
      "global-run-tasks": false,
      // False makes clients plan and apply on their own machine: no run is executed here.
      operations: false,
      "policy-enforcement": false,
      "private-module-registry": false,
      "private-policy-agents": false,
      "run-tasks": false,
      "self-serve-billing": false,
      sentinel: false,
      sso: false,
      "state-storage": true,
      teams: true,
      "usage-reporting": false,
      "user-limit": null,
      "vcs-integrations": true,
    },
    links: { self: `/api/v2/organizations/${organization.name}/entitlement-set` },
  }
}

const minutes = (name: "sessionTimeout" | "sessionRemember") =>
  ruledNumber((number) => recordedSettingFaults({ [name]: number }))

const settings = z.object({
  name: ruled(organizationNameFaults).optional(),
  email: ruled(emailFaults).optional(),
  "default-execution-mode": z.enum(executionModes).optional(),
  "allow-force-delete-workspaces": z.boolean().optional(),
  "assessments-enforced": z.boolean().optional(),
  "collaborator-auth-policy": z.enum(collaboratorAuthPolicies).optional(),
  "cost-estimation-enabled": z.boolean().optional(),
  "plan-identifier": z.enum(plans).optional(),
  "session-timeout": minutes("sessionTimeout").nullish(),
  "session-remember": minutes("sessionRemember").nullish(),
  "owners-team-saml-role-id": ruled((ownersTeamSamlRoleId) =>
    recordedSettingFaults({ ownersTeamSamlRoleId }),
  ).nullish(),
  "aggregated-commit-status-enabled": z.boolean().optional(),
  "send-passing-statuses-for-untriggered-speculative-plans": z.boolean().optional(),
  "speculative-plan-management-enabled": z.boolean().optional(),
  "stacks-enabled": z.boolean().optional(),
  // Where some clients put what others name as a relationship.
  "default-agent-pool-id": z.string().nullish(),
  "user-tokens-enabled": unsupported("user-tokens-enabled", true, "organizations without user tokens"),
  "enforce-hyok": unsupported("enforce-hyok", false, "keys of your own"),
  "registry-monorepo-support-enabled": unsupported("registry-monorepo-support-enabled", false, "registry modules"),
})
const relationships = z.object({ "default-agent-pool": toOneSchema.optional() }).optional()
const createSchema = z.object({
  attributes: settings.extend({ name: ruled(organizationNameFaults), email: ruled(emailFaults) }).prefault({} as never),
  relationships,
})
const updateSchema = z.object({ attributes: settings.prefault({}), relationships })
const types = { types: ["organizations"] }

export function decodeOrganizationInput(body: unknown): OrganizationInput {
  const { attributes, relationships: related } = decodeDocument(body, createSchema, types)
  return { ...patchOf(attributes, related), name: attributes.name, email: attributes.email }
}

export function decodeOrganizationPatch(body: unknown): OrganizationPatch {
  const { attributes, relationships: related } = decodeDocument(body, updateSchema, types)
  return patchOf(attributes, related)
}

function patchOf(attributes: z.infer<typeof settings>, related: z.infer<typeof relationships>): OrganizationPatch {
  const pool = related?.["default-agent-pool"]
  const poolId = attributes["default-agent-pool-id"]
  return given({
    name: attributes.name,
    email: attributes.email,
    defaultExecutionMode: attributes["default-execution-mode"],
    defaultAgentPoolId: pool === undefined ? (poolId === "" ? null : poolId) : relatedId(pool),
    allowForceDeleteWorkspaces: attributes["allow-force-delete-workspaces"],
    assessmentsEnforced: attributes["assessments-enforced"],
    collaboratorAuthPolicy: attributes["collaborator-auth-policy"],
    costEstimationEnabled: attributes["cost-estimation-enabled"],
    plan: attributes["plan-identifier"],
    sessionTimeout: attributes["session-timeout"],
    sessionRemember: attributes["session-remember"],
    ownersTeamSamlRoleId: attributes["owners-team-saml-role-id"],
    aggregatedCommitStatusEnabled: attributes["aggregated-commit-status-enabled"],
    sendPassingStatusesForUntriggeredSpeculativePlans:
      attributes["send-passing-statuses-for-untriggered-speculative-plans"],
    speculativePlanManagementEnabled: attributes["speculative-plan-management-enabled"],
    stacksEnabled: attributes["stacks-enabled"],
  })
}

/** The other direction of `encodeOrganization`. */
export function decodeOrganization(resource: unknown): OrganizationView {
  const { id: name, attributes: own, ...related } = readResource(resource, "organizations")
  return {
    id: own.text("externalId") as OrganizationId,
    name,
    email: own.text("email"),
    createdAt: own.instant("createdAt"),
    defaultProjectId: related.one("defaultProject") as ProjectId,
    defaultExecutionMode: own.oneOf("defaultExecutionMode", executionModes),
    defaultAgentPoolId: related.oneOrNull("defaultAgentPool"),
    allowForceDeleteWorkspaces: own.flag("allowForceDeleteWorkspaces"),
    assessmentsEnforced: own.flag("assessmentsEnforced"),
    collaboratorAuthPolicy: own.oneOf("collaboratorAuthPolicy", collaboratorAuthPolicies),
    costEstimationEnabled: own.flag("costEstimationEnabled"),
    plan: own.oneOf("planIdentifier", plans),
    sessionTimeout: own.numberOrNull("sessionTimeout"),
    sessionRemember: own.numberOrNull("sessionRemember"),
    ownersTeamSamlRoleId: own.textOrNull("ownersTeamSamlRoleId"),
    ...own.flags([
      "aggregatedCommitStatusEnabled",
      "sendPassingStatusesForUntriggeredSpeculativePlans",
      "speculativePlanManagementEnabled",
      "stacksEnabled",
    ]),
    permissions: own.members("permissions").flags(organizationPermissionNames),
  }
}

/** Of an input as well as of a patch. */
export function encodeOrganizationPatch({ plan, defaultAgentPoolId, ...settings }: OrganizationPatch): RequestDocument {
  const attributes = dashedMembers({ ...settings, [organizationNames.plan]: plan })
  return encodeDocument("organizations", attributes, {
    "default-agent-pool": relatedTo("agent-pools", defaultAgentPoolId),
  })
}
