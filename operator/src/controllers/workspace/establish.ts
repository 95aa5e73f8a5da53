// Finds, adopts or creates the workspace of an object. The status records a creation before it begins, and the workspace carries the
// object's uid. So a workspace whose creation response was lost is found, and none is created twice.
import { type Engine, isEngineError, type WorkspaceView } from "@chancery/engine"
import { PartlyCreated, workspaceResource } from "@chancery/engine/declared"
import type { WorkspaceObjectSpec } from "../../api/workspace.ts"
import { type KubernetesObject, secondTime } from "../../kube/kubernetes-object.ts"
import { type OwnStatus, stalled } from "../reconcile-result.ts"
import type { ReconcileRequest } from "../reconciler.ts"
import { desiredSettings, type DesiredWorkspace } from "./desired.ts"
import { rejectFaults } from "./sync.ts"

export interface Establishing {
  readonly engine: Engine
  readonly object: KubernetesObject
  readonly spec: WorkspaceObjectSpec
  readonly desired: DesiredWorkspace
  readonly request: ReconcileRequest
}

export interface Established {
  readonly view: WorkspaceView
  readonly how: "Created" | "Adopted"
}

/** Returns the source name of the workspace, by which it is recognized as this object's. */
export const sourceNameOf = ({ metadata: { uid = "" } }: KubernetesObject): string => `chancery-operator/${uid}`

export async function establish(establishing: Establishing): Promise<Established> {
  const { engine, object, spec, desired, request } = establishing
  const { organization, name } = desired
  const { externalID, adoptionPolicy } = spec
  if (externalID !== undefined) {
    const view = await find(engine, { id: externalID })
    if (view !== undefined) return { view, how: "Adopted" }
    throw stalled("WorkspaceMissing", `The workspace ${externalID} does not exist, or the token cannot see it.`)
  }
  if (adoptionPolicy !== "Never") {
    const view = await find(engine, { organization, name })
    if (view !== undefined) return { view, how: view.sourceName === sourceNameOf(object) ? "Created" : "Adopted" }
    if (adoptionPolicy === "MustExist")
      throw stalled("WorkspaceMissing", `The organization ${organization} has no workspace ${name}.`)
  }
  const wanted = desiredSettings(spec, desired)
  rejectFaults(wanted)
  if (request.status["createPending"] === undefined)
    await request.saveStatus({
      ...request.status,
      createPending: { at: secondTime(request.now), token: sourceNameOf(object) },
    })
  const id = await create(establishing, wanted)
  return { view: await engine.workspaces.get({ id }), how: "Created" }
}

async function create(
  { engine, object, desired, request }: Establishing,
  wanted: ReturnType<typeof desiredSettings>,
): Promise<string> {
  try {
    const origin = { marker: sourceNameOf(object), adopt: false, now: request.now }
    return (await workspaceResource.create(engine, wanted, origin)).id
  } catch (error) {
    if (error instanceof PartlyCreated) return error.id
    if (!isEngineError(error, "invalid")) throw error
    const { organization, name } = desired
    const taken = await find(engine, { organization, name })
    if (taken === undefined) throw error
    throw stalled(
      "NameTaken",
      `The organization ${organization} already has a workspace ${name} (${taken.id}); set adoptionPolicy to IfExists to take it over.`,
    )
  }
}

export async function find(
  engine: Engine,
  ref: Parameters<Engine["workspaces"]["get"]>[0],
): Promise<WorkspaceView | undefined> {
  try {
    return await engine.workspaces.get(ref)
  } catch (error) {
    if (isEngineError(error, "not-found")) return undefined
    throw error
  }
}

/** Removes `createPending` after a creation was rejected or completed. */
export function withoutPending({ createPending: _, ...status }: OwnStatus): OwnStatus {
  return status
}
