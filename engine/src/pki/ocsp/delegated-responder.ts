// Delegated responder: a key that answers for an issuer (RFC 6960, section 4.2.2.2). Its certificate is short-lived and exempt from
// revocation checks, so the key of the issuer signs only once in a few days. It is sealed in the settings of the mount, and shared by
// all servers of a database.
import type { RecordKeyUse } from "../../core/audit.ts"
import { type KeyId, newId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import { parseCertificate } from "../../x509/certificate.ts"
import { keyAlgorithm } from "../../x509/key-algorithm.ts"
import { readPrivateKey } from "../../x509/private-key.ts"
import { newSerialNumber } from "../../x509/serial-number.ts"
import type { MountSnapshot } from "../mounts/mount-snapshot.ts"
import type { PkiContext } from "../pki-context.ts"
import type { CertificateRecord } from "../issuance/certificate.ts"
import { crlListOf } from "../crl/crl-list.ts"
import type { CrlSettings } from "../crl/crl-settings.ts"
import { certify } from "../issuance/certify.ts"
import type { ParsedIssuer } from "../issuers/parsed-issuer.ts"
import { revocationSignatureAlgorithm, signerOf } from "../issuers/issuer-signer.ts"
import { auditedSigningKey } from "../keys/audited-signing-key.ts"
import type { SigningKeys } from "../keys/signing-keys.ts"
import { approveResponder } from "../policy/approve-responder.ts"
import type { DelegatedResponder } from "./cached-responders.ts"

/** Returns the name of the secret in the mount. Issuers with the same name and key share it. */
export const responderSecret = (issuer: ParsedIssuer): string => `ocsp-responder ${crlListOf(issuer)}`

/**
 * Returns true after half of the responder's validity, because responses may be valid for the other half. A responder that expires
 * with its issuer is used until then, because a new one would not last longer.
 */
export const isDue = ({ notBefore, notAfter }: DelegatedResponder, { parsed }: ParsedIssuer, now: Instant): boolean =>
  now >= (notAfter < parsed.notAfter ? notBefore + (notAfter - notBefore) / 2 : notAfter)

/** Returns true if the responder was made while the clock of a server was ahead: a new one would be valid earlier. */
export const isNotYetValid = ({ notBefore }: DelegatedResponder, { parsed }: ParsedIssuer, now: Instant): boolean =>
  notBefore > Math.max(now, parsed.notBefore)

/** Returns true if the responder has the configured key type. */
export const isAsSet = ({ key }: DelegatedResponder, issuer: ParsedIssuer, settings: CrlSettings): boolean =>
  key.algorithm.type === keyTypeOf(issuer, settings)

const keyTypeOf = ({ publicKey }: ParsedIssuer, { ocspResponderKeyType: type }: CrlSettings) =>
  type === "" ? publicKey.algorithm.type : type

export interface NewResponder {
  readonly record: CertificateRecord
  /** Value to store under `responderSecret`. */
  readonly secret: Uint8Array
  readonly responder: DelegatedResponder
}

/** Makes a responder. Signs with the key of the issuer, which must be in the mount. */
export async function newResponder(
  { keyGenerator, signingKeys, runtime }: PkiContext,
  snapshot: MountSnapshot,
  issuer: ParsedIssuer,
  recordKeyUse: RecordKeyUse,
): Promise<NewResponder> {
  const { settings, mount } = snapshot
  // 0 bits: the default of the type.
  const algorithm = keyAlgorithm(keyTypeOf(issuer, settings.crl), 0)
  if (algorithm === undefined || issuer.keyId === null)
    throw new TypeError("an issuer that cannot delegate was selected")
  const made = await keyGenerator.generate(algorithm)
  const key = signingKeys.fromPrivateKey(made)
  const signer = await signerOf(signingKeys, snapshot, issuer, "ocsp-signing")
  const serialNumber = newSerialNumber(runtime.random)
  const commonName = "OCSP responder"
  const content = approveResponder({
    issuer: issuer.parsed,
    key,
    commonName,
    ttlMs: settings.crl.ocspResponderTtlMs,
    now: runtime.clock.now(),
  })
  const { notBefore, notAfter } = content
  const use = {
    mount: mount.path,
    keyId: issuer.keyId,
    issuerId: issuer.id,
    purpose: "certificate",
    serialNumber,
  } as const
  const certificate = await certify(
    content,
    serialNumber,
    { ...signer, key: auditedSigningKey(signer.key, use, recordKeyUse) },
    { signatureBits: 0, usePss: revocationSignatureAlgorithm(issuer).endsWith("PSS") },
  )
  const keyId = newId("key", runtime.random)
  const stored: StoredResponder = {
    keyId,
    certificate: Buffer.from(certificate).toString("base64"),
    privateKey: Buffer.from(made.der("pkcs8")).toString("base64"),
  }
  return {
    record: {
      mountId: mount.id,
      serialNumber,
      certificate,
      issuerId: issuer.id,
      role: null,
      commonName,
      names: [commonName.toLowerCase()],
      notBefore,
      notAfter,
    },
    secret: Buffer.from(JSON.stringify(stored)),
    responder: { keyId, key, certificate, notBefore, notAfter },
  }
}

interface StoredResponder {
  readonly keyId: KeyId
  /** DER, base64. */
  readonly certificate: string
  /** PKCS#8 DER, base64. */
  readonly privateKey: string
}

export function openResponder(secret: Uint8Array, signingKeys: SigningKeys): DelegatedResponder {
  const stored = JSON.parse(Buffer.from(secret).toString("utf8")) as StoredResponder
  const certificate = Buffer.from(stored.certificate, "base64")
  const { notBefore, notAfter } = parseCertificate(certificate)
  const key = signingKeys.fromPrivateKey(readPrivateKey(Buffer.from(stored.privateKey, "base64"), "PKCS#8"))
  return { keyId: stored.keyId, key, certificate, notBefore, notAfter }
}
