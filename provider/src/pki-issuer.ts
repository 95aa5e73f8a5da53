import type * as pulumi from "@pulumi/pulumi"
import type { ObservedPkiAuthority } from "@chancery/engine/managed"
import type { AuthorityArgs, Texts } from "./certificate-args.ts"
import type { LifeArgs } from "./life-args.ts"
import { declaredResource } from "./shell.ts"

/**
 * What a certificate says, and what key it is for, makes another issuer when it is declared otherwise: the old one goes first,
 * unless `name` is another one too. What follows `bundle` is changed in place, and goes back to what a new issuer has when it is
 * declared no longer; `usage` and `isDefault` stay.
 */
export interface PkiIssuerArgs extends LifeArgs, AuthorityArgs {
  /**
   * `root` signs itself. `intermediate` is signed by an issuer of the engine (`parentIssuerRef`, `parentMount`), or elsewhere
   * (`csr`, then `signedCertificate`). `imported` comes with its key (`bundle`).
   */
  kind: pulumi.Input<"root" | "intermediate" | "imported">
  /** Path of the mount. `chancery:pkiMount`, else `pki`, when left out. Another one makes another issuer. */
  mount?: pulumi.Input<string>
  /** Unique in the mount; the resource's name in the program when left out. Changed in place. */
  name?: pulumi.Input<string>
  /** `rsa` when left out. */
  keyType?: pulumi.Input<"rsa" | "ec" | "ed25519">
  /** What is usual for the type when left out or 0. */
  keyBits?: pulumi.Input<number>
  /** Unique in the mount; the issuer's name when left out. Changed in place. */
  keyName?: pulumi.Input<string>
  /** Whose issuer signs; this mount when left out. */
  parentMount?: pulumi.Input<string>
  /** An issuer's id or name, or `default`, which it is when only `parentMount` is declared. */
  parentIssuerRef?: pulumi.Input<string>
  /**
   * PEM: what was made of `csr` elsewhere, and then the certificates above it. Another one, for the same key, takes the place of
   * the one before under its name.
   */
  signedCertificate?: pulumi.Input<string>
  /** Whether `csr` says that it is for an authority; some signers look for it. */
  addBasicConstraints?: pulumi.Input<boolean>
  /** PEM: the issuer's certificate, then those above it, and its private key. A secret, and in no output. */
  bundle?: pulumi.Input<string>
  /** What becomes of a certificate that would outlive the issuer; `err` when left out. */
  leafNotAfterBehavior?: pulumi.Input<"err" | "truncate" | "permit" | "always_enforce_err">
  /** What it is for; all that its certificate allows when left out. `read-only` always holds. */
  usage?: pulumi.Input<pulumi.Input<"read-only" | "issuing-certificates" | "crl-signing" | "ocsp-signing">[]>
  /** Ids of the issuers above it, nearest first, instead of the chain that is found. */
  manualChain?: Texts
  /** `SHA256WithRSAPSS`, …; what suits the key when left out. */
  revocationSignatureAlgorithm?: pulumi.Input<string>
  /** Where clients find its certificate, its lists and its responders, instead of what the mount says. */
  issuingCertificates?: Texts
  crlDistributionPoints?: Texts
  deltaCrlDistributionPoints?: Texts
  ocspServers?: Texts
  /** Whether `{{issuer_id}}` and the like in these addresses are filled in. */
  enableTemplating?: pulumi.Input<boolean>
  /** Makes it the mount's default issuer. False, like nothing, leaves that to others. */
  isDefault?: pulumi.Input<boolean>
  /** Takes over an issuer of this name, subject and key that has issued certificates already; it is left there at the end. */
  adopt?: pulumi.Input<boolean>
}

/** What a state has of an issuer: every setting as it is in force. */
export type PkiIssuerState = ObservedPkiAuthority & { readonly adopted: boolean }

const outputs = [
  "mount",
  "name",
  "issuerId",
  "keyId",
  "keyName",
  "csr",
  "certificate",
  "caChain",
  "serialNumber",
  "expiration",
  "revokedAt",
  "leafNotAfterBehavior",
  "usage",
  "manualChain",
  "revocationSignatureAlgorithm",
  "issuingCertificates",
  "crlDistributionPoints",
  "deltaCrlDistributionPoints",
  "ocspServers",
  "enableTemplating",
  "isDefault",
  "adopted",
] as const satisfies readonly (keyof PkiIssuerState)[]

/**
 * An authority whose key is in a mount, which it never leaves. `deletionPolicy: "safe"` keeps it while what it has issued is
 * valid; its key goes with it. Its id is `MOUNT/ISSUER`, that of an intermediate `MOUNT/KEY`, by ids.
 */
export const PkiIssuer = declaredResource<PkiIssuerArgs, PkiIssuerState>({
  kind: "pkiIssuer",
  outputs,
  named: "name",
  secretInputs: () => ["bundle"],
})
export type PkiIssuer = InstanceType<typeof PkiIssuer>
