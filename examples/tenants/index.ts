// Several tenants, each an organization with an administrator of its own: one provider for each, with its own token.
import { Project, Provider, Tag, Workspace } from "@chancery/pulumi"
import * as pulumi from "@pulumi/pulumi"

const config = new pulumi.Config()
const engineUrl = config.require("engineUrl")
const tenants = config.requireObject<readonly string[]>("tenants")

/** Defaults of every tenant. */
function begin(organization: string): pulumi.Output<string> {
  const provider = new Provider(organization, {
    engineUrl,
    organization,
    token: config.requireSecret(`token-${organization}`),
    defaultTagBindings: { tenant: organization },
    requestsPerSecond: 20,
  })
  const project = new Project(`${organization}-platform`, { name: "platform" }, { provider })
  const landing = new Workspace(
    `${organization}-landing`,
    { name: "landing", projectId: project.id, description: `Where ${organization} begins` },
    { provider },
  )
  new Tag(`${organization}-managed`, { name: "managed", workspaceIds: [landing.id] }, { provider })
  return landing.id
}

export const landings = Object.fromEntries(tenants.map((organization) => [organization, begin(organization)]))
