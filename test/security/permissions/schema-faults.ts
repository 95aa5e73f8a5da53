import { z } from "zod"
import type { Json } from "../../../engine/src/contracts/openapi.ts"

/** Returns the differences between a value and a schema of an OpenAPI document, one per line. */
export const schemaFaults = (schema: Json, document: Json, value: unknown): readonly string[] =>
  (z.fromJSONSchema(resolved(schema, document) as never).safeParse(value).error?.issues ?? []).map(
    ({ path, message }) => `${path.join("/")}: ${message}`,
  )

/** Replaces references. Schemas are not recursive. */
function resolved(schema: unknown, document: Json): unknown {
  if (Array.isArray(schema)) return schema.map((one) => resolved(one, document))
  if (typeof schema !== "object" || schema === null) return schema
  const { $ref: reference, const: constant } = schema as { readonly $ref?: string; readonly const?: unknown }
  // zod compares by identity.
  if (Array.isArray(constant)) return { type: "array", maxItems: constant.length }
  if (reference === undefined)
    return Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, resolved(value, document)]))
  const { schemas } = document["components"] as { readonly schemas: Json }
  return resolved(schemas[reference.replace("#/components/schemas/", "")], document)
}
