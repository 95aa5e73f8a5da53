import type { Caller } from "../core/caller.ts"
import type { EventActor, EventOrigin } from "./event.ts"

export function originOf(caller: Caller, requestId?: string): EventOrigin {
  const tokenId = "tokenId" in caller ? (caller.tokenId ?? null) : null
  return { actor: actorOf(caller), tokenId, requestId: requestId ?? null }
}

function actorOf(caller: Caller): EventActor | null {
  switch (caller.kind) {
    case "user":
      return { type: "users", id: caller.userId, ...named(caller.username) }
    case "team":
      return { type: "teams", id: caller.teamId, ...named(caller.teamName) }
    case "organization":
      return { type: "organizations", id: caller.organizationId }
    case "agent":
      return { type: "agent-pools", id: caller.agentPoolId }
    case "service":
    case "anonymous":
      return null
    default:
      return caller satisfies never
  }
}

const named = (name: string | undefined) => (name === undefined ? {} : { name })
