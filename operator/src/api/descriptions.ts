// Schema parts of several PKI kinds. All are bounded, because the API server estimates the cost of each CEL rule from these bounds.
import { z } from "zod"
import { goDuration, parseGoDuration } from "../go-duration.ts"
import { objectName } from "./connection-spec.ts"
import { type Rule, ruled } from "./rules.ts"

export const named = (description: string) => objectName.describe(description)

/** Duration in Go's format, which CEL rules can compare. It has no unit for days. */
export const duration = (description: string, ...rules: readonly Rule<string>[]) =>
  ruled(z.string().min(2).max(32).regex(goDuration).describe(description), ...rules)

export const atLeast = (field: string, least: string): Rule<string> => ({
  rule: `duration(self) >= duration('${least}')`,
  message: `${field} must be at least ${least}`,
  holds: (text) => (parseGoDuration(text) ?? 0) >= (parseGoDuration(least) ?? 0),
})

/** Timestamp of RFC 3339. */
const instantPattern = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})$/

export const instant = (description: string) =>
  z.string().max(64).regex(instantPattern).describe(description).meta({ format: "date-time" })

/** Non-empty set of strings. `maximum` is the length of each string, and `items` their number. */
export const texts = (
  maximum: number,
  items: number,
  description: string,
  ...rules: readonly Rule<readonly string[]>[]
) =>
  ruled(
    z
      .array(z.string().min(1).max(maximum))
      .min(1)
      .max(items)
      .describe(description)
      .meta({ "x-kubernetes-list-type": "set" }),
    ...(rules as readonly Rule<string[]>[]),
  )

export const stringMap = (maximum: number, entries: number, description: string) =>
  z.record(z.string().min(1).max(317), z.string().max(maximum)).describe(description).meta({ maxProperties: entries })

export const mountPath = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[A-Za-z0-9_.-]+(\/[A-Za-z0-9_.-]+)*$/)
  .describe("Path of the certificate authority's mount in the engine. Example: pki.")

export const roleName = z
  .string()
  .min(1)
  .max(253)
  .regex(/^[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?$/)
