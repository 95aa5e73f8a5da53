// Every kind that the operator looks after.
import { reconcileConnections } from "./connections.ts"
import { type ControlledKind, referencesTo } from "./controllers.ts"
import { clusterConnection } from "./kinds/cluster-connection.ts"
import { connection } from "./kinds/connection.ts"

export const controlledKinds: readonly ControlledKind[] = [
  {
    kind: connection,
    reconciler: (parts) =>
      reconcileConnections({
        kind: "Connection",
        engines: parts.engines,
        referencesTo: (key) => referencesTo(controlledKinds, parts, "Connection", key),
      }),
  },
  {
    kind: clusterConnection,
    reconciler: (parts) =>
      reconcileConnections({
        kind: "ClusterConnection",
        engines: parts.engines,
        referencesTo: (key) => referencesTo(controlledKinds, parts, "ClusterConnection", key),
      }),
  },
]
