// Writes a program that declares the imported resources. Ids of declared resources become references to them.
import { typeToken } from "../dynamic/pulumi-resource.ts"
import type { Existing } from "./candidate.ts"

/** Returns the program. Members `organization` that equal the configured organization are omitted. */
export function programText(resources: readonly Existing[], configured: string | undefined): string {
  const named = withVariables(resources)
  const references = new Map<unknown, string>()
  // Parts of a workspace have the workspace's id, so they are not referenced.
  for (const { kind, id, inputs, variable } of named)
    if (!("workspaceId" in inputs)) references.set(id, `${variable}.${kind === "pkiMount" ? "path" : "id"}`)
  const bodies = named.map(({ name, inputs, ...resource }) => {
    const declared = Object.entries(inputs)
      .filter(([member, value]) => member !== nameMember(resource) || value !== name)
      .filter(([member, value]) => member !== "organization" || value !== configured)
      .map(([member, value]) => `  ${member}: ${literal(value, refersTo(member) ? references : noReferences)},\n`)
    const args = declared.length === 0 ? "" : `, {\n${declared.join("")}}`
    return { ...resource, expression: `new ${classOf(resource)}(${JSON.stringify(name)}${args})` }
  })
  const used = new Set(bodies.flatMap(({ expression }) => expression.match(/\b\w+(?=\.(?:id|path)\b)/g) ?? []))
  const statements = bodies.map(({ variable, expression }) =>
    used.has(variable) ? `const ${variable} = ${expression}` : expression,
  )
  const classes = [...new Set(resources.map(classOf))].toSorted()
  return `import { ${classes.join(", ")} } from "@chancery/pulumi"\n\n${statements.join("\n\n")}\n`
}

const classOf = ({ kind }: Pick<Existing, "kind">): string => typeToken(kind).replace(/^.*:/, "")

/** Returns the member whose default is the resource's name in the program. */
const nameMember = ({ kind }: Pick<Existing, "kind">): string => (kind === "pkiMount" ? "path" : "name")

const refersTo = (member: string): boolean => member === "mount" || /Ids?$/.test(member)

const noReferences: ReadonlyMap<unknown, string> = new Map()

function literal(value: unknown, references: ReadonlyMap<unknown, string>): string {
  const reference = references.get(value)
  if (reference !== undefined) return reference
  if (Array.isArray(value)) return `[${value.map((item) => literal(item, references)).join(", ")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(([name, member]) => `${keyText(name)}: ${literal(member, noReferences)}`)
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`
}

const keyText = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name))

type Named = Existing & { readonly variable: string }

function withVariables(resources: readonly Existing[]): readonly Named[] {
  const taken = new Set<string>()
  return resources.map((resource) => {
    // The class name as suffix prevents reserved words.
    const [first = "", ...others] = resource.name.toLowerCase().match(/[a-z0-9]+/g) ?? ["the"]
    const stem = [/^\d/.test(first) ? `_${first}` : first, ...others.map(capital), classOf(resource)].join("")
    let variable = stem
    for (let count = 2; taken.has(variable); count += 1) variable = `${stem}${count}`
    taken.add(variable)
    return { ...resource, variable }
  })
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)
