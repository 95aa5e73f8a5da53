// Polling of workspaces: the interval, and the aspect to check. A poll makes one request to the engine. Pure functions.
import type { EventKind } from "@chancery/engine"
import { parseGoDuration } from "../../go-duration.ts"
import type { WorkspaceObjectSpec } from "../../api/workspace.ts"
import type { KubernetesObject } from "../../kube/kubernetes-object.ts"

const shortestMs = 30_000
const intervalAnnotation = "chancery.dev/poll-interval"

/** Returns the interval. The annotation takes precedence over the spec; an invalid one is ignored. */
export function intervalMs(
  { metadata: { annotations } }: KubernetesObject,
  { reconcileInterval }: WorkspaceObjectSpec,
): number {
  const wantedMs = parseGoDuration(annotations?.[intervalAnnotation] ?? "") ?? parseGoDuration(reconcileInterval)
  return Math.max(wantedMs ?? shortestMs, shortestMs)
}

/** Part that needs its own request. `workspace` covers settings, flat tags, SSH key and lock. */
export type Aspect = "workspace" | "tagBindings" | "remoteStateConsumers" | "dataRetentionPolicy" | "variables"

/** Returns the aspect of this poll. Aspects take turns. */
export function aspectOf(spec: WorkspaceObjectSpec, turn: number): Aspect {
  const aspects: readonly Aspect[] = [
    "workspace",
    ...(["tagBindings", "remoteStateConsumers", "dataRetentionPolicy", "variables"] as const).filter(
      (field) => spec[field] !== undefined,
    ),
  ]
  return aspects[turn % aspects.length] ?? "workspace"
}

/** Returns the aspect that an event affects. Flat tags and the project, whose bindings are inherited, belong to the workspace. */
export function aspectOfEvent(kind: EventKind): Aspect {
  if (kind === "tag-bindings.updated") return "tagBindings"
  if (kind === "remote-state-consumers.updated") return "remoteStateConsumers"
  if (kind === "retention-policy.updated") return "dataRetentionPolicy"
  return kind.startsWith("variable.") ? "variables" : "workspace"
}
