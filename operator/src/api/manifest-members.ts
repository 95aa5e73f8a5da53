// Manifest fields for the members of a declared resource. An absent field is not managed.
import { type Definition, describe } from "@chancery/engine/declared/shared"
import { z } from "zod"
import { ruled } from "./rules.ts"
import { duration, instant } from "./descriptions.ts"

type Members = Definition["members"]

export const manifestMembers = (members: Members): Readonly<Record<string, z.ZodType>> =>
  Object.fromEntries(Object.entries(members).map(([name, member]) => [name, fieldOf(member)]))

function fieldOf(member: Members[string]): z.ZodType {
  const { schema, manifest = schema, form, listType } = member
  const description = describe(member)
  if (form === "duration") return duration(description).optional()
  if (form === "instant") return instant(description).optional()
  const isTextSet = listType === "set" && manifest instanceof z.ZodArray && manifest.element instanceof z.ZodString
  if (isTextSet) return ruled(manifest.meta({ description, ...metaOf(listType) })).optional()
  return manifest.optional().meta({ description, ...metaOf(listType) })
}

const metaOf = (listType: Members[string]["listType"]): Readonly<Record<string, unknown>> => {
  if (listType === undefined) return {}
  if (typeof listType === "string") return { "x-kubernetes-list-type": listType }
  return { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": listType.keys }
}

/** Returns schemas of boolean fields. Throws if a member is not a boolean. */
export const flagFields = <const Name extends string>(members: Members, ...names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, flagField(members[name])])) as {
    readonly [name in Name]: z.ZodOptional<z.ZodBoolean>
  }

function flagField(member: Members[string] | undefined): z.ZodType {
  if (!(member?.schema instanceof z.ZodBoolean)) throw new TypeError("no such boolean is declared")
  return member.schema.optional().describe(`${describe(member)} Not managed if omitted.`)
}
