import type * as pulumi from "@pulumi/pulumi"
import type { ObservedIssuance } from "@chancery/engine/managed"
import type { IssuanceArgs, NamesArgs, Texts, ValidityArgs } from "./certificate-args.ts"
import { declaredResource } from "./shell.ts"

/** Whatever is declared otherwise makes another certificate, `renewBefore` and `onDestroy` excepted. */
export interface PkiSignedCertificateArgs extends IssuanceArgs, NamesArgs, ValidityArgs {
  /** PKCS #10, PEM. */
  csr: pulumi.Input<string>
  /** By whose rules it is signed. Required unless `verbatim`, where a role lends its lifetimes only. */
  role?: pulumi.Input<string>
  /** Signs what the request says, whatever that is (specification 4.11); names are then the request's alone. */
  verbatim?: pulumi.Input<boolean>
  /** User IDs of the subject. */
  userIds?: Texts
  /** Base64, kept by the mount; who declares the certificate, and when, when left out, unless the role keeps none. */
  certMetadata?: pulumi.Input<string>
  /** With `verbatim`, like those below: for a request that asks for none. */
  keyUsages?: Texts
  extKeyUsages?: Texts
  extKeyUsageOids?: Texts
  /** 256, 384 or 512; what suits the issuer's key when left out or 0. */
  signatureBits?: pulumi.Input<number>
  usePss?: pulumi.Input<boolean>
  /** Whether the issuer's own rule decides on what outlives it; otherwise that is cut. */
  enforceLeafNotAfterBehavior?: pulumi.Input<boolean>
  /** What becomes of it when nobody declares it any more, and when another one has taken its place. `retain` when left out. */
  onDestroy?: pulumi.Input<"retain" | "revoke">
}

export type PkiSignedCertificateState = ObservedIssuance

export const issuanceOutputs = [
  "mount",
  "serialNumber",
  "certificate",
  "issuingCa",
  "caChain",
  "expiration",
  "revokedAt",
  "renewBefore",
  "onDestroy",
] as const satisfies readonly (keyof ObservedIssuance)[]

/** A certificate for a key that never leaves its owner (specification 4.6). Its id is `MOUNT/SERIAL`. */
export const PkiSignedCertificate = declaredResource<PkiSignedCertificateArgs, PkiSignedCertificateState>({
  kind: "pkiSignedCertificate",
  outputs: issuanceOutputs,
})
export type PkiSignedCertificate = InstanceType<typeof PkiSignedCertificate>
