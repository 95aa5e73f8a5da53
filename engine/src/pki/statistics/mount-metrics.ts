// Figures for operators of CAs: expiry of issuers, age of revocation lists, numbers of certificates.
import type { Attributes, Meter } from "@opentelemetry/api"
import { logFailure } from "../../core/failure-log.ts"
import type { PendingEnrolments } from "../enrolments/enrolment-repository.ts"
import type { IssuerId } from "../../core/ids.ts"
import type { Log } from "../../core/runtime.ts"
import { type Instant, secondMs } from "../../core/time.ts"
import { nextTurn, type Timers } from "../../core/timers.ts"
import { type CrlListId, crlListOf } from "../crl/crl-list.ts"
import type { CrlKind } from "../crl/crl-publisher.ts"
import type { KeyedCrlState, PublishedCrl } from "../crl/crl-repository.ts"
import type { ParsedIssuer } from "../issuers/parsed-issuer.ts"
import type { MountSnapshot } from "../mounts/mount-snapshot.ts"
import type { Mount, MountId } from "../mounts/mount.ts"
import type { PkiContext } from "../pki-context.ts"
import { expiryWindows, type MountStatistics } from "./mount-statistics.ts"

export interface IssuerFigures {
  /** Path of the mount. */
  readonly mount: string
  readonly issuer: IssuerId
  readonly name: string | null
  readonly notAfter: Instant
  /** True if the mount has the key of the issuer. */
  readonly hasKey: boolean
}

export interface ListFigures {
  readonly mount: string
  /** First of the issuers that share the list. */
  readonly issuer: IssuerId
  readonly kind: CrlKind
  /** Earliest `thisUpdate` of all shards; `nextUpdate` likewise. */
  readonly thisUpdate: Instant
  readonly nextUpdate: Instant
  /** Number of entries in all shards. */
  readonly entryCount: number
}

export interface AuthorityFigures {
  readonly issuers: readonly IssuerFigures[]
  readonly lists: readonly ListFigures[]
  /** Mounts whose certificates were counted. */
  readonly mounts: readonly { readonly mount: string; readonly statistics: MountStatistics }[]
  /** Mounts with pending enrolments. */
  readonly enrolments: readonly (PendingEnrolments & { readonly mount: string })[]
  /** Number of issuers, lists and mounts that were left out because of the limit. Roles are counted per mount. */
  readonly leftOut: number
}

/** Maximum number of figures of each kind, so that the metrics database can store them even with many mounts. */
const maxFigures = 1_000
/** Time for which the figures are cached. */
const cacheMs = 15 * secondMs
const readTimeoutMs = 2 * secondMs

type Context = Pick<PkiContext, "storage" | "mountDirectory" | "mountSnapshots"> & {
  readonly runtime: Pick<PkiContext["runtime"], "clock"> & { readonly log: Log }
  readonly timers: Timers
}

const none: AuthorityFigures = { issuers: [], lists: [], mounts: [], enrolments: [], leftOut: 0 }

/** Caches the figures. Concurrent calls share one read. */
export class FigureBoard {
  readonly #context: Context
  #cached: { readonly at: Instant; readonly figures: AuthorityFigures } | undefined
  #pending: Promise<AuthorityFigures> | undefined
  /** Facts about mounts, cached by version, so that a scrape does not load unchanged mounts again. */
  #facts: ReadonlyMap<MountId, MountFacts> = new Map()

  constructor(context: Context) {
    this.#context = context
  }

  /** Returns the figures. If the database does not respond in time, returns the last known ones, or none. */
  async current(): Promise<AuthorityFigures> {
    const { runtime, timers } = this.#context
    const cached = this.#cached
    if (cached !== undefined && Math.abs(runtime.clock.now() - cached.at) < cacheMs) return cached.figures
    this.#pending ??= this.read().finally(() => (this.#pending = undefined))
    let cancel = () => {}
    const timeout = new Promise<undefined>((resolve) => {
      cancel = timers.after(readTimeoutMs, () => resolve(undefined))
    })
    try {
      return (await Promise.race([this.#pending, timeout])) ?? cached?.figures ?? none
    } catch (error) {
      logFailure(runtime.log, "warn", "figures-not-read", { error })
      return cached?.figures ?? none
    } finally {
      cancel()
    }
  }

  /** Reads the figures from the database. Throws if that fails. */
  async read(): Promise<AuthorityFigures> {
    const { mountDirectory, runtime } = this.#context
    const at = runtime.clock.now()
    const { mounts } = await mountDirectory.current()
    const issuers: IssuerFigures[] = []
    const lists: ListFigures[] = []
    const counted: { readonly mount: string; readonly statistics: MountStatistics }[] = []
    const enrolments: (PendingEnrolments & { readonly mount: string })[] = []
    const facts = new Map<MountId, MountFacts>()
    let rolesLeft = maxFigures
    for (const mount of mounts.slice(0, maxFigures)) {
      const { known, states, statistics, pending } = await this.#readMount(mount, at)
      facts.set(mount.id, known)
      issuers.push(...known.issuers.map(({ list: _list, ...issuer }) => issuer))
      lists.push(...listsOf(known, states, at))
      if (statistics !== undefined) {
        const shown = withRoles(statistics, rolesLeft)
        rolesLeft -= shown.soonestOfRoles.length
        counted.push({ mount: mount.path, statistics: shown })
      }
      if (pending !== undefined) enrolments.push({ mount: mount.path, ...pending })
      await nextTurn()
    }
    const figures = {
      issuers: issuers.slice(0, maxFigures),
      lists: lists.slice(0, maxFigures),
      mounts: counted,
      enrolments,
      leftOut: [issuers, lists, mounts].reduce((sum, { length }) => sum + Math.max(0, length - maxFigures), 0),
    }
    this.#cached = { at, figures }
    this.#facts = facts
    return figures
  }

  #readMount(mount: Mount, now: Instant) {
    const { storage, mountSnapshots } = this.#context
    return storage.read(async (repositories) => {
      const known = this.#facts.get(mount.id)
      const isSame = known?.mount === mount && known.version === (await repositories.authorities.cacheVersion(mount.id))
      return {
        known: isSame ? known : factsOf(await mountSnapshots.within(repositories, mount)),
        states: await repositories.crls.states(mount.id),
        statistics: await repositories.statistics.find(mount.id),
        pending: await repositories.enrolments.pending(mount.id, now),
      }
    })
  }
}

interface MountFacts {
  readonly mount: Mount
  readonly version: number
  readonly issuers: readonly (IssuerFigures & { readonly list: CrlListId })[]
  readonly enableDelta: boolean
}

const factsOf = ({ mount, version, issuers, settings }: MountSnapshot): MountFacts => ({
  mount,
  version,
  issuers: issuers.map((issuer) => ({ ...figuresOf(mount.path, issuer), list: crlListOf(issuer) })),
  enableDelta: settings.crl.enableDelta,
})

function withRoles(statistics: MountStatistics, maxRoles: number): MountStatistics {
  const soonestOfRoles = statistics.soonestOfRoles.slice(0, maxRoles)
  const rolesLeftOut = statistics.rolesLeftOut + statistics.soonestOfRoles.length - soonestOfRoles.length
  return { ...statistics, soonestOfRoles, rolesLeftOut }
}

const figuresOf = (mount: string, { id, name, keyId, parsed }: ParsedIssuer): IssuerFigures => ({
  mount,
  issuer: id,
  name,
  notAfter: parsed.notAfter,
  hasKey: keyId !== null,
})

/** Returns the figures of lists that an issuer still signs. */
function listsOf(
  { mount, issuers, enableDelta }: MountFacts,
  states: readonly KeyedCrlState[],
  now: Instant,
): ListFigures[] {
  const signing = issuers.filter(({ hasKey, notAfter }) => hasKey && notAfter >= now)
  const byList = Map.groupBy(signing, ({ list }) => list)
  const kinds: readonly CrlKind[] = enableDelta ? ["complete", "delta"] : ["complete"]
  return [...Map.groupBy(states, ({ key }) => key.list)].flatMap(([list, ofList]) => {
    const [first] = byList.get(list) ?? []
    if (first === undefined) return []
    return kinds.flatMap((kind) => {
      const published = ofList.flatMap(({ key, state }) =>
        state[kind] === undefined ? [] : [{ key, crl: state[kind] }],
      )
      return published.length === 0 ? [] : [{ mount: mount.path, issuer: first.issuer, kind, ...together(published) }]
    })
  })
}

/**
 * Combines the shards of a list, which may exist for several shard counts. Without the whole list, the finest division has all
 * entries.
 */
function together(published: readonly { readonly key: KeyedCrlState["key"]; readonly crl: PublishedCrl }[]) {
  const whole = published.filter(({ key }) => key.shard.count === 1)
  const finest = Math.max(...published.map(({ key }) => key.shard.count))
  const counted = whole.length > 0 ? whole : published.filter(({ key }) => key.shard.count === finest)
  return {
    thisUpdate: Math.min(...published.map(({ crl }) => crl.thisUpdate)),
    nextUpdate: Math.min(...published.map(({ crl }) => crl.nextUpdate)),
    entryCount: counted.reduce((sum, { crl }) => sum + crl.entryCount, 0),
  }
}

// Metrics of CAs. Labels are names that administrators chose, never values of certificates, and the number of each is limited
// (`maxFigures`).

type Samples = readonly (readonly [labels: Attributes, value: number])[]

/** Registers the metrics. `figures` is called at each scrape. */
export function registerAuthorities(meter: Meter, figures: () => Promise<AuthorityFigures>): void {
  const gauge = (name: string, description: string, samples: (figures: AuthorityFigures) => Samples) =>
    meter.createObservableGauge(name, { description }).addCallback(async (result) => {
      for (const [labels, value] of samples(await figures())) result.observe(value, labels)
    })

  gauge(
    "chancery_pki_issuer_expiration_timestamp_seconds",
    "Expiry of an issuer's certificate, in seconds since the Unix epoch, by mount and issuer. `signs` is true if the mount has its key.",
    ({ issuers }) =>
      issuers.map(({ mount, issuer, name, hasKey, notAfter }) => [
        { mount, issuer, issuer_name: name ?? "", signs: String(hasKey) },
        notAfter / secondMs,
      ]),
  )
  gauge(
    "chancery_pki_crl_this_update_timestamp_seconds",
    "thisUpdate of a revocation list, in seconds since the Unix epoch, by mount, issuer and kind (complete, delta). The earliest of its shards.",
    ({ lists }) => lists.map(({ mount, issuer, kind, thisUpdate }) => [{ mount, issuer, kind }, thisUpdate / secondMs]),
  )
  gauge(
    "chancery_pki_crl_next_update_timestamp_seconds",
    "nextUpdate of a revocation list, in seconds since the Unix epoch, by mount, issuer and kind (complete, delta). The earliest of its shards.",
    ({ lists }) => lists.map(({ mount, issuer, kind, nextUpdate }) => [{ mount, issuer, kind }, nextUpdate / secondMs]),
  )
  gauge(
    "chancery_pki_crl_entries",
    "Certificates on a revocation list, by mount, issuer and kind (complete, delta).",
    ({ lists }) => lists.map(({ mount, issuer, kind, entryCount }) => [{ mount, issuer, kind }, entryCount]),
  )
  gauge(
    "chancery_pki_certificates",
    "Stored certificates at the last count, by mount and status (valid, expired, revoked).",
    ({ mounts }) =>
      mounts.flatMap(({ mount, statistics }) =>
        (["valid", "expired", "revoked"] as const).map((status) => [{ mount, status }, statistics[status]] as const),
      ),
  )
  gauge(
    "chancery_pki_certificates_expiring",
    "Valid certificates that expire within a period after the last count, by mount and period (24h, 7d, 30d).",
    ({ mounts }) =>
      mounts.flatMap(({ mount, statistics }) =>
        expiryWindows.map(
          ({ name }, index) => [{ mount, within: name }, statistics.expiringWithin[index] ?? 0] as const,
        ),
      ),
  )
  gauge(
    "chancery_pki_role_expiration_timestamp_seconds",
    "Earliest expiry of a valid certificate of a role, in seconds since the Unix epoch, by mount and role.",
    ({ mounts }) =>
      mounts.flatMap(({ mount, statistics }) =>
        statistics.soonestOfRoles.map(({ role, notAfter }) => [{ mount, role }, notAfter / secondMs] as const),
      ),
  )
  gauge(
    "chancery_pki_counted_timestamp_seconds",
    "Time of the last count of a mount's certificates, in seconds since the Unix epoch, by mount.",
    ({ mounts }) => mounts.map(({ mount, statistics }) => [{ mount }, statistics.countedAt / secondMs]),
  )
  gauge(
    "chancery_pki_enrolments_pending",
    "Enrolments that wait for a decision, by mount. Mounts without any have no series.",
    ({ enrolments }) => enrolments.map(({ mount, count }) => [{ mount }, count]),
  )
  gauge(
    "chancery_pki_enrolment_oldest_timestamp_seconds",
    "Time of the oldest request that waits for a decision, in seconds since the Unix epoch, by mount.",
    ({ enrolments }) => enrolments.map(({ mount, oldestAt }) => [{ mount }, oldestAt / secondMs]),
  )
  gauge(
    "chancery_pki_series_left_out",
    "Issuers, revocation lists, roles and mounts without series in the metrics above, because there are too many.",
    ({ leftOut, mounts }) => [[{}, mounts.reduce((sum, { statistics }) => sum + statistics.rolesLeftOut, leftOut)]],
  )
}
