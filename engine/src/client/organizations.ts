import { agentPools } from "../contracts/tfe/agent-pool.ts"
import { organizationMemberships } from "../contracts/tfe/organization-membership.ts"
import { organizations } from "../contracts/tfe/organization.ts"
import { projects } from "../contracts/tfe/project.ts"
import { siteSettingsContract } from "../contracts/tfe/site-settings.ts"
import { sshKeys } from "../contracts/tfe/ssh-key.ts"
import { vcsConnections } from "../contracts/tfe/vcs-connection.ts"
import type { AgentPools } from "../organizations/agent-pool.ts"
import type { OrganizationMemberships } from "../organizations/organization-membership.ts"
import type { Organizations } from "../organizations/organization.ts"
import type { Projects } from "../organizations/project.ts"
import type { SiteSettingsFamily } from "../organizations/site-settings.ts"
import type { SshKeys } from "../organizations/ssh-key.ts"
import type { VcsConnections } from "../organizations/vcs-connection.ts"
import { remote } from "./remote-contract.ts"
import type { Transport } from "./transport.ts"

export function remoteOrganizations(transport: Transport): Organizations {
  const { get, list, entitlements: _, ...same } = remote(organizations, transport)
  return {
    ...same,
    list: (search, page) => list(search === undefined ? {} : { search }, page),
    get: async (name) => (await get(name, {})).data,
  }
}

/** The user is in an answer only if the request includes it. */
const withUser = { include: ["user"] } as const

export function remoteOrganizationMemberships(transport: Transport): OrganizationMemberships {
  const { create, list, get, ...same } = remote(organizationMemberships, transport)
  return {
    ...same,
    create: async (organization, input) => (await create(organization, input)).data,
    list: (organization, filter, page) => list(organization, { ...filter, ...withUser }, page),
    get: async (id) => (await get(id, withUser)).data,
  }
}

export function remoteProjects(transport: Transport): Projects {
  const { get, moveWorkspaces: _, ...same } = remote(projects, transport)
  return { ...same, get: async (id) => (await get(id, {})).data }
}

export const remoteSiteSettings = (transport: Transport): SiteSettingsFamily => remote(siteSettingsContract, transport)

export function remoteSshKeys(transport: Transport): SshKeys {
  const { assign: _, ...same } = remote(sshKeys, transport)
  return same
}

export function remoteVcsConnections(transport: Transport): VcsConnections {
  const { getInstallationAsClients: _, ...same } = remote(vcsConnections, transport)
  return same
}

export const remoteAgentPools = (transport: Transport): AgentPools => remote(agentPools, transport)
