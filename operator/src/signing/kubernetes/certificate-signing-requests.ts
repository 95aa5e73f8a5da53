// Answers CertificateSigningRequests that name an issuer as their signer. A request has no namespace, so its user needs the right to use the
// issuer: otherwise each user who may create requests could use the rights of any namespace.
import type { Instant } from "@chancery/engine"
import type { Cluster } from "../../kube/cluster.ts"
import { type KubernetesObject, secondTime } from "../../kube/kubernetes-object.ts"
import type { Index } from "../../kube/object-store.ts"
import { base64Pem } from "../certificate-pem.ts"
import type { Answer, Answerer } from "../request-controller.ts"
import { outcomeOf, readyRole, signByRole, type SigningParts } from "../sign-request.ts"
import { indexValueOf, issuerOfSigner, type SigningIssuer } from "../signer-name.ts"
import { csrIn, RequestRefused, type SigningOutcome } from "../signing-request.ts"
import { awaitsSigner, specOf } from "./certificate-signing-request.ts"

export interface CertificateSigningRequestsParts extends SigningParts {
  readonly cluster: Pick<Cluster, "isPermitted">
  readonly now: () => Instant
}

const secondMs = 1_000

export const answerCertificateSigningRequests = (parts: CertificateSigningRequestsParts): Answerer => ({
  async answer(object, signal) {
    const { signerName = "", request, expirationSeconds, usages = [] } = specOf(object)
    const issuer = issuerOfSigner(signerName)
    if (issuer === undefined || !awaitsSigner(object)) return undefined
    const outcome = await outcomeOf(async () => {
      const csr = csrIn(request)
      await assertPermitted(parts, object, issuer)
      const reference = { ...issuer, namespace: issuer.kind === "Issuer" ? issuer.namespace : undefined }
      const durationMs = expirationSeconds === undefined ? undefined : expirationSeconds * secondMs
      return signByRole(await readyRole(parts, reference, signal), { csr, durationMs, isCa: false, usages })
    })
    return answerFor(outcome, parts.now())
  },
})

/** Index value: the issuer of a request that awaits its signer. */
export const issuerOfSigningRequest: Index = (object) => {
  const issuer = awaitsSigner(object) ? issuerOfSigner(specOf(object).signerName ?? "") : undefined
  return issuer === undefined ? [] : [indexValueOf(issuer)]
}

async function assertPermitted(
  { cluster }: CertificateSigningRequestsParts,
  object: KubernetesObject,
  issuer: SigningIssuer,
): Promise<void> {
  const { username = "", uid, groups = [], extra } = specOf(object)
  const isPermitted = await cluster.isPermitted(
    { username, groups, ...(uid === undefined ? {} : { uid }), ...(extra === undefined ? {} : { extra }) },
    {
      verb: "reference",
      group: "chancery.dev",
      resource: issuer.kind === "Issuer" ? "issuers" : "clusterissuers",
      name: issuer.name,
      ...(issuer.kind === "Issuer" ? { namespace: issuer.namespace } : {}),
    },
  )
  if (isPermitted) return
  const where = issuer.kind === "Issuer" ? ` in the namespace ${issuer.namespace}` : ""
  throw new RequestRefused(
    "IssuerNotPermitted",
    `The user ${username} lacks the verb reference for the ${issuer.kind} ${issuer.name}${where}.`,
  )
}

/** A request that is pending has no condition, so only an event tells the cause. */
export function answerFor(outcome: SigningOutcome, now: Instant): Answer {
  switch (outcome.is) {
    case "issued":
      return { status: { certificate: base64Pem(outcome.signed.chain) } }
    case "refused": {
      const { reason, message } = outcome
      const time = secondTime(now)
      const condition = {
        type: "Failed",
        status: "True",
        reason,
        message,
        lastUpdateTime: time,
        lastTransitionTime: time,
      }
      return { status: { conditions: [condition] }, event: { type: "Warning", reason, note: message } }
    }
    default: {
      const { reason, message, againAfterMs = "backoff" } = outcome
      return { event: { type: "Warning", reason, note: message }, again: againAfterMs }
    }
  }
}
