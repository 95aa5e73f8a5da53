// The one port callers see. Two implementations: embedded (over storage) and remote (over HTTP).
import type { Caller } from "./core/caller.ts"
import type { Workspaces } from "./workspaces/workspaces.ts"

export interface Engine extends AsyncDisposable {
  readonly workspaces: Workspaces
}

/** What the HTTP server needs on top; only the embedded engine is one. */
export interface ServedEngine extends Engine {
  /** Throws `EngineError("unauthenticated")` unless the token is known, unexpired and has rights on this API. */
  authenticate(token: string): Promise<Caller>
  /** The same engine, acting for a caller. */
  as(caller: Caller): Engine
  /** Resolves when the store answers. */
  ready(): Promise<void>
}
