import type { KubernetesObject } from "../kubernetes-object.ts"
import type { CertificateFigures } from "../metrics.ts"
import { framed } from "./certificate-case.ts"
import type { CertificateStatus } from "./certificate-status.ts"

export function figuresOf(object: KubernetesObject): CertificateFigures {
  const { namespace = "", name } = object.metadata
  const { notAfter, renewalTime }: CertificateStatus = object["status"] ?? {}
  const isReady = framed(object).conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false
  return {
    namespace,
    name,
    isReady,
    ...(notAfter === undefined ? {} : { expiresAt: Date.parse(notAfter) / 1_000 }),
    ...(renewalTime === undefined ? {} : { renewsAt: Date.parse(renewalTime) / 1_000 }),
  }
}
