// Brings events to those who follow. Each organization has one reader in a process, however many follow it: it is woken by commits
// of this process, looks by itself for those of others, and finds the followers of an event by what their filters name. What a
// follower may see is asked of the store in the look that found the events.
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
  /** How often a reader looks for what other processes have committed. */
  readonly pollMs: number
}

/** In one look. */
const eventsPerLook = 500
/** A commit seldom comes alone; those of this time are looked at together. */
const gatherMs = 5
/** Of a follower that does not take them. */
const queueMaximum = 2_000
/** So often a follower who gets nothing hears where it is. */
const heartbeatMs = 15 * secondMs

export class EventFeed {
  readonly #context: FeedContext
  readonly #readers = new Map<OrganizationId, Reader>()
  readonly #followers = new Set<Follower>()

  constructor(context: FeedContext) {
    this.#context = context
  }

  /** There is something to read of these. */
  wake(organizationIds: ReadonlySet<OrganizationId>): void {
    for (const id of organizationIds) this.#readers.get(id)?.wake()
  }

  /** Everybody who follows is to go on elsewhere. */
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

  /** From the store until there is nothing more, then as it comes. */
  async *#items(follower: Follower): AsyncGenerator<FeedItem, void, undefined> {
    const { storage } = this.#context
    const { id } = follower.organization
    yield { cursor: formatCursor(follower.position) }
    for (;;) {
      const { events, end } = await storage.read(async (stores) => {
        if (!(await follower.stand(tokensOf(stores), this.#context.runtime.clock.now()))) throw unauthenticated()
        const found = await stores.events.after(id, follower.position, eventsPerLook)
        return { events: await visibleTo(stores, follower, found), end: await endOf(stores, found) }
      })
      for (const event of events) yield { event: follower.view(event) }
      this.#context.metrics.delivered.add(events.length)
      follower.position = end.position
      if (follower.isOver) break
      if (end.isReached && this.#join(follower)) break
    }
    yield* follower.items()
  }

  /** False when the reader is past the follower, which then has to look again. */
  #join(follower: Follower): boolean {
    const { id } = follower.organization
    const known = this.#readers.get(id)
    if (known !== undefined) return known.join(follower)
    const reader = new Reader(id, follower.position, this.#context)
    this.#readers.set(id, reader)
    return reader.join(follower)
  }
}

async function endOf(
  { events }: Pick<FeedRepositories, "events">,
  found: readonly StoredEvent[],
): Promise<{ readonly position: EventPosition; readonly isReached: boolean }> {
  const last = found.at(-1)
  if (last !== undefined && found.length === eventsPerLook) return { position: last.position, isReached: false }
  const end = await events.end()
  return { position: last !== undefined && isBefore(end, last.position) ? last.position : end, isReached: true }
}

/** Somebody who follows one organization. */
export class Follower {
  readonly organization: { readonly id: OrganizationId; readonly name: string }
  readonly filter: EventFilter
  position: EventPosition
  #caller: Caller
  #expiresAt: Instant | null = null
  /** When something last left for it. */
  heardAt: Instant
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
    this.heardAt = now
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

  /** Whether its token still stands, and for whom. */
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

  /** False for one that takes too little. */
  push(item: FeedItem, now: Instant): boolean {
    if (this.#queue.length >= queueMaximum) return false
    this.#queue.push(item)
    this.heardAt = now
    this.#arrived()
    return true
  }

  end(error?: EngineError): void {
    this.#over ??= { error }
    this.#arrived()
  }

  /** What is in the queue is handed out before an end is told. */
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
  /** Those who have come while it looks, and for whom nothing is looked for yet. */
  readonly #newcomers = new Set<Follower>()
  /** Followers by one thing each that they want. */
  readonly #index = new Map<string, Set<Follower>>()
  #position: EventPosition
  #identityVersion: number | undefined
  #cancel = () => {}
  #looking = false
  /** A look is near. */
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

  /** Who is woken again and again looks all the same: further commits put nothing off. */
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
      // What was not read is read the next time.
      if (!isEngineError(error, "busy"))
        logFailure(log, "error", "events-not-read", { organizationId: this.#organizationId, error })
    }
    this.#looking = false
    if (this.#again) this.#gather()
    else this.#schedule(delayMs)
  }

  /** Whether there is more. */
  async #readOnce(now: Instant): Promise<boolean> {
    const known = this.#identityVersion
    const look = await this.#context.storage.read(async (stores) => {
      const version = await stores.identity.cacheVersion()
      const fallen = version === known ? [] : await fallenAmong(stores, this.#followers, now)
      const events = await stores.events.after(this.#organizationId, this.#position, eventsPerLook)
      const wanting = events.map((event) => ({ event, followers: this.#wanting(event) }))
      const visible = await seenAmong(stores, wanting)
      return { version, fallen, visible, count: events.length, end: await endOf(stores, events) }
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

  /** The next look begins where the newcomers are: this one may have found events that are theirs, too, before they came. */
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
    follower.end(new EngineError("busy", "Events come faster than they are taken; go on from the last one."))
  }

  /** Ends those whose time is over, and tells those who have heard nothing for long where they are. */
  #lookAfter(now: Instant): void {
    const beat = { cursor: formatCursor(this.#position) }
    for (const follower of this.#followers) {
      if (follower.hasExpired(now)) follower.end(unauthenticated())
      if (follower.isOver || follower.queuedCount > 0 || now - follower.heardAt < heartbeatMs) continue
      // One that has joined ahead of the reader knows better.
      if (!isBefore(this.#position, follower.position)) follower.push(beat, now)
    }
  }
}

/** What a token stands for at this moment; undefined where it is gone, or whoever it belongs to. */
type Tokens = (tokenId: string) => Promise<ResolvedToken | undefined>

/** Each is looked up once, however many follow with it. */
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

/** Those whose token does not stand any more. */
async function fallenAmong(
  stores: FeedRepositories,
  followers: ReadonlySet<Follower>,
  now: Instant,
): Promise<readonly Follower[]> {
  const fallen: Follower[] = []
  const tokens = tokensOf(stores)
  for (const follower of followers) if (!(await follower.stand(tokens, now))) fallen.push(follower)
  return fallen
}

interface Wanted {
  readonly event: StoredEvent
  readonly followers: readonly Follower[]
}

/** Leaves to each event those who may see it. */
async function seenAmong(stores: FeedRepositories, wanted: readonly Wanted[]): Promise<readonly Wanted[]> {
  const asked = new Set<WorkspaceId>()
  const teams = new Set<TeamId>()
  for (const { event, followers } of wanted)
    for (const { caller, organization } of followers) {
      const { sees, teams: own } = feedVisibilityOf(caller, organization.id)
      if (sees !== "granted" || event.workspace === null) continue
      asked.add(event.workspace.id)
      for (const team of own) teams.add(team)
    }
  const grants = teams.size === 0 ? undefined : await stores.access.grantsOn([...asked], [...teams])
  const teamsOn = new Map(
    Array.from(grants ?? [], ([id, given]) => [id, new Set(given.map(({ teamId }) => teamId))] as const),
  )
  const maySee = ({ caller, organization }: Follower, event: StoredEvent): boolean => {
    const { sees, teams: own } = feedVisibilityOf(caller, organization.id)
    if (sees === "everything") return true
    if (sees === "nothing") return false
    // Tags of the organization are shown to whoever belongs to it; projects to whoever sees all.
    if (event.workspace === null) return event.kind === "tag.created" || event.kind === "tag.deleted"
    const { readers, workspace } = event
    return own.some((team) => readers?.includes(team) === true || teamsOn.get(workspace.id)?.has(team) === true)
  }
  return wanted.map(({ event, followers }) => ({
    event,
    followers: followers.filter((follower) => maySee(follower, event)),
  }))
}

/** Those that it wants and may see. */
export async function visibleTo(
  stores: FeedRepositories,
  follower: Follower,
  events: readonly StoredEvent[],
): Promise<readonly StoredEvent[]> {
  const wanted = events.filter((event) => fits(follower.filter, keysOf(event)))
  const seen = await seenAmong(
    stores,
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
