// Order and times of renewals that can wait, for issuers with `renewals.maxPerHour`. They are spaced evenly, and certificates that expire
// first are first. The queue is in memory: after a restart, the certificates enter it again. The time of the last renewal is in the status
// of its Certificate, so a restart does not speed up the pace.
import type { Instant } from "@chancery/engine"
import type { ObjectKey } from "../../kube/kubernetes-object.ts"

export interface WaitingRenewal {
  /** Issuer of the certificate, such as `Issuer/team/ca`. */
  readonly issuer: string
  readonly key: ObjectKey
  readonly notAfter: Instant
  readonly maxPerHour: number
  readonly now: Instant
}

/** Facts that are read only when they are needed, because all Certificates of the issuer are looked through. */
export interface IssuerFacts {
  exists(key: ObjectKey): boolean
  /** Returns the start of the last paced renewal of the issuer, according to the status of its Certificates. */
  lastRenewalAt(): Instant | undefined
}

export type Turn =
  | { readonly is: "now" }
  | { readonly is: "later"; readonly at: Instant }
  /** The order is not known yet; decide again after this time. */
  | { readonly is: "undecided"; readonly againAfterMs: number }

interface Place {
  readonly notAfter: Instant
  turnAt: Instant
}

interface Queue {
  readonly spacingMs: number
  readonly places: Map<ObjectKey, Place>
  lastAt: Instant
}

const hourMs = 3_600_000
/** A change of an authority concerns many certificates at once. All of them enter the queue before the first one is renewed. */
const gatheringMs = 2_000
/** A certificate that does not use its turn within this time, such as a paused one, gives up its place. */
const unusedMs = 60_000

export class RenewalPace {
  readonly #queues = new Map<string, Queue>()

  /** Returns the turn of a certificate. `now` means that it must be renewed at once: its slot is taken. */
  turnOf({ issuer, key, notAfter, maxPerHour, now }: WaitingRenewal, facts: IssuerFacts): Turn {
    const queue = this.#queueOf(issuer, Math.ceil(hourMs / maxPerHour), facts)
    const { places, spacingMs } = queue
    const place = places.get(key)
    if (place === undefined) {
      places.set(key, { notAfter, turnAt: now + gatheringMs })
      return { is: "undecided", againAfterMs: gatheringMs }
    }
    // The announced turn stays, so that the status does not change at every poll.
    if (now < place.turnAt) return { is: "later", at: place.turnAt }
    let ahead = 0
    for (const [other, { notAfter: end, turnAt }] of places) {
      if (other === key) continue
      if (turnAt + unusedMs < now || !facts.exists(other)) places.delete(other)
      else if (end < notAfter || (end === notAfter && other < key)) ahead += 1
    }
    const turnAt = () => Math.max(now, Math.min(queue.lastAt, now) + spacingMs) + ahead * spacingMs
    if (turnAt() <= now) queue.lastAt = Math.max(queue.lastAt, facts.lastRenewalAt() ?? 0)
    const at = turnAt()
    if (at > now) {
      places.set(key, { notAfter, turnAt: at })
      return { is: "later", at }
    }
    places.delete(key)
    queue.lastAt = now
    return { is: "now" }
  }

  /** Removes a certificate that need not wait any more. */
  leave(issuer: string, key: ObjectKey): void {
    this.#queues.get(issuer)?.places.delete(key)
  }

  #queueOf(issuer: string, spacingMs: number, facts: IssuerFacts): Queue {
    const present = this.#queues.get(issuer)
    if (present?.spacingMs === spacingMs) return present
    // After a restart, the turns are then those that the former process announced.
    const lastAt = present?.lastAt ?? facts.lastRenewalAt() ?? 0
    const queue = { spacingMs, places: new Map<ObjectKey, Place>(), lastAt }
    this.#queues.set(issuer, queue)
    return queue
  }
}
