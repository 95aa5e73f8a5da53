// Answers CertificateRequests of cert-manager, as its external issuer.
import type { Instant } from "@chancery/engine"
import { parseGoDuration } from "../../go-duration.ts"
import { type KubernetesObject, secondTime } from "../../kube/kubernetes-object.ts"
import type { Index } from "../../kube/object-store.ts"
import { base64Pem } from "../certificate-pem.ts"
import type { Answer, Answerer } from "../request-controller.ts"
import { outcomeOf, readyRole, signByRole, type SigningParts } from "../sign-request.ts"
import {
  csrIn,
  type IssuerReference,
  RequestRefused,
  type SigningOutcome,
  type SigningRequest,
} from "../signing-request.ts"
import {
  type CertificateRequestStatus,
  isOwn,
  type RequestCondition,
  specOf,
  statusOf,
  stepOf,
} from "./certificate-request.ts"

export interface CertificateRequestsParts extends SigningParts {
  readonly now: () => Instant
}

/** A request that still fails after this time ends as failed. cert-manager makes another one, with delays that grow. */
const maxRetryMs = 3_600_000

export const answerCertificateRequests = (parts: CertificateRequestsParts): Answerer => ({
  async answer(object, signal) {
    const step = stepOf(object)
    if (step === "ignore") return undefined
    if (step === "deny") return ended(object, parts.now(), "Denied", "An approver denied the request.")
    const outcome = await outcomeOf(async () => {
      const request = requestIn(object)
      return signByRole(await readyRole(parts, issuerIn(object), signal), request)
    })
    return answerFor(object, outcome, parts.now())
  },
})

/** Index value: the issuer of a request that has not ended, `Issuer/namespace/name` or `ClusterIssuer/name`. */
export const issuerOfRequest: Index = (object) => {
  if (!isOwn(specOf(object)) || stepOf(object) === "ignore") return []
  const { kind, name, namespace } = issuerIn(object)
  return [kind === "Issuer" ? `Issuer/${namespace}/${name}` : `ClusterIssuer/${name}`]
}

function issuerIn(object: KubernetesObject): IssuerReference {
  const { kind = "Issuer", name = "" } = specOf(object).issuerRef ?? {}
  return {
    kind: kind === "ClusterIssuer" ? "ClusterIssuer" : "Issuer",
    name,
    namespace: object.metadata.namespace,
  }
}

function requestIn(object: KubernetesObject): SigningRequest {
  const { request, duration, isCA = false, usages = [] } = specOf(object)
  const durationMs = duration === undefined ? undefined : parseGoDuration(duration)
  if (duration !== undefined && durationMs === undefined)
    throw new RequestRefused("InvalidRequest", "duration is not a duration, such as 2160h.")
  return { csr: csrIn(request), durationMs, isCa: isCA, usages }
}

export function answerFor(object: KubernetesObject, outcome: SigningOutcome, now: Instant): Answer {
  switch (outcome.is) {
    case "issued": {
      const { chain, authority } = outcome.signed
      return {
        status: {
          conditions: [readyCondition(object, now, "True", "Issued", "The certificate was issued.")],
          certificate: base64Pem(chain),
          ca: base64Pem([authority]),
        },
      }
    }
    case "refused":
      return ended(object, now, "Failed", outcome.message)
    default: {
      const { message, againAfterMs } = outcome
      if (againAfterMs === undefined && now - createdAt(object) > maxRetryMs)
        return ended(object, now, "Failed", message)
      const again = againAfterMs ?? "backoff"
      const condition = readyCondition(object, now, "False", "Pending", message)
      const present = statusOf(object).conditions?.find(({ type }) => type === "Ready")
      if (present?.reason === condition.reason && present.message === message) return { again }
      return { status: { conditions: [condition] }, again }
    }
  }
}

function ended(object: KubernetesObject, now: Instant, reason: "Denied" | "Failed", message: string): Answer {
  const status: CertificateRequestStatus = {
    conditions: [readyCondition(object, now, "False", reason, message)],
    failureTime: secondTime(now),
  }
  return { status: { ...status }, event: { type: "Warning", reason, note: message } }
}

/** The time stays while the status of the condition does. */
function readyCondition(
  object: KubernetesObject,
  now: Instant,
  status: RequestCondition["status"],
  reason: string,
  message: string,
): RequestCondition {
  const present = statusOf(object).conditions?.find(({ type }) => type === "Ready")
  const since = present?.status === status ? present.lastTransitionTime : undefined
  return { type: "Ready", status, reason, message, lastTransitionTime: since ?? secondTime(now) }
}

function createdAt({ metadata }: KubernetesObject): Instant {
  const created = Date.parse(String(metadata["creationTimestamp"]))
  return Number.isNaN(created) ? Number.POSITIVE_INFINITY : created
}
