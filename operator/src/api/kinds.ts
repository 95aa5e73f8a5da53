// All kinds, in the order in which their definitions are written.
import { certificateAuthority } from "./certificate-authority.ts"
import { certificateRole } from "./certificate-role.ts"
import { certificate } from "./certificate.ts"
import { clusterConnection } from "./cluster-connection.ts"
import { connection } from "./connection.ts"
import type { Kind } from "./definition.ts"
import { clusterIssuer, issuer } from "./issuer.ts"
import { mount } from "./mount.ts"
import { project } from "./project.ts"
import { trustBundle } from "./trust-bundle.ts"
import { workspace } from "./workspace.ts"

export const kinds: readonly Kind<unknown>[] = [
  connection,
  clusterConnection,
  mount,
  certificateAuthority,
  issuer,
  clusterIssuer,
  certificateRole,
  certificate,
  trustBundle,
  project,
  workspace,
]
