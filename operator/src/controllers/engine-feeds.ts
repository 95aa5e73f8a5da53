// Follows event feeds of engines, so that changes by others cause a reconciliation at once. Polls continue, because a feed may be disabled,
// inaccessible to the token, or interrupted.
import type { Engine, EventKind } from "@chancery/engine"
import type { Connected } from "./engine-connections.ts"
import type { OperatorRuntime } from "../runtime.ts"

export interface EngineFeedsOptions {
  readonly runtime: OperatorRuntime
  /** Prefix of the operator's own request ids. Events of these requests are ignored. */
  readonly ownRequests: string
  /** Called after another client changed the workspace. Returns whether an object manages it. */
  readonly changed: (workspaceId: string) => boolean
}

/** Only events that concern fields of Workspace objects. */
const kinds = [
  "workspace.*",
  "state.finalized",
  "state.updated",
  "tag-bindings.updated",
  "remote-state-consumers.updated",
  "retention-policy.updated",
  "variable.*",
]

/** Pause after a feed was rejected or ended. The next reconciliation after it starts the feed again. */
const restMs = 300_000

export class EngineFeeds {
  readonly #options: EngineFeedsOptions
  readonly #ending = new AbortController()
  /** By engine and organization, the time before which the feed is not started again. The feeds of a replaced engine disappear with it. */
  readonly #feeds = new WeakMap<Engine, Map<string, { restsUntil: number }>>()

  /** Events by workspace, until a reconciliation takes them. */
  readonly #noticed = new Map<string, Set<EventKind>>()

  constructor(options: EngineFeedsOptions) {
    this.#options = options
  }

  /** Starts the feed unless it is running. Call at each reconciliation. */
  need({ engine, url }: Connected, organization: string): void {
    // Events of an engine in this process have no request ids of the operator, so its own changes cannot be ignored.
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

  /** Returns the kinds of events on the workspace since the last call, and forgets them. */
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
