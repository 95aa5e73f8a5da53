import type * as pulumi from "@pulumi/pulumi"
import type { ObservedPkiCertificate } from "@chancery/engine/managed"
import type { IssuanceArgs, NamesArgs, Texts, ValidityArgs } from "./certificate-args.ts"
import { issuanceOutputs } from "./pki-signed-certificate.ts"
import { declaredResource } from "./shell.ts"

/** Whatever is declared otherwise makes another certificate, `renewBefore` and `onDestroy` excepted. */
export interface PkiCertificateArgs extends IssuanceArgs, NamesArgs, ValidityArgs {
  /** By whose rules it is issued. */
  role: pulumi.Input<string>
  /** User IDs of the subject. */
  userIds?: Texts
  /** Base64, kept by the mount; who declares the certificate, and when, when left out, unless the role keeps none. */
  certMetadata?: pulumi.Input<string>
  /** Where the role leaves it open. */
  keyType?: pulumi.Input<"rsa" | "ec" | "ed25519">
  /** What is usual for the type when left out or 0. */
  keyBits?: pulumi.Input<number>
  /** `der`, the form that is usual for the type of key, when left out; `pkcs8` is PEM in every format. */
  privateKeyFormat?: pulumi.Input<"der" | "pkcs8">
  /**
   * What becomes of it when nobody declares it any more, and when another one has taken its place. `retain` when left out.
   * `revokeWithKey` is for tokens that may revoke what they have the key of.
   */
  onDestroy?: pulumi.Input<"retain" | "revoke" | "revokeWithKey">
}

export type PkiCertificateState = ObservedPkiCertificate

const outputs = [
  ...issuanceOutputs,
  "privateKey",
  "privateKeyType",
] as const satisfies readonly (keyof PkiCertificateState)[]

/**
 * A certificate with a key of its own (specification 4.4). Its id is `MOUNT/SERIAL`. The private key is a secret output, and is
 * in the state of the stack and nowhere else.
 */
export const PkiCertificate = declaredResource<PkiCertificateArgs, PkiCertificateState>({
  kind: "pkiCertificate",
  outputs,
  // A bundle has the key in it.
  secretOutputs: ({ format = "pem" }) =>
    format === "pem" || format === "der" ? ["privateKey"] : ["privateKey", "certificate"],
})
export type PkiCertificate = InstanceType<typeof PkiCertificate>
