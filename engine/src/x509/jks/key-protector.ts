// Encryption of private keys in JKS files, as in the JDK's `sun.security.provider.KeyProtector`
// (https://github.com/openjdk/jdk/blob/master/src/java.base/share/classes/sun/security/provider/KeyProtector.java). The scheme is weak:
// one SHA-1 for each guess of the password. Programs that can read PKCS #12 should use that.
import { createHash, createHmac } from "node:crypto"
import { derNull, encode, objectIdentifier, octetString, sequence } from "../asn1/writer.ts"

/** Sun's identifier of the scheme. */
const keyProtector = "1.3.6.1.4.1.42.2.17.1.1"
const digestOctets = 20

export const sha1 = (...parts: readonly Uint8Array[]): Buffer => {
  const hashing = createHash("sha1")
  for (const part of parts) hashing.update(part)
  return hashing.digest()
}

/** Returns the form of a password that Java hashes: UTF-16, most significant octet first. */
export const passwordOctets = (password: string): Buffer => Buffer.from(password, "utf16le").swap16()

/** Returns the DER of an EncryptedPrivateKeyInfo (RFC 5208, section 6). `plain` is the key in PKCS #8. */
export function protectKey(plain: Uint8Array, password: string): Uint8Array {
  const secret = passwordOctets(password)
  const salt = saltFor(plain, secret)
  const masks: Buffer[] = []
  for (let at = 0; at < plain.length; at += digestOctets) masks.push(sha1(secret, masks.at(-1) ?? salt))
  const mask = Buffer.concat(masks)
  const masked = plain.map((octet, index) => octet ^ (mask[index] ?? 0))
  const content = Buffer.concat([salt, masked, sha1(secret, plain)])
  return encode(sequence([sequence([objectIdentifier(keyProtector), derNull]), octetString(content)]))
}

/**
 * Returns a salt that is the same for the same key and password, so that a store is written with the same bytes again. Different keys or
 * passwords have different salts, and the salt reveals neither.
 */
const saltFor = (plain: Uint8Array, secret: Uint8Array): Buffer =>
  createHmac("sha256", plain).update(secret).digest().subarray(0, digestOctets)
