// Members of HCP Terraform's documents for features that do not exist here.
import { z } from "zod"
import { wholeSentence } from "./document.ts"

/**
 * Returns a schema that accepts only the value without effect, null and absence. Other values are rejected, so that clients do not assume
 * that a dropped setting took effect.
 */
export const unsupported = (name: string, nothing: string | boolean | null, feature: string) =>
  z
    .unknown()
    .check((context) => {
      const { value } = context
      if (value === undefined || value === null || value === nothing) return
      context.issues.push({
        code: "custom",
        message: `${name} must be ${JSON.stringify(nothing)}; ${feature} are not supported`,
        input: value,
        params: wholeSentence,
      })
    })
    .optional()
    .transform(() => undefined)
