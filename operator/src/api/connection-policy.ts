// Schema of the policies of a connection: the uses of an engine that it permits.
import { z } from "zod"
import { labelSelector } from "./label-selector.ts"

const patterns = (description: string) =>
  z
    .array(
      z
        .string()
        .min(1)
        .max(128)
        .regex(/^[A-Za-z0-9_.*/ -]+$/),
    )
    .min(1)
    .max(100)
    .describe(description)
    .meta({ "x-kubernetes-list-type": "set" })

const members = {
  mounts: patterns(
    "Mounts of certificate authorities. An asterisk matches any characters. Default: none. Example: [pki, team-*].",
  ).optional(),
  roles: patterns("Roles in these mounts, by their name in the engine. Default: all roles of these mounts.").optional(),
  organizations: patterns("Organizations. Default: none.").optional(),
  projects: patterns(
    "Projects in these organizations, by name. Workspaces must then name their project. Default: all projects of these organizations.",
  ).optional(),
}

export const namespaceMembers = {
  matchNames: z
    .array(z.string().min(1).max(63))
    .max(100)
    .optional()
    .describe('Namespaces by name; "*" allows all.')
    .meta({ "x-kubernetes-list-type": "set" }),
  labelSelector: labelSelector.optional().describe("Namespaces by label. An empty selector allows all."),
}

const description =
  "Uses of the engine that objects may make of this connection. A use needs one entry that permits it as a whole. Default: all that the token permits."

export const policies = z
  .array(z.object(members))
  .max(50)
  .optional()
  .describe(description)
  .meta({ "x-kubernetes-list-type": "atomic" })

export const clusterPolicies = z
  .array(
    z.object({
      namespaces: z
        .object(namespaceMembers)
        .optional()
        .describe("Namespaces for which the entry applies, among allowedNamespaces. Default: all."),
      ...members,
    }),
  )
  .max(50)
  .optional()
  .describe(description)
  .meta({ "x-kubernetes-list-type": "atomic" })

export type ConnectionPolicies = z.output<typeof clusterPolicies>
