// Keeps the variables of a workspace as its spec says, and leaves those of others alone. Nobody reads the value of a sensitive one
// back: it is as it was written for as long as the engine's version of it is that of the last write, and it is written again when
// the Secret that it is from is another one. No value that may be a secret goes anywhere but to the engine.
import type { VariableView } from "@chancery/engine"
import { observedVariable, variableResource } from "@chancery/engine/declared"
import { stalled } from "../reconcile-result.ts"
import { difference, type Difference } from "./drift.ts"
import type { Subject } from "./sync.ts"
import type { WantedVariable } from "./variable-sources.ts"

/** `status.variables`: one that this object has brought. */
export interface KnownVariable {
  readonly category: string
  readonly key: string
  /** The engine's version of a sensitive one as it was written last. */
  readonly versionID?: string
  /** Of the Secret or ConfigMap that was written last. */
  readonly sourceVersion?: string
}

type Named = Pick<KnownVariable, "category" | "key">
const placeOf = ({ category, key }: Named): string => `${category}/${key}`
const byPlace = <One extends Named>(all: readonly One[]): ReadonlyMap<string, One> =>
  new Map(all.map((one) => [placeOf(one), one]))

/** For `status.drift`. */
const fieldOf = (one: Named): string => `variables[${placeOf(one)}]`
export const isVariableField = (field: string): boolean => field.startsWith("variables[")

/** Whether a value is from another version of something than was written last. */
export function haveSourcesChanged(wanted: readonly WantedVariable[], known: readonly KnownVariable[]): boolean {
  const before = byPlace(known)
  const after = byPlace(wanted)
  return (
    wanted.some((one) => one.sourceVersion !== before.get(placeOf(one))?.sourceVersion) ||
    known.some((one) => !after.has(placeOf(one)))
  )
}

/** What is known where nobody knows how much of it was done. */
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
  for (const one of wanted) refuseFaults(id, one)
  const present = byPlace(await engine.variables.list({ id }))
  const [before, after] = [byPlace(known), byPlace(wanted)]
  const differences: Difference[] = []
  // What goes makes room for what comes.
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
  // One of that key was not there a moment ago: whose it is now makes no difference.
  const { observed } = await variableResource.create(engine, specOf(id, wanted), { marker: "", adopt: true, now })
  return observed.versionId
}

/** Of a sensitive one, as far as it is known. Undefined versions are those of nobody's last write. */
function writtenValue(
  { value, sourceVersion }: WantedVariable,
  { versionId }: VariableView,
  known: KnownVariable | undefined,
  reports: boolean,
): string | null {
  const isUntouched = known?.versionID === versionId
  // Whoever changes nothing tells what is certain: that somebody else has written it since.
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

function refuseFaults(workspaceId: string, wanted: WantedVariable): void {
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
