import { z } from "zod"
import { clusterPolicies, namespaceMembers } from "./connection-policy.ts"
import { connectionColumns, connectionMembers, connectionStatus, oneBundle } from "./connection-spec.ts"
import type { Kind } from "./definition.ts"
import { ruled } from "./rules.ts"

const allowedNamespaces = z
  .object(namespaceMembers)
  .optional()
  .describe("Namespaces whose objects may use this connection, selected by matchNames or labelSelector. Default: none.")

const spec = ruled(
  z
    .object({ ...connectionMembers("the operator's namespace"), allowedNamespaces, policies: clusterPolicies })
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
