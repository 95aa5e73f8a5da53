// Projects and the Workspaces in them. Both name the project by connection and name. The organization is compared by the engine.
import type { ProjectObjectSpec } from "../../api/project.ts"
import type { WorkspaceObjectSpec } from "../../api/workspace.ts"
import type { KubernetesObject } from "../../kube/kubernetes-object.ts"
import type { Index } from "../../kube/object-store.ts"
import { connectionOf } from "../controllers.ts"

/** Returns the name that the project of an object has in the engine. */
export const engineProjectName = ({ metadata, spec }: KubernetesObject): string =>
  ((spec ?? {}) as Partial<ProjectObjectSpec>).name ?? metadata.name

/** Index `project` of Projects. */
export const projectOf: Index = (object) =>
  connectionOf(object).map((connection) => `${connection} ${engineProjectName(object)}`)

/** Index `project` of Workspaces: the project that they name. */
export const projectsUsedBy: Index = (object) => {
  const { project } = (object["spec"] ?? {}) as Partial<WorkspaceObjectSpec>
  if (project?.name === undefined) return []
  return connectionOf(object).map((connection) => `${connection} ${project.name}`)
}
