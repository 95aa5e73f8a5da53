import type { Instant } from "../../core/time.ts"
import type { MountId } from "../mounts/mount.ts"
import type { CrlListId } from "./crl-list.ts"
import type { Shard } from "./shard.ts"

export interface CrlKey {
  readonly mountId: MountId
  readonly list: CrlListId
  readonly shard: Shard
}

/** Common part of complete lists and deltas. */
export interface PublishedCrl {
  /** CRLNumber: the time in milliseconds, or a higher number, so that it increases even if another server signs. */
  readonly number: number
  readonly thisUpdate: Instant
  readonly nextUpdate: Instant
  /** Number of the last revocation that the list contains. */
  readonly covered: number
  /** Digest of everything else that determines the list: settings, signer, URLs. */
  readonly content: string
  readonly entryCount: number
  readonly length: number
}

/** Complete list. Its octets are the head, the segments of the epoch in order, and the tail. */
export interface CompleteCrl extends PublishedCrl {
  /** `removals` of the state when the list was built. */
  readonly removals: number
  readonly epoch: number
  /** Number of segments in the list: those before this position. */
  readonly segmentCount: number
  /** Entries stored in segments. A disabled list does not serve them. */
  readonly inSegments: {
    readonly segmentCount: number
    readonly entryCount: number
    readonly covered: number
    readonly length: number
  }
}

export interface DeltaCrl extends PublishedCrl {
  /** CRLNumber of the complete list that the delta extends. */
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

/** Writes return false once another builder has begun with the same list. */
export interface CrlRepository {
  find(key: CrlKey): Promise<CrlState | undefined>
  /** Returns all lists of the mount that were ever built. */
  keys(mountId: MountId): Promise<readonly CrlKey[]>
  /** Returns the lists with their state. */
  states(mountId: MountId): Promise<readonly KeyedCrlState[]>
  /** Begins a build. Returns undefined if a later builder has begun already. */
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
  /** Removes segments of other epochs. Returns the number of removed segments, at most `limit`. */
  dropSegments(key: CrlKey, fence: number, epoch: number, limit: number): Promise<number>
}
