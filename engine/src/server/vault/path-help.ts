import { type FieldType, fieldSchemas } from "../../contracts/vault/types.ts"
import type { ParameterTable } from "../../contracts/vault/format/parameters.ts"
import type { Operation } from "./vault-route.ts"

const methods: Readonly<Record<Operation, readonly string[]>> = {
  read: ["get"],
  list: ["get"],
  write: ["post", "put"],
  patch: ["patch"],
  delete: ["delete"],
}

interface Described {
  readonly pattern: string
  readonly routes: ReadonlyMap<Operation, { readonly parameters?: readonly ParameterTable[] }>
}

interface Field {
  readonly name: string
  /** Type name in Vault's help. */
  readonly type: FieldType
  readonly description: string
}

/** Returns the answer to `?help=1` at an endpoint: its operations and parameters, in the layout of Vault's path help. */
export function pathHelp(path: string, found: Described) {
  const fields = fieldsOf(found)
  const parameters = fields.map(
    ({ name, type, description }) => `\n    ${name} (${type})\n\n${indented(description)}\n`,
  )
  return helpOf(
    [
      `Request:        ${path}\nMatching Route: ${templateOf(found)}\n\nOperations: ${operationsOf(found).join(", ")}\n`,
      ...(fields.length === 0 ? [] : [`\n## PARAMETERS\n${parameters.join("")}`]),
    ].join(""),
    [found],
  )
}

/** Returns the help of a path that is no endpoint but a prefix of endpoints. */
export function helpBelow(found: readonly Described[]) {
  const sorted = found.toSorted((one, other) => (one.pattern < other.pattern ? -1 : 1))
  const width = Math.max(...sorted.map((one) => templateOf(one).length))
  const lines = sorted.map((one) => `    ${templateOf(one).padEnd(width)}    ${operationsOf(one).join(", ")}`)
  return helpOf(`Paths, and the operations at each:\n\n${lines.join("\n")}\n`, sorted)
}

const operationsOf = ({ routes }: Described): readonly Operation[] => [...routes.keys()].toSorted()
const templateOf = ({ pattern }: Described): string => pattern.replaceAll(/[:*]([a-z_]+)/g, "{$1}")
const pathNamesOf = ({ pattern }: Described): readonly string[] =>
  [...pattern.matchAll(/[:*]([a-z_]+)/g)].map(([, name = ""]) => name)

/** Returns the parameters of the path and of all operations, sorted by name. */
function fieldsOf(found: Described): readonly Field[] {
  const fields = new Map<string, Field>()
  for (const table of [...found.routes.values()].flatMap(({ parameters = [] }) => parameters))
    for (const field of membersOf(table)) fields.set(field.name, field)
  // A body member with the name of a path parameter is ignored.
  for (const name of pathNamesOf(found)) fields.set(name, { name, type: "string", description: "Part of the path." })
  return [...fields.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1))
}

const membersOf = ({ members }: ParameterTable): readonly Field[] =>
  members.map(({ wireName, kind, note }) => ({
    name: wireName,
    type: kind.type,
    description: [
      ...(note === undefined ? [] : [note.rule]),
      ...(note?.default === undefined ? [] : [`Default: ${JSON.stringify(note.default)}.`]),
      ...(kind.expected === "" ? [] : [`Must be ${kind.expected}.`]),
    ].join(" "),
  }))

const maxLine = 80

function indented(text: string): string {
  const lines: string[] = []
  let line = ""
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > maxLine) {
      lines.push(line)
      line = word
    } else line = line === "" ? word : `${line} ${word}`
  }
  return [...lines, line].map((one) => `        ${one}`).join("\n")
}

const helpOf = (help: string, described: readonly Described[]) => ({
  help,
  see_also: [],
  openapi: {
    openapi: "3.0.2",
    info: { title: "Chancery", version: "1" },
    paths: Object.fromEntries(described.map((one) => [templateOf(one), pathOf(one)])),
  },
})

function pathOf(found: Described) {
  const parameters = pathNamesOf(found).map((name) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }))
  const described = operationsOf(found).flatMap((operation) =>
    methods[operation].map((method) => [
      method,
      {
        summary: operation,
        ...sentIn(operation, (found.routes.get(operation)?.parameters ?? []).flatMap(membersOf)),
        responses: { 200: { description: "OK" } },
      },
    ]),
  )
  return { ...(parameters.length === 0 ? {} : { parameters }), ...Object.fromEntries(described) }
}

/** Describes the members of a body, or of the query if the method has no body. */
function sentIn(operation: Operation, fields: readonly Field[]) {
  if (fields.length === 0) return {}
  if (operation !== "write" && operation !== "patch")
    return {
      parameters: fields.map(({ name, type, description }) => ({
        name,
        in: "query",
        description,
        schema: fieldSchemas[type],
      })),
    }
  const properties = Object.fromEntries(
    fields.map(({ name, type, description }) => [name, { ...fieldSchemas[type], description }]),
  )
  const mediaType = operation === "patch" ? "application/merge-patch+json" : "application/json"
  return { requestBody: { content: { [mediaType]: { schema: { type: "object", properties } } } } }
}
