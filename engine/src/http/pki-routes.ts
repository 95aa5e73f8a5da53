import type { PkiRoute } from "./pki-route.ts"
import { accountBindingRoutes } from "./pki/account-bindings.ts"
import { acmeRoutes } from "./pki/acme.ts"
import { acmeManagementRoutes } from "./pki/acme-management.ts"
import { certificateRoutes } from "./pki/certificates.ts"
import { externalPolicyRoutes } from "./pki/external-policy.ts"
import { crlRoutes } from "./pki/crls.ts"
import { revocationRoutes } from "./pki/revocation.ts"
import { ocspRoutes } from "./pki/ocsp.ts"
import { issuerRoutes } from "./pki/issuers.ts"
import { keyRoutes } from "./pki/keys.ts"
import { mountSettingsRoutes } from "./pki/mount-settings.ts"
import { tidyRoutes } from "./pki/tidy.ts"
import { roleRoutes } from "./pki/roles.ts"
import { storedCertificateRoutes } from "./pki/stored-certificates.ts"

/** Every endpoint of a mount. */
export const pkiRoutes: readonly PkiRoute[] = [
  ...issuerRoutes,
  ...keyRoutes,
  ...mountSettingsRoutes,
  ...roleRoutes,
  ...certificateRoutes,
  ...storedCertificateRoutes,
  ...revocationRoutes,
  ...crlRoutes,
  ...tidyRoutes,
  ...ocspRoutes,
  ...externalPolicyRoutes,
  ...acmeRoutes,
  ...accountBindingRoutes,
  ...acmeManagementRoutes,
]
