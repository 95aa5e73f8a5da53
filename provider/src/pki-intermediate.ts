import type * as pulumi from "@pulumi/pulumi"
import type { ObservedIssuance } from "@chancery/engine/managed"
import type { AuthorityArgs, IssuanceArgs } from "./certificate-args.ts"
import { issuanceOutputs } from "./pki-signed-certificate.ts"
import { declaredResource } from "./shell.ts"

/** Whatever is declared otherwise makes another certificate, `renewBefore` and `onDestroy` excepted. */
export interface PkiIntermediateArgs extends IssuanceArgs, AuthorityArgs {
  /** PKCS #10, PEM. */
  csr: pulumi.Input<string>
  /** Takes subject, names and extensions of the request instead of those declared here. */
  useCsrValues?: pulumi.Input<boolean>
  /** Whether the issuer's own rule decides on what outlives it; otherwise that is cut. */
  enforceLeafNotAfterBehavior?: pulumi.Input<boolean>
  /** What becomes of it when nobody declares it any more, and when another one has taken its place. `retain` when left out. */
  onDestroy?: pulumi.Input<"retain" | "revoke">
}

export type PkiIntermediateState = ObservedIssuance

/**
 * The certificate of an authority whose key is elsewhere (specification 4.8); `PkiIssuer` is one whose key is in a mount. Its id
 * is `MOUNT/SERIAL`.
 */
export const PkiIntermediate = declaredResource<PkiIntermediateArgs, PkiIntermediateState>({
  kind: "pkiIntermediate",
  outputs: issuanceOutputs,
})
export type PkiIntermediate = InstanceType<typeof PkiIntermediate>
