import type { PkiRoute } from "./pki-route.ts"

/** Every endpoint of a mount. */
export const pkiRoutes: readonly PkiRoute[] = []
