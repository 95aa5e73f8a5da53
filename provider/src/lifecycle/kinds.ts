// Lifecycles of all kinds, by the name that states use.
import type { Runtime } from "@chancery/engine"
import { systemRuntime } from "@chancery/engine/declared/shared"
import { certificateLifecyclesBy } from "./certificate-lifecycles.ts"
import type { Lifecycle } from "./lifecycle.ts"
import { workspaceLifecyclesBy } from "./workspace-lifecycles.ts"

export const lifecyclesBy = (clock: Runtime["clock"]): Readonly<Record<KindName, Lifecycle>> => ({
  ...workspaceLifecyclesBy(clock),
  ...certificateLifecyclesBy(clock),
})

export const lifecycles = lifecyclesBy(systemRuntime().clock)

/** Names of the kinds, as type tokens and states carry them. */
export type KindName =
  | "workspace"
  | "workspaceTags"
  | "tagBindings"
  | "remoteStateConsumers"
  | "sshKeyAssignment"
  | "workspaceLock"
  | "dataRetentionPolicy"
  | "project"
  | "variable"
  | "tag"
  | "pkiMount"
  | "pkiRole"
  | "acmeConfig"
  | "acmeEab"
  | "pkiCertificate"
  | "pkiSignedCertificate"
  | "pkiIntermediate"
  | "pkiRevocation"
  | "pkiIssuer"

/** Arguments whose default is the resource's name in the program. A kind has at most one. */
export type NamingMember = "name" | "path"
