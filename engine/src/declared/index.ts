// The kinds that programs and manifests declare: re-exports only.
export * from "./certificates.ts"
export * from "./shared.ts"
export * from "./workspaces.ts"

import { pkiRoleResource } from "./pki-role.ts"
import type { Definition } from "./declared-resource.ts"

/** In the order of the reference. */
export const declaredResources: readonly Definition[] = [pkiRoleResource]
