import type { PkiRoute } from "./pki-route.ts"
import { certificateRoutes } from "./pki/certificates.ts"
import { roleRoutes } from "./pki/roles.ts"

/** Every endpoint of a mount. */
export const pkiRoutes: readonly PkiRoute[] = [...roleRoutes, ...certificateRoutes]
