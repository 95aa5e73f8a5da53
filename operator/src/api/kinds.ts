// All kinds, in the order in which their definitions are written.
import { certificateRole } from "./certificate-role.ts"
import { certificate } from "./certificate.ts"
import { clusterConnection } from "./cluster-connection.ts"
import { connection } from "./connection.ts"
import type { Kind } from "./definition.ts"
import { clusterIssuer, issuer } from "./issuer.ts"
import { trustBundle } from "./trust-bundle.ts"
import { workspace } from "./workspace.ts"

export const kinds: readonly Kind<unknown>[] = [
  connection,
  clusterConnection,
  issuer,
  clusterIssuer,
  certificateRole,
  certificate,
  trustBundle,
  workspace,
]
