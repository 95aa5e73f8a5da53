// Policies and status members of kinds that keep something in an engine in step with their spec.
import { z } from "zod"

/** Returns the policy for an existing `thing` that the object did not create. */
export const adoptionPolicy = (thing: string) =>
  z
    .enum(["Never", "IfExists", "MustExist"])
    .default("Never")
    .describe(
      `Behavior if the engine already has the ${thing}. Never: the object stalls with NameTaken. IfExists: the ${thing} is taken over. MustExist: the ${thing} is taken over, and never created. Default: Never.`,
    )

export const driftPolicy = (thing: string) =>
  z
    .enum(["Enforce", "Report"])
    .default("Enforce")
    .describe(
      `Behavior if the ${thing} differs in the engine. Enforce: differences are reverted. Report: differences are only listed in status.drift. Default: Enforce.`,
    )

/** Differences between the spec and the engine, as the status lists them. */
export const driftStatus = z
  .array(
    z.object({
      field: z.string().max(64).describe("Field of the spec that differs."),
      desired: z.string().max(4_096).optional().describe("Value in the spec, as JSON. Long values are truncated."),
      observed: z.string().max(4_096).optional().describe("Value in the engine, as JSON. Long values are truncated."),
    }),
  )
  .max(100)
  .optional()
  .describe("Differences between the spec and the engine. Present with driftPolicy Report.")
  .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["field"] })

/** Member of the status that records a creation before it begins. */
export const createPending = z
  .object({ at: z.string().max(64).describe("Start of the creation.").meta({ format: "date-time" }) })
  .optional()
  .describe("Creation in progress. After a crash, the operator recognizes what it created by it.")
