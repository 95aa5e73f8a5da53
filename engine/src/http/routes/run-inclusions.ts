// What can stand beside runs and state versions in an answer. A related resource that is gone, or that the caller may not
// see, is left out.
import { isEngineError } from "../../core/errors.ts"
import { maximumPageSize } from "../../core/page.ts"
import type { Engine } from "../../engine.ts"
import { encodeConfigurationVersion, encodeIngressAttributes } from "../../wire/jsonapi/configuration-version.ts"
import type { Resource } from "../../wire/jsonapi/document.ts"
import { encodeApply, encodePlan, encodeRun } from "../../wire/jsonapi/run.ts"
import { encodeStateVersionOutput } from "../../wire/jsonapi/state-version.ts"
import { encodeUser } from "../../wire/jsonapi/user.ts"
import { encodeWorkspace } from "../../wire/jsonapi/workspace.ts"
import type { RunView } from "../../workspaces/run.ts"
import type { StateVersionView } from "../../workspaces/state-version.ts"
import type { Actor } from "../../workspaces/workspace.ts"

export const runParts = [
  "apply",
  "configuration_version",
  "configuration_version.ingress_attributes",
  "created_by",
  "plan",
  "workspace",
] as const
export type RunPart = (typeof runParts)[number]

export const stateVersionParts = [
  "created_by",
  "outputs",
  "run",
  "run.configuration_version",
  "run.created_by",
] as const
export type StateVersionPart = (typeof stateVersionParts)[number]

export async function besideRun(engine: Engine, run: RunView, parts: ReadonlySet<RunPart>): Promise<Resource[]> {
  const id = run.configurationVersionId
  const ingress = parts.has("configuration_version.ingress_attributes")
  return [
    ...(parts.has("plan") ? [encodePlan(run)] : []),
    ...(parts.has("apply") ? [encodeApply(run)] : []),
    ...(id !== null && (ingress || parts.has("configuration_version"))
      ? await visible(async () => encodeConfigurationVersion(await engine.configurationVersions.get(id)))
      : []),
    ...(id !== null && ingress
      ? await visible(async () => encodeIngressAttributes(await engine.configurationVersions.ingressAttributes(id)))
      : []),
    ...(parts.has("created_by") ? await creatorOf(engine, run) : []),
    ...(parts.has("workspace")
      ? await visible(async () => encodeWorkspace(await engine.workspaces.get({ id: run.workspaceId })))
      : []),
  ]
}

export async function besideStateVersion(
  engine: Engine,
  version: StateVersionView,
  parts: ReadonlySet<StateVersionPart>,
): Promise<Resource[]> {
  const ofRun = new Set<RunPart>([
    ...(parts.has("run.configuration_version") ? (["configuration_version"] as const) : []),
    ...(parts.has("run.created_by") ? (["created_by"] as const) : []),
  ])
  const resources = [
    ...(parts.has("outputs") ? await outputsOf(engine, version) : []),
    ...(parts.has("created_by") ? await creatorOf(engine, version) : []),
  ]
  const { runId } = version
  if (runId === null || !(parts.has("run") || ofRun.size > 0)) return resources
  const [run] = await visible(() => engine.runs.get(runId))
  if (run === undefined) return resources
  const known = new Set(resources.map(({ id }) => id))
  const besides = await besideRun(engine, run, ofRun)
  return [...resources, encodeRun(run), ...besides.filter(({ id }) => !known.has(id))]
}

async function outputsOf({ stateVersions }: Engine, { id, outputIds }: StateVersionView): Promise<Resource[]> {
  const resources: Resource[] = []
  for (let number = 1; resources.length < outputIds.length; number += 1) {
    const { items } = await stateVersions.outputs(id, { number, size: maximumPageSize })
    if (items.length === 0) break
    resources.push(...items.map(encodeStateVersionOutput))
  }
  return resources
}

async function creatorOf({ users }: Engine, { createdBy }: { readonly createdBy: Actor | null }): Promise<Resource[]> {
  return createdBy?.kind === "users" ? visible(async () => encodeUser(await users.get(createdBy.id))) : []
}

async function visible<T>(find: () => Promise<T>): Promise<T[]> {
  try {
    return [await find()]
  } catch (error) {
    if (isEngineError(error, "not-found")) return []
    throw error
  }
}
