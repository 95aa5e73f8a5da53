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
  /** Clock, random source, log and tracer. Default: those of the process, without a log or traces. */
  readonly runtime?: Runtime
  /** Metrics of this engine, which its server exposes at `/metrics`. Default: none. */
  readonly metrics?: Metrics | undefined
  /** Default: `self-hosted`. */
  readonly edition?: Edition
  /** Sources of the seal keys. Default: the file `seal-key` in the folder of an embedded database. */
  readonly sealKeys?: SealKeySources
  /** Generator of private keys. Default: this process and its worker threads. */
  readonly keyGenerator?: KeyGenerator
  /** Number of RSA keys by size in bits that are generated in advance and stored in memory. Default: none. */
  readonly rsaKeyStock?: ReadonlyMap<number, number>
  /** Known weak RSA keys, rejected like blocked keys. Default: none. */
  readonly weakKeys?: WeakKeyList
  /** Run background work in this process: jobs (CRLs, tidy), ACME queues and checkpoints of the SQLite log. Default: true. */
  readonly jobs?: boolean
  /** Maximum number of concurrent reads of the database. Default: 4 with SQLite, 10 with PostgreSQL. */
  readonly connections?: number | undefined
  /** Timeouts of a PostgreSQL database. The defaults are documented at each member. */
  readonly storageLimits?: PostgresLimits
  /** PostgreSQL standbys that answer lists and counts instead of the primary. Default: none. */
  readonly readReplicas?: ReadReplicaOptions
  /** Timers of jobs and timeouts. Default: those of the process. */
  readonly timers?: Timers
  /** Audit log of all uses of CA keys and all requests to a server of this engine. Default: none. */
  readonly auditLog?: {
    readonly target: AuditTarget
    /** CAs to trust for a syslog receiver, in addition to those of Node, PEM. */
    readonly authorities?: string | undefined
    /** Open a file with its first entry instead of at the start. */
    readonly opensLate?: boolean
    /** Also record requests that need no token: certificates, CRLs, OCSP. */
    readonly recordsOpenReads?: boolean
  }
  /** Non-public addresses that requests to user-supplied hosts may reach. Default: private networks. */
  readonly outgoing?: PermittedAddresses
  readonly acme?: AcmeOptions
  /** Folder of the pod's service account. Default: the path at which Kubernetes mounts it in every container. */
  readonly podAccountFolder?: string
  /** Maximum size of an uploaded state in bytes. Default: 1 GiB. */
  readonly stateLimitBytes?: number
  readonly events?: EventOptions
  /** For tests: initial content of an in-memory database. */
  readonly image?: Uint8Array | undefined
  /** For tests: maximum number of pages that the SQLite file may grow by. */
  readonly freePages?: number | undefined
}

export interface EventOptions {
  /** Record changes in the event feed. Default: true. */
  readonly on?: boolean
  /** Retention of events in milliseconds. Default: 7 days. */
  readonly retentionMs?: number
}

export interface AcmeOptions {
  /** Require an external account binding for every account, regardless of the settings of the mount. Default: false. */
  readonly requiresBinding?: boolean
  /** Non-public addresses that may answer challenges, in addition to those that a mount permits. Default: none. */
  readonly permitted?: PermittedAddresses
  /** Ports of `http-01` and `tls-alpn-01` challenges. Default: 80 and 443. */
  readonly httpPort?: number
  readonly tlsPort?: number
}

/** Arguments that the functions of this folder share. */
export interface Parts {
  readonly options: EmbeddedOptions
  readonly runtime: Runtime
  readonly timers: Timers
  readonly meter: Metrics["meter"]
  /** Closes opened resources in reverse order. */
  readonly opening: AsyncDisposableStack
}

export const partsOf = (options: EmbeddedOptions, opening: AsyncDisposableStack): Parts => ({
  options,
  runtime: options.runtime ?? systemRuntime(),
  timers: options.timers ?? systemTimers,
  meter: options.metrics?.meter ?? noopMeter,
  opening,
})
