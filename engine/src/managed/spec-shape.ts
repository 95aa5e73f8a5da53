// The types of a spec's members, before any rule looks at them.
import type * as z from "zod"
import type { Fault } from "../core/errors.ts"
import type { Values } from "./managed-kind.ts"

/** Faults of the members' types. Members in `open` are not known yet, so that they are not missed. */
export function shapeFaults(shape: z.ZodObject, spec: Values, open: ReadonlySet<string>): readonly Fault[] {
  const parsed = shape.safeParse(spec)
  if (parsed.success) return []
  return parsed.error.issues
    .flatMap((issue): Fault[] => {
      const field = issue.path.filter((part) => typeof part !== "symbol")
      if (issue.code === "unrecognized_keys")
        return issue.keys.map((key) => ({ field: [...field, key], detail: unknownMember(key, shape) }))
      if (issue.code === "invalid_type" && valueAt(spec, field) === undefined)
        return [{ field, detail: `${field.join(".")} is required` }]
      return [{ field, detail: `${field.join(".")}: ${issue.message}` }]
    })
    .filter(({ field }) => !open.has(String(field?.[0])))
}

function unknownMember(key: string, shape: z.ZodObject): string {
  const known = Object.keys(shape.shape)
  const meant = known.find((name) => name.toLowerCase() === key.toLowerCase().replaceAll(/[-_]/g, ""))
  return meant === undefined
    ? `${key} is not known; known are ${known.join(", ")}`
    : `${key} is not known; say ${meant}`
}

const valueAt = (spec: Values, field: readonly (string | number)[]): unknown =>
  field.reduce<unknown>((value, part) => (value as Record<string | number, unknown> | undefined)?.[part], spec)
