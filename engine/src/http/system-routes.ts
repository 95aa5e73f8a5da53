import { authMethodRoutes } from "./pki/auth-methods.ts"
import { blockedKeyRoutes } from "./pki/blocked-keys.ts"
import { healthRoutes } from "./pki/health.ts"
import { inventoryRoutes } from "./pki/inventory.ts"
import { leaseRoutes } from "./pki/leases.ts"
import { mountRoutes } from "./pki/mounts.ts"
import { policyRoutes } from "./pki/policies.ts"
import { tokenRoleRoutes } from "./pki/token-roles.ts"
import { tokenRoutes } from "./pki/tokens.ts"
import type { SystemRoute } from "./pki-route.ts"

/** Every endpoint of the server itself, from `/v1`. */
export const systemRoutes: readonly SystemRoute[] = [
  ...healthRoutes,
  ...mountRoutes,
  ...authMethodRoutes,
  ...policyRoutes,
  ...blockedKeyRoutes,
  ...inventoryRoutes,
  ...tokenRoutes,
  ...tokenRoleRoutes,
  ...leaseRoutes,
]
