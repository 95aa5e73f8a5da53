import { acmeRequests } from "./acme-requests.ts"
import { appRoleRequests } from "./app-role-requests.ts"
import { certificateLoginRequests } from "./certificate-login-requests.ts"
import { certificateRequests, storedCertificateRequests } from "./certificate-requests.ts"
import { estRequests } from "./est-requests.ts"
import { enrolmentRequests } from "./enrolment-requests.ts"
import { externalPolicyRequests } from "./external-policy-requests.ts"
import { kubernetesRequests } from "./kubernetes-requests.ts"
import { leaseRequests } from "./lease-requests.ts"
import { ocspRequests } from "./ocsp-requests.ts"
import { issuerRequests } from "./issuer-requests.ts"
import type { PreparePki } from "./prepared-request.ts"
import { revocationRequests } from "./revocation-requests.ts"
import { roleRequests } from "./role-requests.ts"
import { systemRequests } from "./system-requests.ts"
import { tidyRequests } from "./tidy-requests.ts"
import { tokenRequests } from "./token-requests.ts"
import { userpassRequests } from "./userpass-requests.ts"

/** Keyed by endpoint, as `METHOD path`. */
export const requests: Readonly<Record<string, PreparePki>> = {
  ...systemRequests,
  ...tokenRequests,
  ...appRoleRequests,
  ...certificateLoginRequests,
  ...kubernetesRequests,
  ...userpassRequests,
  ...leaseRequests,
  ...issuerRequests,
  ...roleRequests,
  ...revocationRequests,
  ...tidyRequests,
  ...ocspRequests,
  ...certificateRequests,
  ...storedCertificateRequests,
  ...externalPolicyRequests,
  ...enrolmentRequests,
  ...estRequests,
  ...acmeRequests,
}
