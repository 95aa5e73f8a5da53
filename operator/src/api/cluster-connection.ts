import { z } from "zod"
import { connectionColumns, connectionMembers, connectionStatus, oneBundle } from "./connection-spec.ts"
import type { Kind } from "./definition.ts"
import { type Rule, ruled } from "./rules.ts"

const labelKey = z.string().min(1).max(317)
const labelValue = z.string().max(63)

const needsValues: Rule<{ readonly operator: string; readonly values?: readonly string[] | undefined }> = {
  rule: "(self.operator in ['In', 'NotIn']) == (has(self.values) && size(self.values) > 0)",
  message: "values is required for In and NotIn, and not allowed for Exists and DoesNotExist",
  fieldPath: ".values",
  holds: ({ operator, values = [] }) => (operator === "In" || operator === "NotIn") === values.length > 0,
}

const allowedNamespaces = z
  .object({
    matchNames: z
      .array(z.string().min(1).max(63))
      .max(100)
      .optional()
      .describe('Namespaces by name; "*" allows all.')
      .meta({ "x-kubernetes-list-type": "set" }),
    labelSelector: z
      .object({
        matchLabels: z
          .record(labelKey, labelValue)
          .optional()
          .meta({ maxProperties: 20 })
          .describe("Labels that a namespace must have, with their values."),
        matchExpressions: z
          .array(
            ruled(
              z.object({
                key: labelKey.describe("Key of the label."),
                operator: z
                  .enum(["In", "NotIn", "Exists", "DoesNotExist"])
                  .describe("Comparison with the label: In, NotIn, Exists or DoesNotExist."),
                values: z
                  .array(labelValue)
                  .max(100)
                  .optional()
                  .describe("Values for In and NotIn. Required with them, not allowed with Exists and DoesNotExist."),
              }),
              needsValues,
            ),
          )
          .max(20)
          .optional()
          .describe("Requirements on the labels of a namespace. All must hold."),
      })
      .optional()
      .describe("Namespaces by label. An empty selector allows all."),
  })
  .optional()
  .describe("Namespaces whose objects may use this connection, selected by matchNames or labelSelector. Default: none.")

const spec = ruled(
  z
    .object({ ...connectionMembers("the operator's namespace"), allowedNamespaces })
    .describe("Address of a Chancery engine, and the operator's credentials for it."),
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
  description: "ClusterConnection configures access to a Chancery engine for the namespaces in allowedNamespaces.",
  spec,
  status: connectionStatus,
  columns: connectionColumns,
}
