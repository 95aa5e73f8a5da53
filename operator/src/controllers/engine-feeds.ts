// Follows what happens in the engines, so that what somebody else changes is looked at when it changes and not with the next
// poll. Polls go on: a feed may be turned off, may not be seen by a token, or may be cut.
import type { Engine, EventKind } from "@chancery/engine"
import type { Connected } from "./engine-connections.ts"
import type { OperatorRuntime } from "../runtime.ts"

export interface EngineFeedsOptions {
  readonly runtime: OperatorRuntime
  /** What the operator's own requests are called begins with this: it knows what it does. */
  readonly ownRequests: string
  /** Somebody else has changed the workspace. The answer says whether anybody minds. */
  readonly changed: (workspaceId: string) => boolean
}

/** Of what no object says anything there is no need to hear. */
const kinds = [
  "workspace.*",
  "state.finalized",
  "state.updated",
  "tag-bindings.updated",
  "remote-state-consumers.updated",
  "retention-policy.updated",
  "variable.*",
]

/** One that was refused, or has come to its end, is asked for again when somebody looks after so long. */
const restMs = 300_000

export class EngineFeeds {
  readonly #options: EngineFeedsOptions
  readonly #ending = new AbortController()
  /** By engine and organization: until when nothing is to be asked for. An engine that is replaced takes its feeds along. */
  readonly #feeds = new WeakMap<Engine, Map<string, { restsUntil: number }>>()

  /** By workspace, until somebody looks. */
  readonly #noticed = new Map<string, Set<EventKind>>()

  constructor(options: EngineFeedsOptions) {
    this.#options = options
  }

  /** To be called at each look; begins to follow unless that goes on already. */
  need({ engine, url }: Connected, organization: string): void {
    // Whoever asks an engine in this process is nobody whom its events could name.
    if (url === undefined || this.#ending.signal.aborted) return
    const feeds = this.#feeds.get(engine) ?? new Map<string, { restsUntil: number }>()
    this.#feeds.set(engine, feeds)
    const present = feeds.get(organization)
    if (present !== undefined && present.restsUntil > this.#options.runtime.stopwatch()) return
    const feed = { restsUntil: Number.POSITIVE_INFINITY }
    feeds.set(organization, feed)
    void this.#follow(engine, organization).finally(() => {
      feed.restsUntil = this.#options.runtime.stopwatch() + restMs
    })
  }

  /** What others have done to the workspace since this was asked last. */
  taken(workspaceId: string): ReadonlySet<EventKind> {
    const noticed = this.#noticed.get(workspaceId) ?? new Set()
    this.#noticed.delete(workspaceId)
    return noticed
  }

  stop(): void {
    this.#ending.abort()
  }

  async #follow(engine: Engine, organization: string): Promise<void> {
    const { runtime, ownRequests } = this.#options
    const { signal } = this.#ending
    try {
      for await (const { workspace, kind, requestId } of await engine.events.follow(
        organization,
        { kinds },
        { signal },
      )) {
        if (workspace !== null && requestId?.startsWith(ownRequests) !== true) this.#notice(workspace.id, kind)
      }
    } catch (error) {
      if (!signal.aborted) runtime.log.info("a feed has ended, polls go on", { organization, error: String(error) })
    }
  }

  #notice(workspaceId: string, kind: EventKind): void {
    const noticed = this.#noticed.get(workspaceId) ?? new Set()
    this.#noticed.set(workspaceId, noticed.add(kind))
    if (!this.#options.changed(workspaceId)) this.#noticed.delete(workspaceId)
  }
}
