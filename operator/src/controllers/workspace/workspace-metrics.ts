// Metrics of workspaces for alerts, from their status.
import type { Figure } from "../controllers.ts"

export const workspaceFigures: readonly Figure[] = [
  {
    name: "chancery_operator_drift_fields",
    help: "Fields of a workspace that differ from its spec, where that is only reported.",
    of: ({ status }) => ((status ?? {}) as { readonly drift?: readonly unknown[] }).drift?.length,
  },
]
