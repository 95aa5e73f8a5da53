import { unavailable } from "../../core/errors.ts"
import { type Actor, actorKinds } from "../../workspaces/workspace.ts"

/** Who did something; null where nobody is known. */
export function decodeActor(identifier: { readonly type: string; readonly id: string } | null): Actor | null {
  if (identifier === null) return null
  const kind = actorKinds.find((name) => name === identifier.type)
  if (kind === undefined)
    throw unavailable(`The server's answer cannot be read: ${identifier.type} are not among those who act.`)
  return { kind, id: identifier.id }
}
