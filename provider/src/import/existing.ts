// Finds existing resources that a program could declare: all of an organization, and those of mounts.
import type { Engine, Page, PageRequest, WorkspaceView } from "@chancery/engine"
import { acmeConfigId, estConfigId, type Values } from "@chancery/engine/declared"
import { lifecycles } from "../lifecycle/kinds.ts"
import { authoritiesIn } from "./authorities.ts"
import type { Candidate, Existing } from "./candidate.ts"

export interface Found {
  readonly resources: readonly Existing[]
  /** Sentences about resources that cannot be declared. */
  readonly leftOut: readonly string[]
}

export interface Selection {
  readonly organization: string | undefined
  readonly mounts: readonly string[]
  /** Paths below `auth/`. */
  readonly authMethods: readonly string[]
}

export async function existingIn(engine: Engine, { organization, mounts, authMethods }: Selection): Promise<Found> {
  const resources: Existing[] = []
  const leftOut: string[] = []
  const add = async (candidates: AsyncIterable<Candidate>): Promise<void> => {
    for await (const { kind, name, id, known, always = [] } of candidates) {
      const there = await lifecycles[kind].takenOver(engine, id, known, always)
      // The resource may have been deleted since it was listed.
      if (there !== undefined) resources.push({ kind, name, id, ...there })
    }
  }
  if (organization !== undefined) await add(inOrganization(engine, organization))
  for (const mount of mounts) {
    await add(inMount(engine, mount))
    const { candidates, unnamed } = await authoritiesIn(engine.pki(mount), mount)
    await add(from(candidates))
    leftOut.push(...unnamed)
  }
  for (const path of authMethods) await add(inAuthMethod(engine, path))
  return { resources, leftOut }
}

async function* from<T>(items: readonly T[]): AsyncIterable<T> {
  yield* items
}

async function* inOrganization(engine: Engine, organization: string): AsyncIterable<Candidate> {
  const { defaultProjectId } = await engine.organizations.get(organization)
  // The default project is created and deleted with the organization.
  const projects = (await allOf((page) => engine.projects.list(organization, {}, page))).filter(
    ({ id }) => id !== defaultProjectId,
  )
  for (const { id, name } of projects) {
    const tagBindings = valued(await engine.tags.projectBindings(id))
    yield { kind: "project", name, id, known: { organization, name, ...unlessEmpty({ tagBindings }) } }
  }
  const workspaces = await allOf((page) => engine.workspaces.list(organization, {}, page))
  for (const { id, name, projectId } of workspaces) {
    const tagBindings = valued(await engine.tags.bindings(id))
    const project = projectId === defaultProjectId ? {} : { projectId }
    const known = { organization, name, ...project, ...unlessEmpty({ tagBindings }) }
    yield { kind: "workspace", name, id, known, always: ["engineVersion", "globalRemoteState"] }
  }
  for (const workspace of workspaces) yield* aboutWorkspace(engine, workspace)
  // Used tags are declared with their workspaces.
  for (const tag of await allOf((page) => engine.tags.list(organization, {}, page)))
    if (tag.instanceCount === 0)
      yield { kind: "tag", name: tag.name, id: tag.id, known: { organization, name: tag.name } }
}

async function* aboutWorkspace(engine: Engine, workspace: WorkspaceView): AsyncIterable<Candidate> {
  const { id, name, tagNames, globalRemoteState, sshKeyId, retentionPolicy, permissions } = workspace
  const known = { workspaceId: id }
  if (tagNames.length > 0)
    yield { kind: "workspaceTags", name: `${name}-tags`, id, known: { ...known, tags: tagNames.toSorted() } }
  const consumers = globalRemoteState ? [] : await allOf((page) => engine.remoteStateConsumers.list(id, page))
  if (consumers.length > 0) {
    const consumerIds = consumers.map((consumer) => consumer.id)
    yield { kind: "remoteStateConsumers", name: `${name}-consumers`, id, known: { ...known, consumerIds } }
  }
  if (sshKeyId !== null) yield { kind: "sshKeyAssignment", name: `${name}-ssh-key`, id, known: { ...known, sshKeyId } }
  if (retentionPolicy !== null) yield { kind: "dataRetentionPolicy", name: `${name}-retention`, id, known }
  const variables = permissions.canReadVariable ? await engine.variables.list({ id }) : []
  for (const { id: variableId, key, category } of variables)
    yield {
      kind: "variable",
      name: `${name}-${category}-${key}`,
      id: `${id}/${variableId}`,
      known: { ...known, key, category },
    }
}

async function* inMount(engine: Engine, mount: string): AsyncIterable<Candidate> {
  yield { kind: "pkiMount", name: mount, id: mount, known: { path: mount } }
  for (const name of await engine.pki(mount).roles.list())
    yield { kind: "pkiRole", name, id: `${mount}/roles/${name}`, known: { mount, name } }
  const { settings } = engine.pki(mount)
  const [acme, est] = [await settings.acme(), await settings.est()]
  if (acme.enabled) yield { kind: "acmeConfig", name: `${mount}-acme`, id: acmeConfigId(mount), known: { mount } }
  if (est.enabled) yield { kind: "estConfig", name: `${mount}-est`, id: estConfigId(mount), known: { mount } }
}

async function* inAuthMethod(engine: Engine, path: string): AsyncIterable<Candidate> {
  const { type } = await engine.authMethods.get(path)
  const authMethod = path
  yield { kind: "authMethod", name: path, id: path, known: { path, type } }
  if (type === "userpass")
    for (const name of await engine.userpass(path).users.list())
      yield { kind: "userpassUser", name, id: `${path}/users/${name}`, known: { authMethod, name } }
  if (type === "cert")
    for (const name of await engine.certificateLogins(path).listRoles())
      yield {
        kind: "certificateAuthRole",
        name,
        id: `${path}/certs/${name}`,
        known: { authMethod, name },
        always: ["certificate"],
      }
}

const valued = (bindings: readonly { readonly key: string; readonly value: string }[]): Record<string, string> =>
  Object.fromEntries(bindings.filter(({ value }) => value !== "").map(({ key, value }) => [key, value]))

const unlessEmpty = (members: Readonly<Record<string, object>>): Values =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => Object.keys(value).length > 0))

const pageSize = 100
/** A hundred thousand items. */
const maxPages = 1_000

async function allOf<T>(list: (page: PageRequest) => Promise<Page<T>>): Promise<T[]> {
  const found: T[] = []
  for (let number = 1; number <= maxPages; number += 1) {
    const { items, totalCount } = await list({ number, size: pageSize })
    found.push(...items)
    if (items.length === 0 || found.length >= totalCount) break
  }
  return found
}
