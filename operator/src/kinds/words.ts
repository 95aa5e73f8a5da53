// Parts of several kinds: bounded, as every rule of an apiserver has to know how long it may take.
import { z } from "zod"
import { type Rule, rules } from "./definition.ts"

/** The name of an object (RFC 1123). */
export const objectName = (description: string) =>
  z
    .string()
    .min(1)
    .max(253)
    .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/)
    .describe(description)

/** As Go writes durations, which rules can compare. It has no days. */
export const duration = (description: string, ...list: readonly Rule[]) =>
  z
    .string()
    .min(2)
    .max(32)
    .regex(/^([0-9]{1,8}(\.[0-9]{1,3})?(ms|s|m|h))+$/)
    .describe(description)
    .meta(list.length === 0 ? {} : rules(...list))

export const instant = (description: string) => z.string().max(64).describe(description).meta({ format: "date-time" })

/** A set, of one at least. */
export const texts = (maximum: number, description: string, items: number, ...list: readonly Rule[]) =>
  z
    .array(z.string().min(1).max(maximum))
    .min(1)
    .max(items)
    .describe(description)
    .meta({ "x-kubernetes-list-type": "set", ...(list.length === 0 ? {} : rules(...list)) })

export const stringMap = (maximum: number, entries: number, description: string) =>
  z.record(z.string().min(1).max(317), z.string().max(maximum)).describe(description).meta({ maxProperties: entries })
