import { z } from "zod"
import { formatInstant } from "../../core/time.ts"
import {
  variableCategories,
  type VariableInput,
  type VariablePatch,
  type VariableView,
} from "../../workspaces/variable.ts"
import type { WorkspaceId } from "../../core/ids.ts"
import { readResource } from "./answer.ts"
import { decodeDocument, encodeDocument, type RequestDocument, type Resource, toOne } from "./document.ts"
import { given } from "./given.ts"
import { dashedMembers } from "./member-name.ts"

const members = {
  value: z.string().nullish(),
  description: z.string().nullish(),
  hcl: z.boolean().nullish(),
  sensitive: z.boolean().nullish(),
}
const createSchema = z.object({
  attributes: z.object({ key: z.string(), category: z.enum(variableCategories), ...members }),
})
// A client that changes nothing leaves the attributes out.
const patchSchema = z.object({
  attributes: z
    .object({ key: z.string().optional(), category: z.enum(variableCategories).optional(), ...members })
    .prefault({}),
})

export function decodeVariable(body: unknown): VariableInput {
  const { attributes } = decodeDocument(body, createSchema, { types: ["vars"] })
  return {
    key: attributes.key,
    value: attributes.value ?? "",
    description: attributes.description ?? "",
    category: attributes.category,
    hcl: attributes.hcl ?? false,
    sensitive: attributes.sensitive ?? false,
  }
}

const subjectSchema = z.object({
  relationships: z.object({ workspace: z.object({ data: z.object({ id: z.string() }) }) }),
})

/** The workspace that a variable made below no workspace is for. */
export const decodeVariableSubject = (body: unknown): { readonly id: string } => ({
  id: decodeDocument(body, subjectSchema, { types: ["vars"] }).relationships.workspace.data.id,
})

/** Null and absent alike keep what was: clients send null for what they did not set. */
export function decodeVariablePatch(body: unknown): VariablePatch {
  const { attributes } = decodeDocument(body, patchSchema, { types: ["vars"] })
  return given({
    key: attributes.key,
    value: attributes.value ?? undefined,
    description: attributes.description ?? undefined,
    category: attributes.category,
    hcl: attributes.hcl ?? undefined,
    sensitive: attributes.sensitive ?? undefined,
  })
}

export const encodeVariable = (variable: VariableView): Resource => ({
  id: variable.id,
  type: "vars",
  attributes: {
    key: variable.key,
    value: variable.value,
    description: variable.description,
    category: variable.category,
    hcl: variable.hcl,
    sensitive: variable.sensitive,
    "created-at": formatInstant(variable.createdAt),
    "version-id": variable.versionId,
  },
  relationships: { configurable: toOne("workspaces", variable.workspaceId) },
  links: { self: `/api/v2/workspaces/${variable.workspaceId}/vars/${variable.id}` },
})

/** The other direction of `encodeVariable`. */
export function decodeVariableView(resource: unknown): VariableView {
  const { id, attributes: own, ...related } = readResource(resource, "vars")
  return {
    id,
    workspaceId: related.one("configurable") as WorkspaceId,
    key: own.text("key"),
    value: own.textOrNull("value"),
    description: own.text("description"),
    category: own.oneOf("category", variableCategories),
    hcl: own.flag("hcl"),
    sensitive: own.flag("sensitive"),
    versionId: own.text("versionId"),
    createdAt: own.instant("createdAt"),
  }
}

/** Of an input as well as of a patch. */
export const encodeVariablePatch = (patch: VariablePatch): RequestDocument =>
  encodeDocument("vars", dashedMembers(patch))
