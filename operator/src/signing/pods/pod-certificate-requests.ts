// Answers PodCertificateRequests. The names of the certificate come from the request's namespace and service account, which the API server
// has checked, never from the CSR.
import type { Instant } from "@chancery/engine"
import { type CertificationRequest, parseCertificationRequest, UnacceptableInput } from "@chancery/engine/x509"
import { stalled } from "../../controllers/reconcile-result.ts"
import { secondTime } from "../../kube/kubernetes-object.ts"
import type { Index } from "../../kube/object-store.ts"
import { pemOf } from "../certificate-pem.ts"
import type { Answer, Answerer } from "../request-controller.ts"
import { outcomeOf, readyRole, type ReadyRole, signByRole, type SigningParts } from "../sign-request.ts"
import { indexValueOf, issuerOfSigner, type SigningIssuer } from "../signer-name.ts"
import { RequestRefused, type Signed, type SigningOutcome } from "../signing-request.ts"
import {
  awaitsSigner,
  keyTypeInstead,
  namesOf,
  type PodCertificateRequestSpec,
  refreshAt,
  specOf,
  ttlOf,
} from "./pod-certificate-request.ts"

export interface PodCertificateRequestsParts extends SigningParts {
  readonly now: () => Instant
}

export const answerPodCertificateRequests = (parts: PodCertificateRequestsParts): Answerer => ({
  async answer(object, signal) {
    const spec = specOf(object)
    const { namespace = "" } = object.metadata
    const issuer = issuerOfSigner(spec.signerName ?? "")
    if (issuer === undefined || !awaitsSigner(object)) return undefined
    const outcome = await outcomeOf(async () => {
      assertOwnNamespace(issuer, namespace)
      const csr = csrOf(spec)
      const ready = await readyRole(parts, { kind: issuer.kind, name: issuer.name, namespace }, signal)
      return signForPod(ready, spec, csr, namespace)
    })
    return answerFor(outcome, parts.now())
  },
})

/** Index value: the issuer of a request that awaits its signer. */
export const issuerOfPodRequest: Index = (object) => {
  const issuer = awaitsSigner(object) ? issuerOfSigner(specOf(object).signerName ?? "") : undefined
  return issuer === undefined ? [] : [indexValueOf(issuer)]
}

function assertOwnNamespace(issuer: SigningIssuer, namespace: string): void {
  if (issuer.kind === "Issuer" && issuer.namespace !== namespace)
    throw new RequestRefused(
      "NamespaceNotAllowed",
      `The Issuer ${issuer.name} signs requests of the namespace ${issuer.namespace} only.`,
    )
}

function csrOf({
  stubPKCS10Request = "",
  unverifiedUserAnnotations = {},
}: PodCertificateRequestSpec): CertificationRequest {
  const [annotation] = Object.keys(unverifiedUserAnnotations)
  if (annotation !== undefined)
    throw new RequestRefused(
      "InvalidUnverifiedUserAnnotations",
      `The annotation ${annotation} is unknown; none is known.`,
    )
  if (stubPKCS10Request === "")
    throw new RequestRefused(
      "InvalidRequest",
      "The request has no stubPKCS10Request; nodes need Kubernetes 1.36 or newer.",
    )
  try {
    return parseCertificationRequest(Buffer.from(stubPKCS10Request, "base64"))
  } catch (error) {
    if (!(error instanceof UnacceptableInput)) throw error
    throw new RequestRefused("InvalidRequest", `stubPKCS10Request: ${error.message}`)
  }
}

async function signForPod(
  ready: ReadyRole,
  spec: PodCertificateRequestSpec,
  csr: CertificationRequest,
  namespace: string,
): Promise<Signed> {
  const { issuer, role, roleName } = ready
  const { podCertificates } = issuer.spec
  if (podCertificates === undefined)
    throw new RequestRefused(
      "PodCertificatesMissing",
      "The issuer signs no requests of pods: it has no podCertificates.",
    )
  if (role.useCsrSans || role.useCsrCommonName)
    throw stalled(
      "RoleUnfit",
      `The role ${roleName} takes names from CSRs; set use_csr_sans and use_csr_common_name to false.`,
    )
  if (role.requireCn && (podCertificates.dnsNames ?? []).length === 0)
    throw stalled("RoleUnfit", `The role ${roleName} requires a common name; set require_cn to false, or set dnsNames.`)
  const durationMs = ttlOf(spec, role)
  if (durationMs === undefined)
    throw stalled("LifetimeTooShort", `The role ${roleName} permits less than the hour that certificates of pods have.`)
  const keyType = keyTypeInstead(csr, role)
  if (keyType !== undefined)
    throw new RequestRefused(
      "UnsupportedKeyType",
      `The role ${roleName} does not accept the key; set keyType to ${keyType}.`,
    )
  return signByRole(ready, {
    csr,
    durationMs,
    isCa: false,
    usages: [],
    names: namesOf(podCertificates, spec, namespace),
  })
}

/** A request that is pending has no condition, so only an event tells the cause. */
export function answerFor(outcome: SigningOutcome, now: Instant): Answer {
  const conditions = (type: "Issued" | "Denied", reason: string, message: string) => [
    { type, status: "True", reason, message, lastTransitionTime: secondTime(now) },
  ]
  switch (outcome.is) {
    case "issued": {
      const { chain, notBefore, notAfter } = outcome.signed
      const status = {
        conditions: conditions("Issued", "Issued", "The certificate was issued."),
        certificateChain: pemOf(chain),
        notBefore: secondTime(notBefore),
        beginRefreshAt: secondTime(refreshAt(notBefore, notAfter)),
        notAfter: secondTime(notAfter),
      }
      return { status }
    }
    case "refused": {
      const { reason, message } = outcome
      return {
        status: { conditions: conditions("Denied", reason, message) },
        event: { type: "Warning", reason, note: message },
      }
    }
    default: {
      const { reason, message, againAfterMs = "backoff" } = outcome
      return { event: { type: "Warning", reason, note: message }, again: againAfterMs }
    }
  }
}
