// Members of HCP Terraform's documents for features that do not exist here.
import { z } from "zod"
import { wholeSentence } from "./document.ts"

/**
 * Accepts the value that asks for nothing (and null, and the absence) and refuses every other: a client must not believe that a
 * setting was taken when it was dropped.
 */
export const unsupported = (name: string, nothing: string | boolean | null, feature: string) =>
  z
    .unknown()
    .check((context) => {
      const { value } = context
      if (value === undefined || value === null || value === nothing) return
      context.issues.push({
        code: "custom",
        message: `${name} must be ${JSON.stringify(nothing)}: ${feature} are not supported`,
        input: value,
        params: wholeSentence,
      })
    })
    .optional()
    .transform(() => undefined)
