import type * as pulumi from "@pulumi/pulumi"
import { type AuthorityArgs, type IssuanceArgs, issuanceOutputs, type IssuanceState } from "./certificate-args.ts"
import { declaredResource, type ResourceClass } from "./pulumi-resource.ts"

/** Changing any member except `renewBefore` and `onDestroy` forces replacement. */
export interface PkiIntermediateArgs extends IssuanceArgs, AuthorityArgs {
  /** Certificate signing request (PKCS #10, PEM). */
  csr: pulumi.Input<string>
  /** Use the subject, names and extensions of the CSR instead of the declared ones. Default: false. */
  useCsrValues?: pulumi.Input<boolean>
  /** Apply the issuer's `leafNotAfterBehavior` to certificates that outlive it, instead of truncating them. Default: false. */
  enforceLeafNotAfterBehavior?: pulumi.Input<boolean>
  /** What happens to the certificate when it is removed or replaced. Default: `retain`. */
  onDestroy?: pulumi.Input<"retain" | "revoke">
}

/** Outputs of an intermediate certificate. */
export interface PkiIntermediateState extends IssuanceState {}

/** The certificate of an intermediate authority whose key is elsewhere; `PkiIssuer` keeps its key in a mount. Its id is `MOUNT/SERIAL`. */
export const PkiIntermediate: ResourceClass<PkiIntermediateArgs, PkiIntermediateState> = declaredResource<
  PkiIntermediateArgs,
  PkiIntermediateState
>({
  kind: "pkiIntermediate",
  outputs: issuanceOutputs,
})
export type PkiIntermediate = InstanceType<typeof PkiIntermediate>
