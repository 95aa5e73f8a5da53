// Delivers events to followers. Each organization has one reader in a process, however many clients follow it. Commits of this process wake
// the reader, and it polls for commits of others. It finds the followers of an event by an index of their filters. The read that finds the
// events also checks which followers may see them.
import type { Caller } from "../../core/caller.ts"
import { EngineError, isEngineError, unauthenticated } from "../../core/errors.ts"
import { logFailure } from "../../core/failure-log.ts"
import type { OrganizationId, TeamId, WorkspaceId } from "../../core/ids.ts"
import type { Runtime } from "../../core/runtime.ts"
import type { Storage } from "../../core/storage.ts"
import { type Instant, secondMs } from "../../core/time.ts"
import type { Timers } from "../../core/timers.ts"
import { type IdentityRepository, type ResolvedToken, resolveToken } from "../../organizations/authentication.ts"
import type { OrganizationRepository } from "../../organizations/organization.ts"
import type { AccessRepository } from "../../workspaces/access/access-repository.ts"
import { feedVisibilityOf } from "./feed-visibility.ts"
import { formatCursor } from "./cursor.ts"
import { type EventPosition, type EventRepository, isBefore, type StoredEvent } from "./event.ts"
import { type EventFilter, fits, keysOf, wantedKeys } from "./event-filter.ts"
import type { EventView, FeedItem } from "./events.ts"
import type { FeedMetrics } from "./feed-metrics.ts"

export interface FeedRepositories {
  readonly access: AccessRepository
  readonly events: EventRepository
  readonly identity: IdentityRepository
  readonly organizations: OrganizationRepository
}

export interface FeedContext {
  readonly storage: Storage<FeedRepositories>
  readonly runtime: Pick<Runtime, "clock" | "log">
  readonly timers: Timers
  readonly metrics: FeedMetrics
  /** Interval at which a reader polls for commits of other processes. */
  readonly pollMs: number
}

/** Events of one read. */
const eventsPerLook = 500
/** Commits seldom come alone. Those within this time are read together. */
const gatherMs = 5
/** Items that are queued for a slow follower before it is dropped. */
const maxQueue = 2_000
/** Interval at which a follower without events gets its cursor. */
const heartbeatMs = 15 * secondMs

export class EventFeed {
  readonly #context: FeedContext
  readonly #readers = new Map<OrganizationId, Reader>()
  readonly #followers = new Set<Follower>()

  constructor(context: FeedContext) {
    this.#context = context
  }

  /** Wakes the readers of organizations that have new events. */
  wake(organizationIds: ReadonlySet<OrganizationId>): void {
    for (const id of organizationIds) this.#readers.get(id)?.wake()
  }

  /** Ends all followers without an error, so that their clients continue elsewhere. */
  end(): void {
    for (const follower of this.#followers) follower.end()
  }

  follow(follower: Follower): AsyncIterableIterator<FeedItem> {
    const { organization } = follower
    this.#followers.add(follower)
    this.#context.metrics.followers.add(1)
    const leave = () => {
      if (!this.#followers.delete(follower)) return
      follower.end()
      this.#context.metrics.followers.add(-1)
      const reader = this.#readers.get(organization.id)
      reader?.part(follower)
      if (reader?.isIdle === true) {
        reader.stop()
        this.#readers.delete(organization.id)
      }
    }
    const items = this.#items(follower)
    return {
      async next() {
        try {
          const item = await items.next()
          if (item.done === true) leave()
          return item
        } catch (error) {
          leave()
          throw error
        }
      },
      async return() {
        leave()
        await items.return(undefined)
        return { done: true, value: undefined }
      },
      [Symbol.asyncIterator]() {
        return this
      },
    }
  }

  /** Yields stored events until none are left, then events as they happen. */
  async *#items(follower: Follower): AsyncGenerator<FeedItem, void, undefined> {
    const { storage } = this.#context
    const { id } = follower.organization
    yield { cursor: formatCursor(follower.position) }
    for (;;) {
      const { events, end } = await storage.read(async (repositories) => {
        if (!(await follower.stand(tokensOf(repositories), this.#context.runtime.clock.now()))) throw unauthenticated()
        const found = await repositories.events.after(id, follower.position, eventsPerLook)
        return {
          events: await visibleTo(repositories, follower, found),
          end: await endOf(repositories, follower.position, found),
        }
      })
      for (const event of events) yield { event: follower.view(event) }
      this.#context.metrics.delivered.add(events.length)
      follower.position = end.position
      if (follower.isOver) break
      if (end.isReached && this.#join(follower)) break
    }
    yield* follower.items()
  }

  /** Returns false if the reader is past the follower, which must then read stored events again. */
  #join(follower: Follower): boolean {
    const { id } = follower.organization
    const known = this.#readers.get(id)
    if (known !== undefined) return known.join(follower)
    const reader = new Reader(id, follower.position, this.#context)
    this.#readers.set(id, reader)
    return reader.join(follower)
  }
}

/** Returns where the next read begins. The end of the readable events can move back for a moment, and the position must not follow it. */
async function endOf(
  { events }: Pick<FeedRepositories, "events">,
  start: EventPosition,
  found: readonly StoredEvent[],
): Promise<{ readonly position: EventPosition; readonly isReached: boolean }> {
  const read = found.at(-1)?.position ?? start
  if (found.length === eventsPerLook) return { position: read, isReached: false }
  const end = await events.end()
  return { position: isBefore(end, read) ? read : end, isReached: true }
}

/** Client that follows the events of one organization. */
export class Follower {
  readonly organization: { readonly id: OrganizationId; readonly name: string }
  readonly filter: EventFilter
  position: EventPosition
  #caller: Caller
  #expiresAt: Instant | null = null
  /** Time at which the last item was queued. */
  lastSeenAt: Instant
  readonly #queue: FeedItem[] = []
  #over: { readonly error: EngineError | undefined } | undefined
  #arrived = () => {}

  constructor(
    caller: Caller,
    organization: { readonly id: OrganizationId; readonly name: string },
    filter: EventFilter,
    position: EventPosition,
    now: Instant,
  ) {
    this.#caller = caller
    this.organization = organization
    this.filter = filter
    this.position = position
    this.lastSeenAt = now
  }

  get caller(): Caller {
    return this.#caller
  }

  get isOver(): boolean {
    return this.#over !== undefined
  }

  get queuedCount(): number {
    return this.#queue.length
  }

  hasExpired(now: Instant): boolean {
    return this.#expiresAt !== null && this.#expiresAt <= now
  }

  /** Updates the caller from its token. Returns false if the token is no longer valid or the caller sees nothing of the organization. */
  async stand(tokens: Tokens, now: Instant): Promise<boolean> {
    const tokenId = "tokenId" in this.#caller ? this.#caller.tokenId : undefined
    if (tokenId === undefined) return true
    const resolved = await tokens(tokenId)
    if (resolved === undefined) return false
    this.#caller = resolved.caller
    this.#expiresAt = resolved.expiresAt
    return !this.hasExpired(now) && feedVisibilityOf(this.#caller, this.organization.id).sees !== "nothing"
  }

  view(event: StoredEvent): EventView {
    return viewOf(event, this.organization.name)
  }

  /** Returns false if the queue is full. */
  push(item: FeedItem, now: Instant): boolean {
    if (this.#queue.length >= maxQueue) return false
    this.#queue.push(item)
    this.lastSeenAt = now
    this.#arrived()
    return true
  }

  end(error?: EngineError): void {
    this.#over ??= { error }
    this.#arrived()
  }

  /** Yields the queued items. The end of the follower takes effect after them. */
  async *items(): AsyncGenerator<FeedItem, void, undefined> {
    for (;;) {
      const some = this.#queue.splice(0)
      yield* some
      if (some.length > 0) continue
      if (this.#over !== undefined) {
        if (this.#over.error !== undefined) throw this.#over.error
        return
      }
      await new Promise<void>((resolve) => void (this.#arrived = resolve))
      this.#arrived = () => {}
    }
  }
}

class Reader {
  readonly #organizationId: OrganizationId
  readonly #context: FeedContext
  readonly #followers = new Set<Follower>()
  /** Followers that joined during the current read, which did not look for their events. */
  readonly #newcomers = new Set<Follower>()
  /** Followers by the keys of one member of their filter. */
  readonly #index = new Map<string, Set<Follower>>()
  #position: EventPosition
  #identityVersion: number | undefined
  #cancel = () => {}
  #looking = false
  /** True while a read is scheduled at the end of the gathering time. */
  #gathering = false
  #again = false
  #stopped = false

  constructor(organizationId: OrganizationId, position: EventPosition, context: FeedContext) {
    this.#organizationId = organizationId
    this.#position = position
    this.#context = context
    this.#schedule(gatherMs)
  }

  get isIdle(): boolean {
    return this.#followers.size === 0
  }

  join(follower: Follower): boolean {
    if (isBefore(follower.position, this.#position)) return false
    this.#followers.add(follower)
    if (this.#looking) this.#newcomers.add(follower)
    for (const key of wantedKeys(follower.filter)) {
      const wanting = this.#index.get(key) ?? new Set()
      this.#index.set(key, wanting.add(follower))
    }
    return true
  }

  part(follower: Follower): void {
    this.#followers.delete(follower)
    this.#newcomers.delete(follower)
    for (const key of wantedKeys(follower.filter)) {
      const wanting = this.#index.get(key)
      wanting?.delete(follower)
      if (wanting?.size === 0) this.#index.delete(key)
    }
  }

  wake(): void {
    if (this.#looking) this.#again = true
    else if (!this.#gathering) this.#gather()
  }

  stop(): void {
    this.#stopped = true
    this.#cancel()
  }

  /** Schedules a read. Further wakes do not postpone it. */
  #gather(): void {
    this.#gathering = true
    this.#schedule(gatherMs)
  }

  #schedule(delayMs: number): void {
    this.#cancel()
    if (this.#stopped) return
    this.#cancel = this.#context.timers.after(delayMs, () => void this.#look())
  }

  async #look(): Promise<void> {
    const { clock, log } = this.#context.runtime
    this.#looking = true
    this.#gathering = false
    this.#again = false
    let delayMs = this.#context.pollMs
    try {
      if (await this.#readOnce(clock.now())) delayMs = 0
    } catch (error) {
      // The next read starts at the same position.
      if (!isEngineError(error, "busy"))
        logFailure(log, "error", "events-not-read", { organizationId: this.#organizationId, error })
    }
    this.#looking = false
    if (this.#again) this.#gather()
    else this.#schedule(delayMs)
  }

  /** Reads and delivers events. Returns true if more can be read at once. */
  async #readOnce(now: Instant): Promise<boolean> {
    const known = this.#identityVersion
    const look = await this.#context.storage.read(async (repositories) => {
      const version = await repositories.identity.cacheVersion()
      const fallen = version === known ? [] : await fallenAmong(repositories, this.#followers, now)
      const events = await repositories.events.after(this.#organizationId, this.#position, eventsPerLook)
      const wanting = events.map((event) => ({ event, followers: this.#wanting(event) }))
      const visible = await seenAmong(repositories, wanting)
      return { version, fallen, visible, count: events.length, end: await endOf(repositories, this.#position, events) }
    })
    this.#identityVersion = look.version
    for (const follower of look.fallen) follower.end(unauthenticated())
    for (const { event, followers } of look.visible) {
      const [some] = followers
      if (some === undefined) continue
      const item = { event: some.view(event) }
      for (const follower of followers) this.#deliver(follower, item, event.position, now)
    }
    this.#context.metrics.read.add(look.count)
    this.#position = this.#placeAfter(look.end.position)
    this.#lookAfter(now)
    return !look.end.isReached || isBefore(this.#position, look.end.position)
  }

  /**
   * Returns the start of the next read. It begins at the newcomers, because this read may have passed events for them before they joined.
   */
  #placeAfter(end: EventPosition): EventPosition {
    let place = end
    for (const { position } of this.#newcomers) if (isBefore(position, place)) place = position
    this.#newcomers.clear()
    return place
  }

  #wanting(event: StoredEvent): Follower[] {
    const keys = keysOf(event)
    const found = new Set<Follower>()
    for (const key of keys) for (const follower of this.#index.get(key) ?? []) found.add(follower)
    return [...found].filter((follower) => fits(follower.filter, keys))
  }

  #deliver(follower: Follower, item: FeedItem, position: EventPosition, now: Instant): void {
    if (follower.isOver || !isBefore(follower.position, position)) return
    follower.position = position
    if (follower.push(item, now)) {
      this.#context.metrics.delivered.add(1)
      return
    }
    this.#context.metrics.dropped.add(1)
    follower.end(new EngineError("busy", "The client reads events too slowly; continue from the last one."))
  }

  /** Ends followers whose token has expired. Sends the cursor to followers that have had no item for some time. */
  #lookAfter(now: Instant): void {
    const beat = { cursor: formatCursor(this.#position) }
    for (const follower of this.#followers) {
      if (follower.hasExpired(now)) follower.end(unauthenticated())
      if (follower.isOver || follower.queuedCount > 0 || now - follower.lastSeenAt < heartbeatMs) continue
      // A follower that joined ahead of the reader has a later cursor.
      if (!isBefore(this.#position, follower.position)) follower.push(beat, now)
    }
  }
}

/** Resolves a token id to its caller. Returns undefined if the token or its owner was deleted. */
type Tokens = (tokenId: string) => Promise<ResolvedToken | undefined>

/** Returns a resolver that looks up each token once, however many followers use it. */
function tokensOf({ identity }: Pick<FeedRepositories, "identity">): Tokens {
  const known = new Map<string, ResolvedToken | undefined>()
  return async (tokenId) => {
    if (!known.has(tokenId)) {
      const record = await identity.findTokenById(tokenId)
      known.set(tokenId, record && (await resolveToken(identity, record)))
    }
    return known.get(tokenId)
  }
}

/** Returns the followers whose token is no longer valid. */
async function fallenAmong(
  repositories: FeedRepositories,
  followers: ReadonlySet<Follower>,
  now: Instant,
): Promise<readonly Follower[]> {
  const fallen: Follower[] = []
  const tokens = tokensOf(repositories)
  for (const follower of followers) if (!(await follower.stand(tokens, now))) fallen.push(follower)
  return fallen
}

interface FeedRequest {
  readonly event: StoredEvent
  readonly followers: readonly Follower[]
}

/** Removes the followers that may not see an event. */
async function seenAmong(
  repositories: FeedRepositories,
  wanted: readonly FeedRequest[],
): Promise<readonly FeedRequest[]> {
  const workspaces = new Set<WorkspaceId>()
  const teams = new Set<TeamId>()
  for (const { event, followers } of wanted)
    for (const { caller, organization } of followers) {
      const { sees, teams: own } = feedVisibilityOf(caller, organization.id)
      if (sees !== "granted" || event.workspace === null) continue
      workspaces.add(event.workspace.id)
      for (const team of own) teams.add(team)
    }
  const grants = teams.size === 0 ? undefined : await repositories.access.grantsOn([...workspaces], [...teams])
  const teamsOn = new Map(
    Array.from(grants ?? [], ([id, grantsOfOne]) => [id, new Set(grantsOfOne.map(({ teamId }) => teamId))] as const),
  )
  const maySee = ({ caller, organization }: Follower, event: StoredEvent): boolean => {
    const { sees, teams: own } = feedVisibilityOf(caller, organization.id)
    if (sees === "everything") return true
    if (sees === "nothing") return false
    // Members of the organization see its tag events. Project events need access to the whole organization.
    if (event.workspace === null) return event.kind === "tag.created" || event.kind === "tag.deleted"
    const { readers, workspace } = event
    return own.some((team) => readers?.includes(team) === true || teamsOn.get(workspace.id)?.has(team) === true)
  }
  return wanted.map(({ event, followers }) => ({
    event,
    followers: followers.filter((follower) => maySee(follower, event)),
  }))
}

/** Returns the events that match the follower's filter and that it may see. */
export async function visibleTo(
  repositories: FeedRepositories,
  follower: Follower,
  events: readonly StoredEvent[],
): Promise<readonly StoredEvent[]> {
  const wanted = events.filter((event) => fits(follower.filter, keysOf(event)))
  const seen = await seenAmong(
    repositories,
    wanted.map((event) => ({ event, followers: [follower] })),
  )
  return seen.filter(({ followers }) => followers.length > 0).map(({ event }) => event)
}

export function viewOf(event: StoredEvent, organizationName: string): EventView {
  const { position, kind, at, workspace, tags, changed, subject, origin } = event
  const { actor, tokenId, requestId } = origin
  const id = formatCursor(position)
  return { id, kind, at, organizationName, workspace, tags, changed, subject, actor, tokenId, requestId }
}
