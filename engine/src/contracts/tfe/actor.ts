import { z } from "zod"
import { type Actor, actorKinds } from "../../workspaces/workspace/workspace.ts"

/** Relationship with the actor of a change or a lock, who may be of several types. */
export const actor = z.codec(
  z.object({ data: z.object({ type: z.enum(actorKinds), id: z.string() }).nullable() }),
  z.custom<Actor | null>(),
  {
    decode: ({ data }) => data && { kind: data.type, id: data.id },
    encode: (by) => ({ data: by && { type: by.kind, id: by.id } }),
  },
)

/**
 * Relationship with the author of a resource. Teams and organizations act as their accounts, which are users with the same id
 * (`is-service-account`): go-tfe decodes no other type (docs/compatibility.md, "Runs").
 */
export const author = z.codec(
  z.object({ data: z.object({ type: z.enum(["users", "runs"]), id: z.string() }).nullable() }),
  z.custom<Actor | null>(),
  {
    decode: ({ data }) => data && { kind: data.type === "runs" ? "runs" : accountKind(data.id), id: data.id },
    encode: (by) => ({ data: by && { type: by.kind === "runs" ? ("runs" as const) : ("users" as const), id: by.id } }),
  },
)

const accountKind = (id: string): Actor["kind"] => {
  if (id.startsWith("team-")) return "teams"
  return id.startsWith("org-") ? "organizations" : "users"
}
