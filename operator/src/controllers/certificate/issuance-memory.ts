// What this process remembers of each Certificate between two looks, and the limits that follow from it: whatever other
// writers do to a Secret, and whatever the API server rejects, an object gets a handful of certificates an hour at most.
import type { KubernetesObject, ObjectKey } from "../../kube/kubernetes-object.ts"
import type { EarlierCertificate } from "./certificate-status.ts"
import type { HeldCertificate } from "./stored-certificate.ts"

/** A certificate that is issued and that is not in its Secret yet. */
export interface UnwrittenCertificate {
  readonly held: HeldCertificate
  readonly issuerKind: string
  readonly issuerName: string
  readonly role: string
  readonly revision: number
}

export interface IssuanceMemory {
  readonly uid: string | undefined
  unwritten: UnwrittenCertificate | undefined
  /** Certificates that were issued and are not used; each until the status has it. */
  discarded: EarlierCertificate[]
  /** The Secret as it was when all was well. */
  good: KubernetesObject | undefined
  /** The version of the Secret whose change the API server rejected; `null`: there was none. */
  rejectedVersion: string | null | undefined
  /** Revisions for which the engine is known to have no certificate that this process has not heard of. */
  searchedRevision: number | undefined
  /** Why the last attempt failed. */
  lastFailure: string | undefined
  /** Times of certificates that did not come into the Secret. */
  wasted: readonly number[]
  /** Times of certificates that were issued although none was requested and none was due. */
  unasked: readonly number[]
  /** Times at which the Secret was put back as it was. */
  repairs: readonly number[]
  /** No earlier than this is it put back again. */
  repairsAfter: number
}

const hourMs = 3_600_000
const wastedMaximum = 3
const unaskedMaximum = 5
/** A Secret that is deleted by hand now and then gets another certificate each time. */
const replacementsMaximum = 3
/** Another writer may change a Secret once or twice by mistake. */
const repairsMaximum = 3
const memoriesMinimum = 100

export class IssuanceMemories {
  readonly #memories = new Map<ObjectKey, IssuanceMemory>()

  /** `known`: the keys of Certificates that exist. */
  of(
    key: ObjectKey,
    uid: string | undefined,
    known: { readonly size: number; has(key: ObjectKey): boolean },
  ): IssuanceMemory {
    const present = this.#memories.get(key)
    if (present !== undefined && present.uid === uid) return present
    const memory: IssuanceMemory = {
      uid,
      unwritten: undefined,
      discarded: [],
      good: undefined,
      rejectedVersion: undefined,
      searchedRevision: undefined,
      lastFailure: undefined,
      wasted: [],
      unasked: [],
      repairs: [],
      repairsAfter: 0,
    }
    this.#memories.set(key, memory)
    if (this.#memories.size > 2 * known.size + memoriesMinimum)
      for (const other of this.#memories.keys()) if (other !== key && !known.has(other)) this.#memories.delete(other)
    return memory
  }
}

const lastHour = (times: readonly number[], now: number): readonly number[] => times.filter((at) => at > now - hourMs)

export const withTime = (times: readonly number[], now: number): readonly number[] => [...lastHour(times, now), now]

/** Returns the time from which another certificate may be issued; undefined if it may be now. */
export function issuableAfter(
  { wasted, unasked }: Pick<IssuanceMemory, "wasted" | "unasked">,
  { isAsked, now }: { readonly isAsked: boolean; readonly now: number },
): number | undefined {
  const ends = [
    freeAfter(lastHour(wasted, now), wastedMaximum),
    ...(isAsked ? [] : [freeAfter(lastHour(unasked, now), unaskedMaximum)]),
  ].flatMap((at) => at ?? [])
  return ends.length === 0 ? undefined : Math.max(...ends)
}

const freeAfter = (times: readonly number[], maximum: number): number | undefined => {
  const blocking = times.at(-maximum)
  return blocking === undefined ? undefined : blocking + hourMs
}

export const mayReplace = ({ unasked }: Pick<IssuanceMemory, "unasked">, now: number): boolean =>
  lastHour(unasked, now).length < replacementsMaximum

/** Returns how often another writer has changed the Secret more than by mistake; 0 or less: not so often. */
export const contests = ({ repairs }: Pick<IssuanceMemory, "repairs">, now: number): number =>
  lastHour(repairs, now).length - repairsMaximum + 1
