import type { AuthMethodType } from "../../access/logins/auth-method.ts"
import { acmeRoutes } from "../acme/acme.ts"
import { estRoutes } from "../est/est.ts"
import { accountBindingRoutes, acmeManagementRoutes } from "./acme-management.ts"
import { blockedKeyRoutes } from "./blocked-keys.ts"
import { certificateRoutes, inventoryRoutes, revocationRoutes, storedCertificateRoutes } from "./certificates.ts"
import { crlRoutes } from "./crls.ts"
import { enrolmentRoutes } from "./enrolments.ts"
import { externalPolicyRoutes } from "./external-policy.ts"
import { healthRoutes } from "./health.ts"
import { issuerRoutes } from "./issuers.ts"
import { keyRoutes } from "./keys.ts"
import { leaseRoutes } from "./leases.ts"
import {
  appRoleRoutes,
  authMethodRoutes,
  certificateLoginRoutes,
  kubernetesRoutes,
  lockedUserRoutes,
  userpassRoutes,
} from "./logins.ts"
import { estConfigRoutes, mountRoutes, mountSettingsRoutes } from "./mounts.ts"
import { ocspRoutes } from "./ocsp.ts"
import { policyRoutes } from "./policies.ts"
import { roleRoutes } from "./roles.ts"
import { tidyRoutes } from "./tidy.ts"
import { tokenRoleRoutes, tokenRoutes } from "./tokens.ts"
import type { AuthRoute, PkiRoute, SystemRoute } from "./vault-route.ts"

/** All endpoints of a mount. */
export const pkiRoutes: readonly PkiRoute[] = [
  ...issuerRoutes,
  ...keyRoutes,
  ...mountSettingsRoutes,
  ...estConfigRoutes,
  ...estRoutes,
  ...roleRoutes,
  ...certificateRoutes,
  ...storedCertificateRoutes,
  ...revocationRoutes,
  ...crlRoutes,
  ...tidyRoutes,
  ...ocspRoutes,
  ...externalPolicyRoutes,
  ...enrolmentRoutes,
  ...acmeRoutes,
  ...accountBindingRoutes,
  ...acmeManagementRoutes,
]

/** All endpoints of the server itself, relative to `/v1`. */
export const systemRoutes: readonly SystemRoute[] = [
  ...healthRoutes,
  ...mountRoutes,
  ...authMethodRoutes,
  ...lockedUserRoutes,
  ...policyRoutes,
  ...blockedKeyRoutes,
  ...inventoryRoutes,
  ...tokenRoutes,
  ...tokenRoleRoutes,
  ...leaseRoutes,
]

/** All endpoints of an auth method, by its type. */
export const authRoutes: Readonly<Record<AuthMethodType, readonly AuthRoute[]>> = {
  approle: appRoleRoutes,
  cert: certificateLoginRoutes,
  kubernetes: kubernetesRoutes,
  userpass: userpassRoutes,
}
