import type { AuthRoute } from "../pki-route.ts"

export const appRoleRoutes: readonly AuthRoute[] = []
