// Options of an engine in this process, with their defaults for clock, timers and metrics.
import type { AuditTarget } from "../audit/audit-target.ts"
import type { PermittedAddresses } from "../client/outgoing/address-guard.ts"
import type { Edition } from "../core/edition.ts"
import { type Metrics, noopMeter } from "../core/metrics.ts"
import { type Runtime, systemRuntime } from "../core/runtime.ts"
import { systemTimers, type Timers } from "../core/timers.ts"
import type { PostgresLimits, ReadReplicaOptions } from "../storage/sql/backend.ts"
import type { SealKeySources } from "../storage/sealing/seal-keys.ts"
import type { KeyGenerator } from "../x509/key-generation.ts"
import type { WeakKeyList } from "../x509/weak-key-list.ts"

export interface EmbeddedOptions {
  readonly runtime?: Runtime
  /** Metrics of this engine, which its server exposes at `/metrics`. Without them nothing is recorded. */
  readonly metrics?: Metrics | undefined
  readonly edition?: Edition
  /** Where the keys are that seal secrets; the file `seal-key` beside an embedded database when left out. */
  readonly sealKeys?: SealKeySources
  /** Where private keys come from; from this process and threads of its own when left out. */
  readonly keyGenerator?: KeyGenerator
  /** How many RSA keys of which size (bits) to make while nobody waits for one, held in memory; none when left out. */
  readonly rsaKeyStock?: ReadonlyMap<number, number>
  /** Known weak RSA keys, refused like blocked ones; none by default. */
  readonly weakKeys?: WeakKeyList
  /** Whether this engine does the work that needs no request (CRLs, tidying, moving a log) when its turn comes; true when left out. */
  readonly jobs?: boolean
  /** How many reads of the store run beside each other; 4 of SQLite and 10 of PostgreSQL when left out. */
  readonly connections?: number | undefined
  /** How long a database of PostgreSQL may take over what; see there for what counts when they are left out. */
  readonly storageLimits?: PostgresLimits
  /** Standbys of a database of PostgreSQL that answer lists and counts in its place; none when left out. */
  readonly readReplicas?: ReadReplicaOptions
  /** By which jobs and patience are timed; those of the process when left out. */
  readonly timers?: Timers
  /** Where every use of an authority's key and every request to a server of this engine is recorded; nowhere when left out. */
  readonly auditLog?: {
    readonly target: AuditTarget
    /** Trusted for a syslog receiver besides those that Node trusts, PEM. */
    readonly authorities?: string | undefined
    /** Only when there is something to record. */
    readonly opensLate?: boolean
    /** Also requests that anybody may make without a token: certificates, CRLs, OCSP. */
    readonly recordsOpenReads?: boolean
  }
  /** Where the services that users name may be, besides public addresses; private networks when left out. */
  readonly outgoing?: PermittedAddresses
  readonly acme?: AcmeOptions
  /** Where Kubernetes puts the account of this server's pod; where it does so in every container when left out. */
  readonly podAccountFolder?: string
  /** The largest state that is taken; 1 GiB when left out. */
  readonly stateLimitBytes?: number
  readonly events?: EventOptions
  /** As which a store in memory begins, where tests open one after another. */
  readonly image?: Uint8Array | undefined
  /** Of tests: by so many pages the file of SQLite may grow. */
  readonly freePages?: number | undefined
}

export interface EventOptions {
  /** Whether changes are told in the feed; true when left out. */
  readonly on?: boolean
  /** How long events are kept; 7 days when left out. */
  readonly retentionMs?: number
}

export interface AcmeOptions {
  /** Whether every account needs an external binding, whatever its mount says; false when left out. */
  readonly requiresBinding?: boolean
  /** Where challenges may be answered from, besides public addresses and what a mount permits; nowhere when left out. */
  readonly permitted?: PermittedAddresses
  /** Where challenges are looked for; 80 and 443 when left out. */
  readonly httpPort?: number
  readonly tlsPort?: number
}

/** Arguments that the functions of this folder share. */
export interface Parts {
  readonly options: EmbeddedOptions
  readonly runtime: Runtime
  readonly timers: Timers
  readonly meter: Metrics["meter"]
  /** Closes what is opened, in reverse order. */
  readonly opening: AsyncDisposableStack
}

export const partsOf = (options: EmbeddedOptions, opening: AsyncDisposableStack): Parts => ({
  options,
  runtime: options.runtime ?? systemRuntime(),
  timers: options.timers ?? systemTimers,
  meter: options.metrics?.meter ?? noopMeter,
  opening,
})
