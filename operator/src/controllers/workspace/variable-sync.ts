// Synchronizes the variables of the spec, and leaves others alone. The value of a sensitive variable cannot be read back: it counts as
// unchanged while the engine's version is that of the last write. It is written again if its Secret changed. Values that may be secret are
// sent only to the engine.
import type { VariableView } from "@chancery/engine"
import { observedVariable, variableResource } from "@chancery/engine/declared"
import { stalled } from "../reconcile-result.ts"
import { difference, type Difference } from "./drift.ts"
import type { Subject } from "./sync.ts"
import type { WantedVariable } from "./variable-sources.ts"

/** Entry of `status.variables`: variable that this object created or took over. */
export interface KnownVariable {
  readonly category: string
  readonly key: string
  /** The engine's version of a sensitive variable after the last write. */
  readonly versionID?: string
  /** Version of the Secret or ConfigMap at the last write. */
  readonly sourceVersion?: string
}

type Named = Pick<KnownVariable, "category" | "key">
const placeOf = ({ category, key }: Named): string => `${category}/${key}`
const byPlace = <One extends Named>(all: readonly One[]): ReadonlyMap<string, One> =>
  new Map(all.map((one) => [placeOf(one), one]))

/** Names of the field in `status.drift`. */
const fieldOf = (one: Named): string => `variables[${placeOf(one)}]`
export const isVariableField = (field: string): boolean => field.startsWith("variables[")

/** Returns whether a value has another source version than at the last write, or a variable was removed. */
export function haveSourcesChanged(wanted: readonly WantedVariable[], known: readonly KnownVariable[]): boolean {
  const before = byPlace(known)
  const after = byPlace(wanted)
  return (
    wanted.some((one) => one.sourceVersion !== before.get(placeOf(one))?.sourceVersion) ||
    known.some((one) => !after.has(placeOf(one)))
  )
}

/** Returns the variables that may exist after an interrupted synchronization. */
export const perhapsBrought = (
  wanted: readonly WantedVariable[],
  known: readonly KnownVariable[],
): readonly KnownVariable[] => [
  ...byPlace<KnownVariable>([...wanted.map(({ category, key }) => ({ category, key })), ...known]).values(),
]

export interface SyncedVariables {
  readonly differences: readonly Difference[]
  readonly variables: readonly KnownVariable[]
}

export async function syncVariables(
  subject: Subject,
  wanted: readonly WantedVariable[],
  known: readonly KnownVariable[],
): Promise<SyncedVariables> {
  if (wanted.length === 0 && known.length === 0) return { differences: [], variables: [] }
  const { engine, id, reports } = subject
  for (const one of wanted) rejectFaults(id, one)
  const present = byPlace(await engine.variables.list({ id }))
  const [before, after] = [byPlace(known), byPlace(wanted)]
  const differences: Difference[] = []
  // Deletions first, so that they make room for new variables.
  for (const one of known) {
    const view = after.has(placeOf(one)) ? undefined : present.get(placeOf(one))
    if (view === undefined) continue
    differences.push(difference(fieldOf(one), null, shown(view, view.sensitive)))
    if (!reports) await engine.variables.delete({ id }, view.id)
  }
  const variables: KnownVariable[] = []
  for (const one of wanted) {
    const { found, versionID } = await syncVariable(subject, one, present.get(placeOf(one)), before.get(placeOf(one)))
    if (found !== undefined) differences.push(found)
    const { category, key, sensitive, sourceVersion } = one
    variables.push({
      category,
      key,
      ...(sensitive && versionID !== undefined ? { versionID } : {}),
      ...(sourceVersion === undefined ? {} : { sourceVersion }),
    })
  }
  return { differences, variables: reports ? known : variables }
}

interface SyncedVariable {
  readonly found: Difference | undefined
  readonly versionID: string | undefined
}

async function syncVariable(
  subject: Subject,
  wanted: WantedVariable,
  view: VariableView | undefined,
  known: KnownVariable | undefined,
): Promise<SyncedVariable> {
  const { engine, id, reports } = subject
  const spec = specOf(id, wanted)
  const hides = wanted.sensitive || view?.sensitive === true
  if (view === undefined) {
    const found = difference(fieldOf(wanted), shown(wanted, hides), null)
    return { found, versionID: reports ? undefined : await create(subject, wanted) }
  }
  const observed = observedVariable(view, writtenValue(wanted, view, known, reports))
  const { changed, removeFirst } = variableResource.diff(spec, observed)
  if (changed.length === 0) return { found: undefined, versionID: view.versionId }
  const only = (values: object) => Object.fromEntries(Object.entries(values).filter(([name]) => changed.includes(name)))
  const found = difference(fieldOf(wanted), only(shown(wanted, hides)), only(shown(view, hides)))
  if (reports) return { found, versionID: undefined }
  if (removeFirst === true) {
    await engine.variables.delete({ id }, view.id)
    return { found, versionID: await create(subject, wanted) }
  }
  const { versionId } = await variableResource.update(engine, `${id}/${view.id}`, spec, observed)
  return { found, versionID: versionId }
}

async function create({ engine, id, now }: Subject, wanted: WantedVariable): Promise<string> {
  // The variable did not exist at the query, so one that appeared since is adopted.
  const { observed } = await variableResource.create(engine, specOf(id, wanted), { marker: "", adopt: true, now })
  return observed.versionId
}

/** Returns the current value of a sensitive variable as far as it is known, or null if it is unknown or outdated. */
function writtenValue(
  { value, sourceVersion }: WantedVariable,
  { versionId }: VariableView,
  known: KnownVariable | undefined,
  reports: boolean,
): string | null {
  const isUntouched = known?.versionID === versionId
  // In report mode, only a certain difference counts: another writer changed the variable after the last write.
  if (reports) return isUntouched || known?.versionID === undefined ? value : null
  return isUntouched && known?.sourceVersion === sourceVersion ? value : null
}

const specOf = (workspaceId: string, { category, key, value, description, hcl, sensitive }: WantedVariable) => ({
  workspaceId,
  category,
  key,
  value,
  description,
  hcl,
  sensitive,
})

function rejectFaults(workspaceId: string, wanted: WantedVariable): void {
  const [fault] = variableResource.validate(specOf(workspaceId, wanted))
  if (fault !== undefined) throw stalled("InvalidSpec", `spec.${fieldOf(wanted)}: ${fault.detail}`)
}

type Shown = Pick<VariableView, "value" | "description" | "hcl" | "sensitive">

const shown = ({ value, description, hcl, sensitive }: Shown, hides: boolean): Shown => ({
  value: hides ? "(sensitive)" : value,
  description,
  hcl,
  sensitive,
})
