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
  /** True if the value is an HCL expression, not plain text. It is stored, not evaluated. */
  readonly hcl: boolean
  /** Write-only value. Once true, it stays true. */
  readonly sensitive: boolean
  /** Changes with every change of the variable. */
  readonly versionId: string
  readonly createdAt: Instant
}

export type VariableInput = Pick<Variable, "key" | "value" | "description" | "category" | "hcl" | "sensitive">
export type VariablePatch = { readonly [member in keyof VariableInput]?: VariableInput[member] }

/** Variable as callers get it, without the value of a sensitive one. */
export interface VariableView extends Omit<Variable, "organizationId" | "value"> {
  readonly value: string | null
}

/** Limits of HCP Terraform. */
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

/** Returns the variable after a change, and the faults of the change. */
export function changeVariable(
  variable: Variable,
  patch: VariablePatch,
): { readonly changed: Variable; readonly faults: Fault[] } {
  const changed = { ...variable, ...patch }
  const faults = variableFaults(changed)
  if (variable.sensitive && !changed.sensitive)
    faults.push({ field: ["sensitive"], detail: "sensitive cannot be changed to false; delete the variable instead" })
  return { changed, faults }
}

export const viewVariable = ({ organizationId: _organizationId, value, ...variable }: Variable): VariableView => ({
  ...variable,
  value: variable.sensitive ? null : value,
})

/** Operations on variables of workspaces. The value of a sensitive variable cannot be read. */
export interface Variables {
  /** Throws `invalid` if the workspace has the key in the same category. */
  create(ref: WorkspaceRef, input: VariableInput): Promise<VariableView>
  get(ref: WorkspaceRef, id: string): Promise<VariableView>
  /** Finds a variable of any workspace. */
  findById(id: string): Promise<VariableView>
  /** Lists all variables of the workspace. */
  list(ref: WorkspaceRef): Promise<readonly VariableView[]>
  update(ref: WorkspaceRef, id: string, patch: VariablePatch): Promise<VariableView>
  delete(ref: WorkspaceRef, id: string): Promise<void>
}

export interface VariableRepository {
  find(workspaceId: WorkspaceId, id: string): Promise<Variable | undefined>
  findById(id: string): Promise<Variable | undefined>
  /** Returns all variables of the workspace in order of creation. */
  list(workspaceId: WorkspaceId): Promise<readonly Variable[]>
  listMany(workspaceIds: readonly WorkspaceId[]): Promise<readonly Variable[]>
  /** `insert` and `save` throw `EngineError("invalid")` on `key` if the category already has the key. */
  insert(variable: Variable): Promise<void>
  save(variable: Variable): Promise<void>
  remove(id: string): Promise<void>
}
