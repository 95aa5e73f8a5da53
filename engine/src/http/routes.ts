import type { Route } from "./route.ts"
import { workspaceRoutes } from "./routes/workspaces.ts"

/** Every endpoint that needs a token, relative to `/api/v2`. */
export const apiRoutes: readonly Route[] = [...workspaceRoutes]
