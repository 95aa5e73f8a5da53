// How often a workspace is looked at, and what at: whoever merely looks again asks the engine once. Pure.
import type { EventKind } from "@chancery/engine"
import { parseGoDuration } from "../../go-duration.ts"
import type { WorkspaceObjectSpec } from "../../api/workspace.ts"
import type { KubernetesObject } from "../../kube/kubernetes-object.ts"

const shortestMs = 30_000
const intervalAnnotation = "chancery.dev/poll-interval"

/** An annotation of the object counts before its spec; what cannot be read does not. */
export function intervalMs(
  { metadata: { annotations } }: KubernetesObject,
  { reconcileInterval }: WorkspaceObjectSpec,
): number {
  const asked = parseGoDuration(annotations?.[intervalAnnotation] ?? "") ?? parseGoDuration(reconcileInterval)
  return Math.max(asked ?? shortestMs, shortestMs)
}

/** What takes a request of its own. `workspace` tells of settings, flat tags, SSH key and lock. */
export type Aspect = "workspace" | "tagBindings" | "remoteStateConsumers" | "dataRetentionPolicy" | "variables"

/** The aspects take turns: each is looked at once in as many polls as there are. */
export function aspectOf(spec: WorkspaceObjectSpec, turn: number): Aspect {
  const aspects: readonly Aspect[] = [
    "workspace",
    ...(["tagBindings", "remoteStateConsumers", "dataRetentionPolicy", "variables"] as const).filter(
      (field) => spec[field] !== undefined,
    ),
  ]
  return aspects[turn % aspects.length] ?? "workspace"
}

/** What tells of what an event was about. Flat tags and the project, whose bindings count too, are told with the workspace. */
export function aspectOfEvent(kind: EventKind): Aspect {
  if (kind === "tag-bindings.updated") return "tagBindings"
  if (kind === "remote-state-consumers.updated") return "remoteStateConsumers"
  if (kind === "retention-policy.updated") return "dataRetentionPolicy"
  return kind.startsWith("variable.") ? "variables" : "workspace"
}
