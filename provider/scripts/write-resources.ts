// Writes provider/src/resources/ from the declared resources of the engine. With --check, fails if a file is stale. The classes are
// generated instead of inferred as types, so that editors show the documentation of each argument and output.
import { readFile, writeFile } from "node:fs/promises"
import { declaredResources, type Definition, describe } from "@chancery/engine/declared"
import { z } from "zod"

const folder = new URL("../src/resources/", import.meta.url)
const check = process.argv.includes("--check")

type Member = Definition["members"][string]
type Secret = NonNullable<Member["secret"]>
type Side = "input" | "output"

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
const fileOf = ({ name }: Definition): string =>
  `${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.ts`

/** Returns a TSDoc comment in lines of at most 130 characters. */
function comment(text: string, indent = ""): string {
  const safe = text.replaceAll("*/", String.raw`*\/`)
  const line = `${indent}/** ${safe} */\n`
  if (line.length <= 131) return line
  const lines = [""]
  for (const word of safe.split(" ")) {
    const last = lines.at(-1) ?? ""
    if (last !== "" && indent.length + last.length + word.length > 125) lines.push(word)
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`
  }
  return `${indent}/**\n${lines.map((one) => `${indent} * ${one}\n`).join("")}${indent} */\n`
}

const input = (type: string, side: Side): string => (side === "input" ? `pulumi.Input<${type}>` : type)

class Interfaces {
  readonly #written = new Map<string, string>()

  get text(): string {
    return [...this.#written.values()].join("")
  }

  /** Returns the type of a value. In arguments, inner values may be outputs of other resources. */
  typeOf(schema: z.core.$ZodType, side: Side): string {
    if (schema instanceof z.ZodOptional) return this.typeOf(schema.unwrap(), side)
    if (schema instanceof z.ZodNullable) return `${this.typeOf(schema.unwrap(), side)} | null`
    if (schema instanceof z.ZodString) return "string"
    if (schema instanceof z.ZodNumber) return "number"
    if (schema instanceof z.ZodBoolean) return "boolean"
    if (schema instanceof z.ZodEnum) return schema.options.map((one) => JSON.stringify(one)).join(" | ")
    if (schema instanceof z.ZodUnion) return schema.options.map((one) => this.typeOf(one, side)).join(" | ")
    if (schema instanceof z.ZodRecord)
      return `Readonly<Record<string, ${input(this.typeOf(schema.valueType, side), side)}>>`
    if (schema instanceof z.ZodArray) {
      const item = input(this.typeOf(schema.element, side), side)
      return side === "input" ? `${item}[]` : `${/[ |]/.test(item) ? `(${item})` : item}[]`
    }
    if (schema instanceof z.ZodReadonly) return `readonly ${this.typeOf(schema.unwrap(), side)}`
    if (schema instanceof z.ZodObject) return this.#objectType(schema, side)
    throw new TypeError(`no type for the schema ${schema._zod.def.type}`)
  }

  #objectType(schema: z.ZodObject, side: Side): string {
    const { title, description = "" } = schema.meta() ?? {}
    const members = Object.entries(schema.shape).map(([name, member]) => ({
      description: (member as z.ZodType).description,
      text: `${side === "input" ? "" : "readonly "}${name}${member instanceof z.ZodOptional ? "?" : ""}: ${input(this.typeOf(member, side), side)}${
        side === "output" && member instanceof z.ZodOptional ? " | undefined" : ""
      }`,
    }))
    if (title === undefined) return `{ ${members.map(({ text }) => text).join("; ")} }`
    const name = `${title}${side === "input" ? "Args" : "State"}`
    const lines = members.map((one) => `${comment(one.description ?? "", "  ")}  ${one.text}\n`)
    this.#written.set(name, `${comment(description)}export interface ${name} {\n${lines.join("")}}\n\n`)
    return name
  }
}

const sentences = (...parts: readonly (string | undefined)[]): string =>
  parts.filter((part) => part !== undefined).join(" ")

const argumentComment = (member: Member, isWholeReplaced: boolean): string =>
  sentences(
    describe(
      member.providedBy === "name" ? { ...member, defaultText: "the resource's name in the program" } : member,
      "markdown",
    ),
    member.forcesReplacement === true && !isWholeReplaced ? "Changing it forces replacement." : undefined,
  )

function resourceFile(definition: Definition): string {
  const {
    name,
    description,
    argsDescription = "",
    outputsDescription,
    members,
    outputs,
    adoption,
    endsByItself,
  } = definition
  const title = capitalized(name)
  const interfaces = new Interfaces()
  // The comment of the interface states it for all members.
  const isWholeReplaced = argsDescription.startsWith("Changing any member")
  const args = Object.entries(members).map(([member, facts]) => {
    const mark = facts.isRequired && facts.providedBy === undefined ? "" : "?"
    return `${comment(argumentComment(facts, isWholeReplaced), "  ")}  ${member}${mark}: ${input(interfaces.typeOf(facts.schema, "input"), "input")}\n`
  })
  const own = Object.entries(members)
    .filter(([, { isHidden }]) => isHidden !== true)
    .map(([member, facts]) => ({ name: member, ...facts }))
  const further = Object.entries(outputs).map(([output, facts]) => ({
    name: output,
    isOutputIfDeclared: false,
    ...facts,
  }))
  const all = [...own.filter(({ name }) => !(name in outputs)), ...further]
  const state = all.map((facts) => {
    const mark = facts.isOutputIfDeclared === true ? "?" : ""
    return `${comment(facts.description, "  ")}  readonly ${facts.name}${mark}: ${interfaces.typeOf(facts.schema, "output")}\n`
  })
  const names = [...all.map((one) => one.name), ...(adoption !== undefined ? ["adopted"] : [])]
  const secrets = (entries: readonly (readonly [string, Secret | undefined])[]): string =>
    entries.flatMap(([member, secret]) => (secret === undefined ? [] : [`${member}: ${secretText(secret)}`])).join(", ")
  const secretInputs = secrets(Object.entries(members).map(([member, { secret }]) => [member, secret]))
  const secretOutputs = secrets(all.map((one) => [one.name, one.secret ?? members[one.name]?.secret]))
  const named = Object.entries(members).find(([, { providedBy }]) => providedBy === "name")?.[0]
  const lifecycle = endsByItself === true ? 'Pick<LifecycleArgs, "timeouts">' : "LifecycleArgs"
  const adopt = `Adopt ${adoption ?? ""}. Destroying the stack then keeps it unless \`deletionPolicy\` is set.`
  return `// Written by provider/scripts/write-resources.ts; do not edit.
import type * as pulumi from "@pulumi/pulumi"
import type { ${adoption !== undefined ? "Adopted, " : ""}LifecycleArgs } from "../lifecycle/lifecycle-args.ts"
import { declaredResource, type ResourceClass } from "../dynamic/pulumi-resource.ts"

${interfaces.text}${argsDescription === "" ? "" : comment(argsDescription)}export interface ${title}Args extends ${lifecycle} {
${args.join("")}${adoption === undefined ? "" : `${comment(adopt, "  ")}  adopt?: pulumi.Input<boolean>\n`}}

${comment(outputsDescription)}export interface ${title}State${adoption !== undefined ? " extends Adopted" : ""} {
${state.join("")}}

${comment(description)}export const ${title}: ResourceClass<${title}Args, ${title}State> = declaredResource<${title}Args, ${title}State>({
  kind: "${name}",
  outputs: [${names.map((one) => JSON.stringify(one)).join(", ")}],
${named === undefined ? "" : `  named: "${named}",\n`}${secretInputs === "" ? "" : `  secretInputs: { ${secretInputs} },\n`}${
    secretOutputs === "" ? "" : `  secretOutputs: { ${secretOutputs} },\n`
  }})
export type ${title} = InstanceType<typeof ${title}>
`
}

const secretText = (secret: Secret): string =>
  secret === true
    ? "true"
    : `{ member: "${secret.member}", values: [${secret.values.map((one) => (one === undefined ? "undefined" : JSON.stringify(one))).join(", ")}] }`

for (const definition of declaredResources) {
  const file = fileOf(definition)
  const text = resourceFile(definition)
  const target = new URL(file, folder)
  if (!check) await writeFile(target, text)
  else if ((await readFile(target, "utf8").catch(() => "")) !== text) {
    process.stderr.write(
      `provider/src/resources/${file} is stale: run \`npm run resources\` and commit what it writes.\n`,
    )
    process.exitCode = 1
  }
}
