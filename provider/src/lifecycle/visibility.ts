// The API answers 404 for missing and for forbidden resources alike. A resource is dropped from the state only if the token could see
// it.
import type { Engine } from "@chancery/engine"
import { isRejection } from "./rejection.ts"

/** Resources that a token sees completely or not. */
export type Visibility = "workspaces" | "projects"

/** Returns whether the token sees all of them in the organization. If `organization` is undefined, checks all organizations. */
export async function seesAll(engine: Engine, what: Visibility, organization: string | undefined): Promise<boolean> {
  const known = seen.get(engine) ?? new Map<string, Promise<boolean>>()
  seen.set(engine, known)
  const key = JSON.stringify([what, organization])
  const visibility = known.get(key) ?? ask(engine, what, organization)
  known.set(key, visibility)
  visibility.catch(() => known.delete(key))
  return visibility
}

/** Cached, because permissions rarely change and a process lives for one run. */
const seen = new WeakMap<Engine, Map<string, Promise<boolean>>>()

async function ask({ organizations }: Engine, what: Visibility, organization: string | undefined): Promise<boolean> {
  const places =
    organization === undefined ? await allOf(organizations) : [await organizations.get(organization).catch(hidden)]
  return places.length > 0 && places.every((place) => place !== undefined && hasAll(place.permissions, what))
}

type Organizations = Engine["organizations"]
type Permissions = Awaited<ReturnType<Organizations["get"]>>["permissions"]

/** Returns whether the token sees all of them: one that may create them does. */
const hasAll = ({ canUpdate, canCreateWorkspace, canCreateProject }: Permissions, what: Visibility): boolean =>
  canUpdate || (what === "workspaces" ? canCreateWorkspace : canCreateProject)

/** With more organizations, the answer is no. */
const maxOrganizations = 100

async function allOf(organizations: Organizations) {
  const { items, totalCount } = await organizations.list(undefined, { number: 1, size: maxOrganizations })
  return totalCount > items.length ? [] : items
}

function hidden(error: unknown): undefined {
  if (isRejection(error) && error.code === "not-found") return
  throw error
}

export const unseen = (id: string, organization: string | undefined): Error =>
  new Error(
    `${id} was deleted, or the token cannot see it: the token does not see everything ` +
      `${organization === undefined ? "in all organizations" : `in ${organization}`}. Use a token of an administrator, or, if it was deleted, ` +
      "run `pulumi state delete` with its URN.",
  )

export async function isVisible({ workspaces }: Engine, id: string): Promise<boolean> {
  return (await workspaces.get({ id }).catch(hidden)) !== undefined
}
