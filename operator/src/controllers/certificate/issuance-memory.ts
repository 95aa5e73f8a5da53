// In-memory state of each Certificate between reconciliations, and the limits based on it. A Certificate gets only a few certificates per
// hour, whatever other writers do to its Secret and whatever the API server rejects.
import type { KubernetesObject, ObjectKey } from "../../kube/kubernetes-object.ts"
import type { EarlierCertificate } from "./certificate-status.ts"
import type { StoredCertificate } from "./stored-certificate.ts"

/** Certificate that was issued but is not in its Secret yet. */
export interface UnwrittenCertificate {
  readonly stored: StoredCertificate
  readonly issuerKind: string
  readonly issuerName: string
  readonly role: string
  readonly revision: number
}

export interface IssuanceMemory {
  readonly uid: string | undefined
  unwritten: UnwrittenCertificate | undefined
  /** Certificates that were issued and are not used, until the status records them. */
  discarded: EarlierCertificate[]
  /** Secret of the last successful reconciliation. */
  good: KubernetesObject | undefined
  /** Version of the Secret at which the API server rejected a write; `null` if there was no Secret. */
  rejectedVersion: string | null | undefined
  /** Revision for which the engine was searched for certificates unknown to this process. */
  searchedRevision: number | undefined
  /** Message of the last failed attempt. */
  lastFailure: string | undefined
  /** Times of certificates that could not be written to the Secret. */
  wasted: readonly number[]
  /** Times of certificates that were neither requested nor scheduled. */
  unrequested: readonly number[]
  /** Times at which the Secret was restored. */
  repairs: readonly number[]
  /** Time before which the Secret is not restored again. */
  repairsAfter: number
}

const hourMs = 3_600_000
const maxWasted = 3
const maxUnasked = 5
/** Number of new certificates an hour for a Secret that is deleted by hand; after that, the old one is restored. */
const maxReplacements = 3
/** Changes by another writer that may be mistakes. */
const maxRepairs = 3
const minMemories = 100

export class IssuanceMemories {
  readonly #memories = new Map<ObjectKey, IssuanceMemory>()

  /** Returns the memory of a Certificate. `known` has the keys of existing Certificates, to evict the others. */
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
      unrequested: [],
      repairs: [],
      repairsAfter: 0,
    }
    this.#memories.set(key, memory)
    if (this.#memories.size > 2 * known.size + minMemories)
      for (const other of this.#memories.keys()) if (other !== key && !known.has(other)) this.#memories.delete(other)
    return memory
  }
}

const lastHour = (times: readonly number[], now: number): readonly number[] => times.filter((at) => at > now - hourMs)

export const withTime = (times: readonly number[], now: number): readonly number[] => [...lastHour(times, now), now]

/** Returns the time from which another certificate may be issued; undefined if it may be now. */
export function issuableAfter(
  { wasted, unrequested }: Pick<IssuanceMemory, "wasted" | "unrequested">,
  { isRequested, now }: { readonly isRequested: boolean; readonly now: number },
): number | undefined {
  const ends = [
    freeAfter(lastHour(wasted, now), maxWasted),
    ...(isRequested ? [] : [freeAfter(lastHour(unrequested, now), maxUnasked)]),
  ].flatMap((at) => at ?? [])
  return ends.length === 0 ? undefined : Math.max(...ends)
}

const freeAfter = (times: readonly number[], maximum: number): number | undefined => {
  const blocking = times.at(-maximum)
  return blocking === undefined ? undefined : blocking + hourMs
}

export const mayReplace = ({ unrequested }: Pick<IssuanceMemory, "unrequested">, now: number): boolean =>
  lastHour(unrequested, now).length < maxReplacements

/** Returns by how much the repairs of the last hour exceed what mistakes explain. 0 or less means no conflict. */
export const contests = ({ repairs }: Pick<IssuanceMemory, "repairs">, now: number): number =>
  lastHour(repairs, now).length - maxRepairs + 1
