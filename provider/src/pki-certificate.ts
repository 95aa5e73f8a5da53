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
export interface PkiCertificateArgs extends IssuanceArgs, NamesArgs, ValidityArgs {
  /** Role that issues the certificate. */
  role: pulumi.Input<string>
  /** User IDs (UID) of the subject. */
  userIds?: Texts
  /** Metadata stored with the certificate (base64). Default: the stack's name and the time, unless the role stores none. */
  certMetadata?: pulumi.Input<string>
  /** Type of the key, if the role allows any. */
  keyType?: pulumi.Input<"rsa" | "ec" | "ed25519">
  /** Size of the key in bits. Default (or 0): that of the role, else 2048 for RSA and 256 for EC. */
  keyBits?: pulumi.Input<number>
  /** Encoding of the private key: `der` (the usual form of the key type) or `pkcs8` (PEM). Default: `der`. */
  privateKeyFormat?: pulumi.Input<"der" | "pkcs8">
  /**
   * What happens to the certificate when it is removed or replaced. `revokeWithKey` is for tokens that may revoke only with the
   * private key. Default: `retain`.
   */
  onDestroy?: pulumi.Input<"retain" | "revoke" | "revokeWithKey">
}

/** Outputs of a certificate. */
export interface PkiCertificateState extends IssuanceState {
  /** Private key (PEM, or base64 of DER), a secret. The server returns it once, so it is null after `get`. */
  readonly privateKey: string | null
  /** Type of the private key: `rsa`, `ec` or `ed25519`. Null after `get`. */
  readonly privateKeyType: string | null
}

const outputs = [
  ...issuanceOutputs,
  "privateKey",
  "privateKeyType",
] as const satisfies readonly (keyof PkiCertificateState)[]

/**
 * A certificate with a private key, issued by a role. Its id is `MOUNT/SERIAL`. The private key is a secret output; it is stored
 * in the state of the stack only.
 */
export const PkiCertificate: ResourceClass<PkiCertificateArgs, PkiCertificateState> = declaredResource<
  PkiCertificateArgs,
  PkiCertificateState
>({
  kind: "pkiCertificate",
  outputs,
  // A bundle contains the private key.
  secretOutputs: { privateKey: true, certificate: { member: "format", values: [undefined, "pem", "der"] } },
})
export type PkiCertificate = InstanceType<typeof PkiCertificate>
