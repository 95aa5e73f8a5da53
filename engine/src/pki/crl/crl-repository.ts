import type { Instant } from "../../core/time.ts"
import type { MountId } from "../mounts/mount.ts"
import type { CrlListId } from "./crl-list.ts"
import type { Shard } from "./shard.ts"

export interface CrlKey {
  readonly mountId: MountId
  readonly list: CrlListId
  readonly shard: Shard
}

/** What complete lists and deltas have in common. */
export interface PublishedCrl {
  /** CRLNumber: the time in milliseconds, or more, so that it grows whoever signs. */
  readonly number: number
  readonly thisUpdate: Instant
  readonly nextUpdate: Instant
  /** The last revocation of the list that it knows. */
  readonly covered: number
  /** Digest of everything else that it follows from: settings, signer, URLs. */
  readonly content: string
  readonly entryCount: number
  readonly length: number
}

/** The octets are the head, the segments of the epoch in order, and the tail. */
export interface CompleteCrl extends PublishedCrl {
  /** Of the row, when it was built. */
  readonly removals: number
  readonly epoch: number
  /** Which of the segments belong to it: those before this position. */
  readonly segmentCount: number
  /** What of the list stands in segments, whether they are served or not: a list that is disabled has none. */
  readonly inSegments: {
    readonly segmentCount: number
    readonly entryCount: number
    readonly covered: number
    readonly length: number
  }
}

export interface DeltaCrl extends PublishedCrl {
  /** Of the complete list that it adds to. */
  readonly baseNumber: number
}

export interface CrlState {
  readonly fence: number
  readonly removals: number
  readonly complete: CompleteCrl | undefined
  readonly delta: DeltaCrl | undefined
}

export interface KeyedCrlState {
  readonly key: CrlKey
  readonly state: CrlState
}

export interface Segment {
  readonly position: number
  readonly entries: Uint8Array
}

/** Writes are refused (false) once somebody else has begun to build the same list. */
export interface CrlRepository {
  find(key: CrlKey): Promise<CrlState | undefined>
  /** Every list of the mount that was ever built. */
  keys(mountId: MountId): Promise<readonly CrlKey[]>
  /** The same with what is known of them. */
  states(mountId: MountId): Promise<readonly KeyedCrlState[]>
  /** Undefined when a later builder has begun already. */
  begin(key: CrlKey, fence: number): Promise<CrlState | undefined>
  writeSegments(key: CrlKey, fence: number, epoch: number, segments: readonly Segment[]): Promise<boolean>
  publish(
    key: CrlKey,
    fence: number,
    crl: CompleteCrl,
    octets: { readonly head: Uint8Array; readonly tail: Uint8Array; readonly segments: readonly Segment[] },
  ): Promise<boolean>
  publishDelta(key: CrlKey, fence: number, crl: DeltaCrl, der: Uint8Array): Promise<boolean>
  frame(key: CrlKey): Promise<{ readonly head: Uint8Array; readonly tail: Uint8Array } | undefined>
  delta(key: CrlKey): Promise<Uint8Array | undefined>
  segment(key: CrlKey, epoch: number, position: number): Promise<Uint8Array | undefined>
  /** Segments of other epochs; the answer is how many are gone, at most `limit`. */
  dropSegments(key: CrlKey, fence: number, epoch: number, limit: number): Promise<number>
}
