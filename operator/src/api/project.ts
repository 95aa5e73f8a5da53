import { z } from "zod"
import { connectionRef, organizationName } from "./connection-spec.ts"
import type { Kind } from "./definition.ts"
import { adoptionPolicy, createPending, driftPolicy, driftStatus } from "./policies.ts"
import { immutable, type Rule, ruled } from "./rules.ts"
import { idOrName, tagBindings } from "./workspace.ts"

const members = z
  .object({
    connectionRef: connectionRef.describe("Connection to the engine of the project. Immutable."),
    organization: organizationName
      .optional()
      .describe("Organization of the project. Default: the organization of the connection. Immutable."),
    name: z
      .string()
      .min(1)
      .max(40)
      .regex(/^[a-zA-Z0-9_-]([a-zA-Z0-9 _-]*[a-zA-Z0-9_-])?$/)
      .optional()
      .describe("Name of the project. Default: the name of the object. A change renames the project."),
    adoptionPolicy: adoptionPolicy("project"),
    driftPolicy: driftPolicy("project"),
    deletionPolicy: z
      .enum(["Retain", "Delete"])
      .default("Retain")
      .describe(
        "Behavior at deletion of the object. Retain: the project stays in the engine. Delete: it is deleted once it has no workspaces. Default: Retain.",
      ),
    description: z.string().max(256).optional().describe("Description for people. Not managed if omitted."),
    autoDestroyActivityDuration: z
      .string()
      .max(8)
      .regex(/^[1-9][0-9]{0,3}[dh]$/)
      .optional()
      .describe(
        "Inactivity before the workspaces of the project are destroyed: 1 to 9999 days or hours. Not managed if omitted. Example: 14d or 24h.",
      ),
    defaultExecutionMode: z
      .enum(["remote", "local", "agent"])
      .optional()
      .describe("Execution mode that its workspaces inherit: remote, local or agent. Not managed if omitted."),
    defaultAgentPool: idOrName("defaultAgentPool", "the agent pool")
      .optional()
      .describe(
        "Agent pool that its workspaces inherit. Required with defaultExecutionMode agent, not allowed otherwise.",
      ),
    tagBindings: tagBindings(
      "Key-value tags of the project, at most 10, which its workspaces inherit. Tags of other owners stay. Not managed if omitted.",
    ),
  })
  .describe("Desired state of the project. Fields that are omitted keep their values in the engine.")

export type ProjectObjectSpec = z.output<typeof members>

const pool: Rule<ProjectObjectSpec> = {
  rule: "(has(self.defaultExecutionMode) && self.defaultExecutionMode == 'agent') == has(self.defaultAgentPool)",
  message: "defaultAgentPool is required with defaultExecutionMode agent, and not allowed otherwise",
  fieldPath: ".defaultAgentPool",
  holds: ({ defaultExecutionMode, defaultAgentPool }) =>
    (defaultExecutionMode === "agent") === (defaultAgentPool !== undefined),
}

export const project: Kind<ProjectObjectSpec> = {
  group: "chancery.dev",
  version: "v1alpha1",
  kind: "Project",
  plural: "projects",
  singular: "project",
  shortNames: ["eprj"],
  categories: ["engine-workspaces"],
  scope: "Namespaced",
  description: "Project is a group of workspaces of a Chancery engine, with settings that they inherit.",
  spec: ruled(members, ...immutable<ProjectObjectSpec>("connectionRef", "organization"), pool),
  status: {
    id: z.string().max(128).optional().describe("Id of the project."),
    name: z.string().max(64).optional().describe("Name of the project in the engine."),
    createPending,
    drift: driftStatus,
  },
  synced: true,
  columns: [
    { name: "Project ID", type: "string", jsonPath: ".status.id", description: "Id of the project." },
    { name: "Name", type: "string", jsonPath: ".status.name", description: "Name of the project.", priority: 1 },
  ],
  selectable: [".spec.connectionRef.name"],
}
