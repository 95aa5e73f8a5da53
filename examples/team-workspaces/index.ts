// The workspaces of a team: what they inherit, what they are found by, who reads whose state, and a lock for quiet days.
import {
  Project,
  RemoteStateConsumers,
  TagBindings,
  Workspace,
  type WorkspaceArgs,
  WorkspaceLock,
  WorkspaceTags,
} from "@chancery/pulumi"
import * as pulumi from "@pulumi/pulumi"

const config = new pulumi.Config()
const team = config.get("team") ?? "payments"
/** Why nothing may be changed at the moment; nothing is locked when it is not set. */
const freeze = config.get("freeze")

const project = new Project(team, {
  description: `What ${team} runs`,
  tagBindings: { team },
})

const shared: WorkspaceArgs = {
  projectId: project.id,
  executionMode: "remote",
  engineVersion: "~> 1.9",
  // Only those that are named below read a state.
  globalRemoteState: false,
}

const network = new Workspace(`${team}-network`, { ...shared, workingDirectory: "network" })
const api = new Workspace(`${team}-api`, { ...shared, workingDirectory: "api", autoApply: true })
const preview = new Workspace(`${team}-preview`, {
  ...shared,
  workingDirectory: "api",
  autoApply: true,
  autoDestroyActivityDuration: "14d",
})

const production = [network, api]
for (const [name, { id: workspaceId }] of Object.entries({ network, api, preview })) {
  new WorkspaceTags(`${name}-tags`, { workspaceId, tags: [name === "preview" ? "short-lived" : "production"] })
  new TagBindings(`${name}-bindings`, { workspaceId, bindings: { component: name } })
}

new RemoteStateConsumers("network-readers", { workspaceId: network.id, consumerIds: [api.id, preview.id] })

if (freeze !== undefined)
  for (const [index, { id: workspaceId }] of production.entries())
    new WorkspaceLock(`freeze-${index}`, { workspaceId, reason: freeze })

export const ids = pulumi.all({ network: network.id, api: api.id, preview: preview.id })
