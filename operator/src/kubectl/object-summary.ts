// What the commands print of an object: its readiness, its expiry and its earlier certificates. Reads statuses only.
import type { StoredCondition } from "../controllers/conditions.ts"
import type { CertificateStatus } from "../controllers/certificate/certificate-status.ts"
import type { Kind } from "../api/definition.ts"
import type { KubernetesObject } from "../kube/kubernetes-object.ts"

export interface ObjectSummary {
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly ready: StoredCondition["status"]
  readonly reason: string
  readonly message: string
  /** Expiry of the certificate, the authority or the token; empty if there is none. */
  readonly expires: string
}

interface Status extends CertificateStatus {
  readonly observedGeneration?: number
  readonly nextAttemptTime?: string
  readonly conditions?: readonly StoredCondition[]
  readonly caNotAfter?: string
  readonly tokenExpiresAt?: string
}

export const statusOf = ({ status }: KubernetesObject): Status => status ?? {}

export function summaryOf({ kind }: Pick<Kind<unknown>, "kind">, object: KubernetesObject): ObjectSummary {
  const { namespace = "", name, generation = 0, deletionTimestamp } = object.metadata
  const { conditions = [], observedGeneration = 0, notAfter, caNotAfter, tokenExpiresAt } = statusOf(object)
  const found = conditions.find(({ type }) => type === "Ready")
  const about = { kind, namespace, name, expires: notAfter ?? caNotAfter ?? tokenExpiresAt ?? "" }
  if (found === undefined || observedGeneration < generation) {
    const message = "The operator has not reconciled this version of the object yet."
    return { ...about, ready: "Unknown", reason: deletionTimestamp === undefined ? "Pending" : "Deleting", message }
  }
  const { status: ready, reason, message } = found
  return { ...about, ready, reason, message }
}

/** Returns the certificates of a Certificate, the present one first; empty for other kinds. */
export function revisionsOf(object: KubernetesObject): readonly (readonly string[])[] {
  const { serialNumber, notAfter = "", revision = 0, history = [] } = statusOf(object)
  if (serialNumber === undefined) return []
  return [
    [String(revision), serialNumber, notAfter, "in use"],
    ...history.map(({ serialNumber: earlier, notAfter: end, revokedAt, discarded = false }) => [
      "",
      earlier,
      end,
      `${discarded ? "never used" : "replaced"}${revokedAt === undefined ? "" : `, revoked at ${revokedAt}`}`,
    ]),
  ]
}

/** Returns the kind of a word, as kubectl accepts it; undefined if there is none. */
export function kindNamed(kinds: readonly Kind<unknown>[], word: string): Kind<unknown> | undefined {
  const wanted = word.toLowerCase()
  return kinds.find(({ kind, plural, singular, shortNames, group }) =>
    [kind.toLowerCase(), plural, singular, `${plural}.${group}`, `${singular}.${group}`, ...shortNames].includes(
      wanted,
    ),
  )
}
