import type { Fault } from "../../core/errors.ts"
import type { OrganizationId, WorkspaceId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import type { WorkspaceRef } from "../workspace/workspace.ts"

export const variableCategories = ["terraform", "env"] as const
export type VariableCategory = (typeof variableCategories)[number]

export interface Variable {
  readonly id: string
  readonly workspaceId: WorkspaceId
  readonly organizationId: OrganizationId
  readonly key: string
  readonly value: string
  readonly description: string
  readonly category: VariableCategory
  /** The value is an expression of the tool's language, not plain text. Stored, not evaluated. */
  readonly hcl: boolean
  /** Once true it stays true: the value can be written, never read. */
  readonly sensitive: boolean
  /** Changes with every change of the variable. */
  readonly versionId: string
  readonly createdAt: Instant
}

export type VariableInput = Pick<Variable, "key" | "value" | "description" | "category" | "hcl" | "sensitive">
export type VariablePatch = { readonly [member in keyof VariableInput]?: VariableInput[member] }

/** What a caller is shown: no value of a sensitive one. */
export interface VariableView extends Omit<Variable, "organizationId" | "value"> {
  readonly value: string | null
}

/** Facts 1.10 of the public API. */
export const variableLimits = { keyLength: 128, valueBytes: 256 * 1024, descriptionLength: 512 }

export function variableFaults({ key, value, description }: VariableInput): Fault[] {
  const faults: Fault[] = []
  if (key.trim() === "") faults.push({ field: ["key"], detail: "Key can't be blank" })
  if (key.length > variableLimits.keyLength)
    faults.push({ field: ["key"], detail: `Key is too long (maximum is ${variableLimits.keyLength} characters)` })
  if (new TextEncoder().encode(value).length > variableLimits.valueBytes)
    faults.push({ field: ["value"], detail: `Value is too long (maximum is ${variableLimits.valueBytes} bytes)` })
  if (description.length > variableLimits.descriptionLength)
    faults.push({
      field: ["description"],
      detail: `Description is too long (maximum is ${variableLimits.descriptionLength} characters)`,
    })
  return faults
}

/** What the variable becomes and what is wrong with that. */
export function changeVariable(
  variable: Variable,
  patch: VariablePatch,
): { readonly changed: Variable; readonly faults: Fault[] } {
  const changed = { ...variable, ...patch }
  const faults = variableFaults(changed)
  if (variable.sensitive && !changed.sensitive)
    faults.push({ field: ["sensitive"], detail: "Sensitive cannot be turned off; delete the variable instead" })
  return { changed, faults }
}

export const viewVariable = ({ organizationId: _organizationId, value, ...variable }: Variable): VariableView => ({
  ...variable,
  value: variable.sensitive ? null : value,
})

/** The variables of workspaces; the value of a sensitive one is written and never read back. */
export interface Variables {
  /** Refused with `invalid` for a key that the workspace has in the same category. */
  create(ref: WorkspaceRef, input: VariableInput): Promise<VariableView>
  get(ref: WorkspaceRef, id: string): Promise<VariableView>
  /** Whichever workspace it belongs to. */
  findById(id: string): Promise<VariableView>
  /** All of them. */
  list(ref: WorkspaceRef): Promise<readonly VariableView[]>
  update(ref: WorkspaceRef, id: string, patch: VariablePatch): Promise<VariableView>
  delete(ref: WorkspaceRef, id: string): Promise<void>
}

export interface VariableRepository {
  find(workspaceId: WorkspaceId, id: string): Promise<Variable | undefined>
  findById(id: string): Promise<Variable | undefined>
  /** All of the workspace, in the order of their creation. */
  list(workspaceId: WorkspaceId): Promise<readonly Variable[]>
  listMany(workspaceIds: readonly WorkspaceId[]): Promise<readonly Variable[]>
  /** Throws `EngineError("invalid")` on `key` when the category has the key already; `save` too. */
  insert(variable: Variable): Promise<void>
  save(variable: Variable): Promise<void>
  remove(id: string): Promise<void>
}
