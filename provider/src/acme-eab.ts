import type * as pulumi from "@pulumi/pulumi"
import type { ObservedPkiAcmeEab } from "@chancery/engine/managed"
import type { LifeArgs } from "./life-args.ts"
import { declaredResource } from "./shell.ts"

/** Names the directory: the mount's own where nothing else is said. Whatever is declared otherwise makes another one. */
export interface AcmeEabArgs extends LifeArgs {
  /** Path of the mount. `chancery:pkiMount`, else `pki`, when left out. */
  mount?: pulumi.Input<string>
  /** Id or name. */
  issuerRef?: pulumi.Input<string>
  role?: pulumi.Input<string>
  /** In a role's place: the policy's name, empty for the service's own choice. */
  externalPolicy?: pulumi.Input<string>
  /** For how long it waits to be used: `24h`; for ever when left out or `0s`. */
  ttl?: pulumi.Input<string>
}

export type AcmeEabState = ObservedPkiAcmeEab

const outputs = [
  "mount",
  "issuerRef",
  "role",
  "externalPolicy",
  "ttl",
  "keyId",
  "key",
  "acmeDirectory",
  "createdAt",
  "isWaiting",
] as const satisfies readonly (keyof AcmeEabState)[]

/**
 * What lets one client register one account in one directory (specification 4.2). Its id is `MOUNT/eab/KEY_ID`. The key is a
 * secret output, and is in the state of the stack and nowhere else.
 */
export const AcmeEab = declaredResource<AcmeEabArgs, AcmeEabState>({
  kind: "acmeEab",
  outputs,
  secretOutputs: () => ["key"],
})
export type AcmeEab = InstanceType<typeof AcmeEab>
