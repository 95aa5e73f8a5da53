// Metrics of workspaces for alerts, from their status.
import type { Figure } from "../controllers.ts"

export const workspaceFigures: readonly Figure[] = [
  {
    name: "chancery_operator_drift_fields",
    help: "Number of fields of a workspace that differ from its spec, with driftPolicy Report.",
    of: ({ status }) => ((status ?? {}) as { readonly drift?: readonly unknown[] }).drift?.length,
  },
]
