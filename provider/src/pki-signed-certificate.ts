import type * as pulumi from "@pulumi/pulumi"
import {
  type IssuanceArgs,
  issuanceOutputs,
  type IssuanceState,
  type NamesArgs,
  type Texts,
  type ValidityArgs,
} from "./certificate-args.ts"
import { declaredResource, type ResourceClass } from "./pulumi-resource.ts"

/** Changing any member except `renewBefore` and `onDestroy` forces replacement. */
export interface PkiSignedCertificateArgs extends IssuanceArgs, NamesArgs, ValidityArgs {
  /** Certificate signing request (PKCS #10, PEM). */
  csr: pulumi.Input<string>
  /** Role that signs. Required unless `verbatim`, where a role supplies lifetimes only. */
  role?: pulumi.Input<string>
  /** Sign the names of the CSR as they are, without the rules of a role. Default: false. */
  verbatim?: pulumi.Input<boolean>
  /** User IDs (UID) of the subject. */
  userIds?: Texts
  /** Metadata stored with the certificate (base64). Default: the stack's name and the time, unless the role stores none. */
  certMetadata?: pulumi.Input<string>
  /** Key usages, if `verbatim` and the CSR has none. */
  keyUsages?: Texts
  /** Extended key usages by name, if `verbatim` and the CSR has none. */
  extKeyUsages?: Texts
  /** Extended key usages by object identifier, if `verbatim` and the CSR has none. */
  extKeyUsageOids?: Texts
  /** Bits of the signature's hash: 256, 384 or 512. Default (or 0): chosen by the issuer's key. */
  signatureBits?: pulumi.Input<number>
  /** Sign with RSASSA-PSS if the issuer's key is RSA. Default: false. */
  usePss?: pulumi.Input<boolean>
  /** Apply the issuer's `leafNotAfterBehavior` to certificates that outlive it, instead of truncating them. Default: false. */
  enforceLeafNotAfterBehavior?: pulumi.Input<boolean>
  /** Add basicConstraints CA:FALSE; the role may do so as well. Default: false. */
  basicConstraintsValidForNonCa?: pulumi.Input<boolean>
  /** What happens to the certificate when it is removed or replaced. Default: `retain`. */
  onDestroy?: pulumi.Input<"retain" | "revoke">
}

/** Outputs of a signed certificate. */
export interface PkiSignedCertificateState extends IssuanceState {}

/** A certificate for a key that stays with its owner. Its id is `MOUNT/SERIAL`. */
export const PkiSignedCertificate: ResourceClass<PkiSignedCertificateArgs, PkiSignedCertificateState> =
  declaredResource<PkiSignedCertificateArgs, PkiSignedCertificateState>({
    kind: "pkiSignedCertificate",
    outputs: issuanceOutputs,
  })
export type PkiSignedCertificate = InstanceType<typeof PkiSignedCertificate>
