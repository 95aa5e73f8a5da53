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
