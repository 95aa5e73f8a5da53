import { z } from "zod"
import type { WorkspaceId } from "../../core/ids.ts"
import { variableCategories, type VariableInput } from "../../workspaces/variables/variable.ts"
import { instant, nullAsAbsent } from "../codec.ts"
import { document, mappedBody, one, readOnly, requiredOneInput, writable } from "./document.ts"
import { contract, created, nothing, pageOrAll, requiredText, resource } from "./endpoint.ts"

const attributes = {
  key: writable(z.string(), {
    required: true,
    rule: "Name, unique in the workspace and its category, at most 128 characters.",
    example: "region",
  }),
  category: writable(z.enum(variableCategories), {
    required: true,
    rule: "A variable of the configuration (terraform) or of the environment (env).",
    example: "terraform",
  }),
  value: writable(z.string().nullable(), {
    input: nullAsAbsent(z.string()),
    rule: "Value, at most 256 KiB. Null in answers if the variable is sensitive.",
    default: "",
    example: "eu-central-1",
  }),
  description: writable(z.string(), {
    input: nullAsAbsent(z.string()),
    rule: "Description, at most 512 characters.",
    default: "",
    example: "Region of the network",
  }),
  hcl: writable(z.boolean(), {
    input: nullAsAbsent(z.boolean()),
    rule: "The value is an expression of the configuration language.",
    default: false,
    example: true,
  }),
  sensitive: writable(z.boolean(), {
    input: nullAsAbsent(z.boolean()),
    rule: "The value is in no answer. It cannot be turned off.",
    default: false,
    example: true,
  }),
  createdAt: readOnly(instant, { rule: "Time of the creation.", example: "2026-11-26T12:00:00.000Z" }),
  versionId: readOnly(z.string(), { rule: "Changes with every change of the variable." }),
}
const parts = {
  id: z.custom<string>(),
  self: (id: string, { workspaceId }: Readonly<Record<string, unknown>>) =>
    `/api/v2/workspaces/${String(workspaceId)}/vars/${id}`,
  attributes,
}
const workspaceId = one<WorkspaceId>("workspaces")

export const variable = document("vars", {
  ...parts,
  relationships: { workspaceId: readOnly(workspaceId, { wireName: "configurable", rule: "Workspace." }) },
})

const complete = <T extends Pick<VariableInput, "key" | "category">>(input: T) => ({
  value: "",
  description: "",
  hcl: false,
  sensitive: false,
  ...input,
})
export const variableInput = mappedBody(variable.input, { from: (input: VariableInput) => input, to: complete })

/** Document of older clients, whose requests name the workspace. */
const placed = document("vars", {
  ...parts,
  relationships: {
    workspaceId: writable(workspaceId, {
      input: requiredOneInput<string>("workspaces"),
      required: true,
      wireName: "workspace",
      rule: "Workspace of the variable.",
    }),
  },
})
const placedInput = mappedBody(placed.input, {
  from: (input: VariableInput & { readonly workspaceId: string }) => input,
  to: complete,
})

const all = "/workspaces/:workspace_id/vars"
const reads = "`can-read-variable` on the workspace."
const writes = "`can-update-variable` on the workspace."

export const variables = contract({
  createByWorkspace: {
    method: "POST",
    path: "/vars",
    summary: "Creates a variable of the workspace that the request names. For clients of earlier versions.",
    rights: writes,
    body: placedInput,
    answers: created(variable),
  },
  listByWorkspace: {
    method: "GET",
    path: "/vars",
    summary: "Lists the variables of a workspace by name. For clients of earlier versions.",
    rights: reads,
    query: {
      organization: {
        parameter: "filter[organization][name]",
        schema: requiredText("filter[organization][name]"),
        required: true,
        rule: "Name of the organization.",
        example: "acme",
      },
      name: {
        parameter: "filter[workspace][name]",
        schema: requiredText("filter[workspace][name]"),
        required: true,
        rule: "Name of the workspace.",
        example: "network",
      },
    },
    answers: pageOrAll(variable),
  },
  findById: {
    method: "GET",
    path: "/vars/:variable_id",
    summary: "Returns a variable of any workspace.",
    rights: reads,
    answers: resource(variable),
  },
  updateById: {
    method: "PATCH",
    path: "/vars/:variable_id",
    summary: "Changes a variable of any workspace.",
    rights: writes,
    body: variable.patch,
    answers: resource(variable),
  },
  deleteById: {
    method: "DELETE",
    path: "/vars/:variable_id",
    summary: "Deletes a variable of any workspace.",
    rights: writes,
    answers: nothing,
  },
  create: {
    method: "POST",
    path: all,
    summary: "Creates a variable.",
    rights: writes,
    body: variableInput,
    answers: created(variable),
  },
  list: {
    method: "GET",
    path: all,
    summary: "Lists the variables of a workspace, all of them if the request asks for no page.",
    rights: reads,
    answers: pageOrAll(variable),
  },
  listWithSets: {
    method: "GET",
    path: "/workspaces/:workspace_id/all-vars",
    summary: "The same list: there are no variable sets.",
    rights: reads,
    answers: pageOrAll(variable),
  },
  get: {
    method: "GET",
    path: `${all}/:variable_id`,
    summary: "Returns a variable.",
    rights: reads,
    answers: resource(variable),
  },
  update: {
    method: "PATCH",
    path: `${all}/:variable_id`,
    summary: "Changes a variable. Attributes that are null or left out keep their values.",
    rights: writes,
    body: variable.patch,
    answers: resource(variable),
  },
  delete: {
    method: "DELETE",
    path: `${all}/:variable_id`,
    summary: "Deletes a variable.",
    rights: writes,
    answers: nothing,
  },
})
