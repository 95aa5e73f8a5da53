// Everything that an issuer contributes to the objects it signs, computed once for each version of the mount.
import { authorityInfoAccess, crlDistributionPoints, freshestCrl } from "../../x509/distribution-points.ts"
import type { Extension } from "../../x509/extension.ts"
import { authorityKeyIdentifier } from "../../x509/extensions.ts"
import type { SerialNumber } from "../../x509/serial-number.ts"
import {
  chooseSignatureAlgorithm,
  parseSignatureAlgorithm,
  type SignatureAlgorithm,
} from "../../x509/signature-algorithm.ts"
import type { SigningKey } from "../../x509/signing-key.ts"
import { type Shard, shardOf, shardUrl } from "../crl/shard.ts"
import type { SigningKeys } from "../keys/signing-keys.ts"
import { type MountSnapshot, rejectUnusable } from "../mounts/mount-snapshot.ts"
import { filledUrls, type FilledUrls } from "./authority-urls.ts"
import { chainOf } from "./chain.ts"
import type { IssuerUsage } from "./issuer.ts"
import type { ParsedIssuer } from "./parsed-issuer.ts"

export interface IssuerSigner {
  readonly issuer: ParsedIssuer
  /** Name, DER: the subject of the issuer's certificate. */
  readonly name: Uint8Array
  readonly key: SigningKey
  /** Extensions of every certificate that it signs: authority key identifier, and URLs of the issuer. */
  readonly extensions: readonly Extension[]
  /** Returns the extensions for a serial number. If CRLs are sharded, their URLs are those of the shard of that number. */
  readonly extensionsFor: (serialNumber: SerialNumber) => readonly Extension[]
  /** DER; the issuer's certificate first. */
  readonly chain: readonly Uint8Array[]
  /** Chain without self-signed certificates. */
  readonly chainWithoutRoots: readonly Uint8Array[]
  readonly warnings: readonly string[]
}

/** Returns the signer of an issuer. Throws `EngineError` if the issuer does not have this usage, or has no key in the mount. */
export async function signerOf(
  signingKeys: SigningKeys,
  snapshot: MountSnapshot,
  issuer: ParsedIssuer,
  usage: IssuerUsage,
): Promise<IssuerSigner> {
  rejectUnusable(issuer, usage)
  const known = signers.get(issuer)
  if (known !== undefined) return known
  if (issuer.keyId === null) throw new TypeError("an issuer without a key was selected for signing")
  const key = await signingKeys.open(issuer.keyId)
  const { urls, warnings } = filledUrls(issuer, snapshot.settings)
  const chain = chainOf(issuer, snapshot.issuers)
  const signer: IssuerSigner = {
    issuer,
    name: issuer.parsed.subject,
    key,
    ...extensionsOf(issuer, urls, snapshot.settings.crl.shards),
    chain: chain.map(({ certificate }) => certificate),
    chainWithoutRoots: chain.filter(({ isSelfSigned }) => !isSelfSigned).map(({ certificate }) => certificate),
    warnings,
  }
  signers.set(issuer, signer)
  return signer
}

/** Signers by issuer. Each version of a mount has its own `ParsedIssuer` objects, so cached signers are dropped with it. */
const signers = new WeakMap<ParsedIssuer, IssuerSigner>()

function extensionsOf(issuer: ParsedIssuer, urls: FilledUrls, shardCount: number) {
  const identifier = issuer.keyIdentifier
  const extensions = issuerExtensions(identifier, urls)
  const divided: (readonly Extension[])[] = []
  return {
    extensions,
    extensionsFor(serialNumber: SerialNumber): readonly Extension[] {
      if (shardCount === 1) return extensions
      const shard = shardOf(serialNumber, shardCount)
      return (divided[shard.index] ??= issuerExtensions(identifier, urlsOfShard(urls, shard)))
    },
  }
}

const urlsOfShard = (urls: FilledUrls, shard: Shard): FilledUrls => ({
  ...urls,
  crlDistributionPoints: urls.crlDistributionPoints.map((url) => shardUrl(url, shard)),
  deltaCrlDistributionPoints: urls.deltaCrlDistributionPoints.map((url) => shardUrl(url, shard)),
})

/** Returns the extensions that identify an issuer and locate its data. Empty lists are left out. */
export function issuerExtensions(keyIdentifier: Uint8Array, urls: FilledUrls): readonly Extension[] {
  const { issuingCertificates, ocspServers, crlDistributionPoints: crls, deltaCrlDistributionPoints: deltas } = urls
  const extensions: Extension[] = [authorityKeyIdentifier(keyIdentifier)]
  if (ocspServers.length + issuingCertificates.length > 0)
    extensions.push(authorityInfoAccess({ ocspServers, issuingCertificates }))
  // One point with several URLs means one list in several places (RFC 5280, section 4.2.1.13).
  if (crls.length > 0) extensions.push(crlDistributionPoints([crls]))
  if (deltas.length > 0) extensions.push(freshestCrl([deltas]))
  return extensions
}

/** Returns the algorithm with which an issuer signs CRLs and OCSP responses. */
export const revocationSignatureAlgorithm = ({ settings, publicKey }: ParsedIssuer): SignatureAlgorithm =>
  parseSignatureAlgorithm(settings.revocationSignatureAlgorithm) ??
  chooseSignatureAlgorithm(publicKey.algorithm, { signatureBits: 0, usePss: false })
