// Metrics of certificates, named like those of cert-manager so that dashboards can be adapted.
import type { Figure } from "../controllers.ts"
import type { KubernetesObject } from "../../kube/kubernetes-object.ts"
import { framed } from "./certificate-context.ts"
import type { CertificateStatus } from "./certificate-status.ts"

const statusOf = ({ status }: KubernetesObject): CertificateStatus => status ?? {}

const secondsOf = (time: string | undefined): number | undefined =>
  time === undefined ? undefined : Date.parse(time) / 1_000

export const certificateFigures: readonly Figure[] = [
  {
    name: "chancery_operator_certificate_ready_status",
    help: "1 if the certificate is valid and ready, otherwise 0.",
    // The certificate may have expired since the status was written.
    of: (object, now) =>
      Number(
        framed(object).conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true &&
          Date.parse(statusOf(object).notAfter ?? "") > now,
      ),
  },
  {
    name: "chancery_operator_certificate_failed_issuance_attempts",
    help: "Number of consecutive failed attempts to issue a certificate.",
    of: (object) => statusOf(object).failedIssuanceAttempts ?? 0,
  },
  {
    name: "chancery_operator_certificate_expiration_timestamp_seconds",
    help: "Expiry of a certificate, in seconds since 1970.",
    of: (object) => secondsOf(statusOf(object).notAfter),
  },
  {
    name: "chancery_operator_certificate_renewal_timestamp_seconds",
    help: "Time of the next renewal of a certificate, in seconds since 1970.",
    of: (object) => secondsOf(statusOf(object).renewalTime),
  },
]
