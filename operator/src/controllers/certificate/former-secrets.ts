// Secrets that a Certificate had before its `secretName` changed. They stay unchanged while workloads move to the new one.
import type { CertificateSpec } from "../../api/certificate.ts"
import { isRejection } from "../../kube/cluster.ts"
import { type KubernetesObject, secondTime, secrets } from "../../kube/kubernetes-object.ts"
import { inNamespaceOf, presentAt } from "../../kube/owned-objects.ts"
import { certificate } from "../../api/certificate.ts"
import { annotations } from "./annotations.ts"
import type { CertificateContext, CertificateParts } from "./certificate-context.ts"
import type { FormerSecret } from "./certificate-status.ts"
import { storedIn, textOf } from "./stored-certificate.ts"

/** Bound of the list in the status. Secrets beyond it stay until the Certificate is deleted. */
const maxFormer = 10
/** Time for workloads to move before a replaced certificate is revoked. */
const graceMs = 86_400_000

/**
 * Returns the Secret under the former name, if it belongs to this Certificate. Its certificate is written to the new Secret, so that a
 * change of the name needs no other certificate, even after a restart of the operator.
 */
export async function formerSecretOf(
  parts: CertificateParts,
  { object, spec, before }: CertificateContext,
): Promise<KubernetesObject | undefined> {
  const name = before.secretName
  if (name === undefined || name === spec.secretName) return undefined
  const found = await presentAt(parts, secrets, inNamespaceOf(object, name))
  return found !== undefined && belongsTo(object, found) ? found : undefined
}

/** Without its uid, a Secret may be of an earlier Certificate of the same name. */
const belongsTo = ({ metadata: { name, uid } }: KubernetesObject, { metadata }: KubernetesObject): boolean =>
  metadata.annotations?.[annotations.certificateName] === name &&
  metadata.annotations[annotations.certificateUid] === uid

/** Returns the list for the status. Call it when the Secret of the spec is whole. Deletes former Secrets whose time is over. */
export async function keptFormerSecrets(
  parts: CertificateParts,
  one: CertificateContext,
): Promise<readonly FormerSecret[]> {
  const { spec, before, request } = one
  const known = (before.formerSecrets ?? []).filter(
    ({ name }) => name !== spec.secretName && name !== before.secretName,
  )
  const former = await formerSecretOf(parts, one)
  // The spec may have got or lost its CSR together with the change of the name.
  const isKeyElsewhere = former !== undefined && textOf(former, "tls.key") === ""
  const stored = storedIn(former, { isKeyElsewhere })
  const added: readonly FormerSecret[] =
    former === undefined || stored.is !== "whole"
      ? []
      : [
          {
            name: former.metadata.name,
            serialNumber: stored.serialNumber,
            notAfter: secondTime(stored.leaf.notAfter),
            since: secondTime(request.now),
          },
        ]
  const kept: FormerSecret[] = []
  for (const each of [...added, ...known].slice(0, maxFormer))
    if (request.now < endOf(each, one) || !(await isRemoved(parts, one, each))) kept.push(each)
  return kept
}

/** Returns the time until which a former Secret stays. */
function endOf({ serialNumber, notAfter, since }: FormerSecret, { spec, stored }: CertificateContext): number {
  const isReplaced = stored.is === "whole" && stored.serialNumber !== serialNumber
  const expiry = Date.parse(notAfter)
  return spec.revocationPolicy.onRotation && isReplaced ? Math.min(expiry, Date.parse(since) + graceMs) : expiry
}

/** Returns the next time at which a former Secret is removed; undefined if there is none. */
export function nextRemoval(formerSecrets: readonly FormerSecret[], one: CertificateContext): number | undefined {
  const ends = formerSecrets.map((each) => endOf(each, one))
  return ends.length === 0 ? undefined : Math.min(...ends)
}

/** Deletes the Secret if it still belongs to this Certificate and the spec allows it. Returns false to try again later. */
async function isRemoved(
  parts: CertificateParts,
  { object, spec }: CertificateContext,
  { name }: FormerSecret,
): Promise<boolean> {
  const key = inNamespaceOf(object, name)
  if (mustStay(spec) || parts.storeOf(certificate).by("secret", key).length > 0) return true
  const found = await presentAt(parts, secrets, key)
  if (found === undefined || !belongsTo(object, found)) return true
  try {
    await parts.cluster.delete(secrets, key, found.metadata.uid)
    return true
  } catch (error) {
    if (!isRejection(error)) throw error
    return false
  }
}

const mustStay = ({ secretDeletionPolicy }: CertificateSpec): boolean => secretDeletionPolicy === "Retain"
