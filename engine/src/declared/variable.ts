import { type EngineError, forbidden, invalid, isEngineError } from "../core/errors.ts"
import { hourMs, type Instant } from "../core/time.ts"
import type { Engine } from "../engine.ts"
import {
  variableCategories,
  variableFaults,
  type VariableInput,
  type VariablePatch,
  type VariableView,
} from "../workspaces/variables/variable.ts"
import type { Changes, Created, Known, DeclaredResource, Definition, Origin } from "./declared-resource.ts"
import { sameText } from "./same-value.ts"
import { diffMembers, member, output, required, type SpecOf, validator, withDefaults } from "./members.ts"
import { flag, oneOf, orNull, text } from "./types.ts"
import { workspaceMember } from "./organization-members.ts"

const members = {
  workspaceId: workspaceMember("Workspace of the variable."),
  key: required(text, "Name, at most 128 characters, unique in its category."),
  category: required(
    oneOf(...variableCategories),
    "`terraform` for an input variable of the configuration, `env` for an environment variable.",
  ),
  // `Object.is`, because an empty value differs from null, the value that callers cannot read.
  value: member(text, "Value, at most 256 KiB. A secret in the state of the stack if `sensitive` is true.", {
    default: "",
    defaultText: "empty",
    same: Object.is,
    secret: { member: "sensitive", values: [undefined, false] },
  }),
  description: member(orNull(text), "Description for people, at most 512 characters.", { default: "", same: sameText }),
  hcl: member(flag, "Read the value as an HCL expression instead of a string.", { default: false }),
  sensitive: member(flag, "Never return the value from the API. Changing it back to false forces replacement.", {
    default: false,
  }),
}

/** Variable of a workspace. The value of a sensitive variable cannot be read. */
export type VariableSpec = SpecOf<typeof members>

export interface ObservedVariable {
  readonly workspaceId: string
  readonly key: string
  readonly category: VariableInput["category"]
  /** Value of a sensitive variable: the value last written if the variable is unchanged since, else null. */
  readonly value: string | null
  readonly description: string
  readonly hcl: boolean
  readonly sensitive: boolean
  /** Changes with every update. */
  readonly versionId: string
}

/** The id is `WORKSPACE_ID/VARIABLE_ID`. */
export const variableResource: DeclaredResource<VariableSpec, ObservedVariable> & Definition = {
  name: "variable",
  description: "A variable of a workspace. Its id is `WORKSPACE_ID/VARIABLE_ID`.",
  outputsDescription: "Outputs of a variable.",
  members,
  outputs: {
    value: output(
      orNull(text).schema,
      "Value. Null for a sensitive variable that was changed elsewhere or read with `get`.",
    ),
    description: output(text.schema, "Description for people. Empty if there is none."),
    versionId: output(text.schema, "Version, which changes with every update."),
  },
  adoption: "an existing variable of this key",
  memberNames: Object.keys(members),
  validate: validator<VariableSpec>(members, (known) => variableFaults(inputOf({ ...harmless, ...known }))),
  diff: changes,
  observe,
  create,
  update,
  delete: remove,
}

/** Valid values for members that are unknown or already have faults. */
const harmless = { workspaceId: "", key: "key", category: "terraform" } as const

const inputOf = ({ key, category, value, description, hcl, sensitive }: VariableSpec): VariableInput => ({
  key,
  category,
  value: value ?? "",
  description: description ?? "",
  hcl: hcl ?? false,
  sensitive: sensitive ?? false,
})

function changes(spec: VariableSpec, observed: ObservedVariable, dropped: readonly string[] = []): Changes {
  const { changed } = diffMembers(members, spec, observed, dropped)
  // A sensitive variable cannot become readable, so it is replaced. Keys are unique in a workspace, so it is removed first.
  const becomesReadable = observed.sensitive && changed.includes("sensitive")
  const mustReplace = changed.filter((name) => name === "workspaceId" || (name === "sensitive" && becomesReadable))
  return { changed, mustReplace, removeFirst: becomesReadable && !mustReplace.includes("workspaceId") }
}

async function observe(
  engine: Engine,
  id: string,
  _spec: Partial<VariableSpec>,
  { before }: Known<ObservedVariable>,
): Promise<ObservedVariable | undefined> {
  const { workspaceId, variableId } = placeOf(id)
  try {
    const view = await engine.variables.get({ id: workspaceId }, variableId)
    const isUntouched = view.versionId === before.versionId
    return observedVariable(view, isUntouched ? (before.value ?? null) : null)
  } catch (error) {
    if (!isEngineError(error, "not-found")) throw error
    await mayLook(engine, workspaceId)
    return undefined
  }
}

/**
 * Throws `forbidden` if the workspace exists but its variables may not be read. The API answers 404 for missing and for forbidden resources
 * alike, and some rights show a workspace without its variables.
 */
async function mayLook({ variables, workspaces }: Engine, workspaceId: string): Promise<void> {
  try {
    await variables.list({ id: workspaceId })
  } catch (error) {
    if (!isEngineError(error, "not-found")) throw error
    const isThere = await workspaces.get({ id: workspaceId }).then(
      () => true,
      (refusal: unknown) => {
        if (isEngineError(refusal, "not-found")) return false
        throw refusal
      },
    )
    if (isThere) throw forbidden(`the token has no permission to read the variables of workspace ${workspaceId}`)
  }
}

async function create(engine: Engine, spec: VariableSpec, origin: Origin): Promise<Created<ObservedVariable>> {
  const { workspaceId } = spec
  const input = inputOf(spec)
  try {
    const view = await engine.variables.create({ id: workspaceId }, input)
    return { id: idOf(view), observed: observedVariable(view, input.value), adopted: false }
  } catch (error) {
    if (!mayExist(error)) throw error
    const view = await namesake(engine, spec)
    if (view === undefined) throw error
    const isOurs = isLeftBehind(view, input, origin)
    if (!isOurs && !origin.adopt) throw error
    const observed = observedVariable(view, null)
    return { id: idOf(view), observed: await update(engine, idOf(view), spec, observed), adopted: !isOurs }
  }
}

/** Returns whether the variable may exist after this error: its key is taken, or the answer was lost. */
const mayExist = (error: unknown): error is EngineError =>
  isEngineError(error) &&
  (error.code === "unavailable" ||
    (error.code === "invalid" &&
      error.faults.some(({ field, detail }) => field?.[0] === "key" && /taken/.test(detail))))

async function namesake(engine: Engine, { workspaceId, key, category }: VariableSpec) {
  const all = await engine.variables.list({ id: workspaceId })
  return all.find((one) => one.key === key && one.category === category)
}

/** Age up to which a sensitive variable that otherwise matches may come from a lost answer. Its value cannot be compared. */
const takenUpWithinMs = hourMs

/** Returns whether the variable is as declared and recorded by no other declaration, so that taking it over changes nothing. */
function isLeftBehind(view: VariableView, wanted: VariableInput, { recorded, now }: Origin): boolean {
  const { hcl, sensitive, description } = wanted
  if (recorded?.has(idOf(view)) === true) return false
  if (view.hcl !== hcl || view.sensitive !== sensitive || view.description !== description) return false
  return sensitive ? isRecent(view.createdAt, now) : view.value === wanted.value
}

const isRecent = (createdAt: Instant, now: Instant | undefined): boolean =>
  now !== undefined && now - createdAt < takenUpWithinMs

async function update(
  engine: Engine,
  id: string,
  spec: VariableSpec,
  observed: ObservedVariable,
  dropped: readonly string[] = [],
): Promise<ObservedVariable> {
  const { workspaceId, variableId } = placeOf(id)
  const wanted = withDefaults(members, spec, dropped)
  const { changed } = changes(spec, observed, dropped)
  if (changed.length === 0) return observed
  const input: VariablePatch = inputOf(wanted)
  const patch = Object.fromEntries(Object.entries(input).filter(([name]) => changed.includes(name)))
  const view = await engine.variables.update({ id: workspaceId }, variableId, patch)
  return observedVariable(view, changed.includes("value") ? (wanted.value ?? null) : observed.value)
}

async function remove(engine: Engine, id: string): Promise<void> {
  const { workspaceId, variableId } = placeOf(id)
  try {
    await engine.variables.delete({ id: workspaceId }, variableId)
  } catch (error) {
    if (!isEngineError(error, "not-found")) throw error
    if ((await observe(engine, id, {}, { before: {}, now: 0 })) !== undefined)
      throw forbidden(`the token has no permission to delete variable ${variableId}`)
  }
}

/** Returns the observation. `written` is the value as far as the caller knows it. */
export const observedVariable = (view: VariableView, written: string | null): ObservedVariable => ({
  workspaceId: view.workspaceId,
  key: view.key,
  category: view.category,
  value: view.sensitive ? written : view.value,
  description: view.description,
  hcl: view.hcl,
  sensitive: view.sensitive,
  versionId: view.versionId,
})

const idOf = ({ workspaceId, id }: Pick<VariableView, "workspaceId" | "id">): string => `${workspaceId}/${id}`

function placeOf(id: string): { readonly workspaceId: string; readonly variableId: string } {
  const [, workspaceId, variableId] = /^([^/]+)\/([^/]+)$/.exec(id) ?? []
  if (workspaceId === undefined || variableId === undefined)
    throw invalid([{ field: ["id"], detail: `id of a variable must be WORKSPACE_ID/VARIABLE_ID, not "${id}"` }])
  return { workspaceId, variableId }
}
