import { z } from "zod"
import { connectionColumns, connectionMembers, connectionStatus, oneBundle } from "./connection-spec.ts"
import type { Kind } from "./definition.ts"
import { type Rule, ruled } from "./rules.ts"

const labelKey = z.string().min(1).max(317)
const labelValue = z.string().max(63)

const needsValues: Rule<{ readonly operator: string; readonly values?: readonly string[] | undefined }> = {
  rule: "(self.operator in ['In', 'NotIn']) == (has(self.values) && size(self.values) > 0)",
  message: "values belong to the operators In and NotIn, which need some",
  fieldPath: ".values",
  holds: ({ operator, values = [] }) => (operator === "In" || operator === "NotIn") === values.length > 0,
}

const allowedNamespaces = z
  .object({
    matchNames: z
      .array(z.string().min(1).max(63))
      .max(100)
      .optional()
      .describe('Namespaces by name; "*" is every one.')
      .meta({ "x-kubernetes-list-type": "set" }),
    labelSelector: z
      .object({
        matchLabels: z
          .record(labelKey, labelValue)
          .optional()
          .meta({ maxProperties: 20 })
          .describe("Labels they have."),
        matchExpressions: z
          .array(
            ruled(
              z.object({
                key: labelKey.describe("The label's key."),
                operator: z.enum(["In", "NotIn", "Exists", "DoesNotExist"]).describe("What must hold of its value."),
                values: z.array(labelValue).max(100).optional().describe("The values that In and NotIn speak of."),
              }),
              needsValues,
            ),
          )
          .max(20)
          .optional()
          .describe("What must hold of their labels."),
      })
      .optional()
      .describe("Namespaces by their labels."),
  })
  .optional()
  .describe("Namespaces whose objects may use this connection: those of either member. None unless given.")

const spec = ruled(
  z
    .object({ ...connectionMembers("the operator's own namespace"), allowedNamespaces })
    .describe("Where an engine is and how the operator shows who it is."),
  oneBundle,
)

export type ClusterConnectionSpec = z.output<typeof spec>

export const clusterConnection: Kind<ClusterConnectionSpec> = {
  group: "chancery.dev",
  version: "v1alpha1",
  kind: "ClusterConnection",
  plural: "clusterconnections",
  singular: "clusterconnection",
  shortNames: ["eclconn"],
  scope: "Cluster",
  description: "ClusterConnection is the way to a Chancery engine, for those namespaces of the cluster that it allows.",
  spec,
  status: connectionStatus,
  columns: connectionColumns,
}
