import type * as pulumi from "@pulumi/pulumi"
import type { ObservedIssuance } from "@chancery/engine/managed"
import type { AuthorityArgs, IssuanceArgs } from "./certificate-args.ts"
import type { OutputsOf } from "./outputs.ts"
import { issuanceOutputs } from "./pki-signed-certificate.ts"
import { DeclaredResource } from "./shell.ts"

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

type Outputs = OutputsOf<PkiIntermediateState>

/**
 * The certificate of an authority whose key is elsewhere (specification 4.8); `PkiIssuer` is one whose key is in a mount. Its id
 * is `MOUNT/SERIAL`.
 */
// The outputs are put there by the SDK, one property for each name it is given.
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging
export interface PkiIntermediate extends Outputs {}
export class PkiIntermediate extends DeclaredResource {
  constructor(name: string, args: PkiIntermediateArgs, options?: pulumi.CustomResourceOptions) {
    super("pkiIntermediate", name, issuanceOutputs, args, options)
  }
}
