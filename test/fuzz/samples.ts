import { createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { lengthOf } from "./der-tree.ts"
import { decodePem, pemOf } from "./mutations.ts"

const folder = join(import.meta.dirname, "samples")

/** Returns valid documents by the label of their PEM, as DER. */
export function samples(...labels: readonly SampleLabel[]): readonly Uint8Array[] {
  return sampleTexts(...labels).map((text) => decodePem(Buffer.from(text))?.der ?? new Uint8Array())
}

/** Returns valid documents by label, as the text of their files. */
export function sampleTexts(...labels: readonly SampleLabel[]): readonly string[] {
  const texts = readdirSync(folder)
    .filter((name) => name.endsWith(".pem"))
    .toSorted()
    .map((name) => readFileSync(join(folder, name), "utf8"))
  return texts.filter((text) => labels.some((label) => text.startsWith(`-----BEGIN ${label}-----`)))
}

export type SampleLabel =
  | "CERTIFICATE"
  | "CERTIFICATE REQUEST"
  | "X509 CRL"
  | "OCSP REQUEST"
  | "OCSP RESPONSE"
  | "PKCS7"
  | "PRIVATE KEY"
  | "EC PRIVATE KEY"
  | "RSA PRIVATE KEY"
  | "ENCRYPTED PRIVATE KEY"

interface Signer {
  readonly key: KeyObject
  readonly publicKey: Uint8Array
  readonly digest: string | null
  /** DER of the AlgorithmIdentifier. */
  readonly algorithm: Uint8Array
}

const signers: readonly Signer[] = (
  [
    ["key-p256.pem", "sha256", "300a06082a8648ce3d040302"],
    ["key-p521.pem", "sha512", "300a06082a8648ce3d040304"],
    ["key-rsa.pem", "sha256", "300d06092a864886f70d01010b0500"],
    ["key-ed.pem", null, "300506032b6570"],
  ] as const
).map(([file, digest, algorithm]) => {
  const key = createPrivateKey(readFileSync(join(folder, file)))
  const publicKey = createPublicKey(key).export({ type: "spki", format: "der" })
  return { key, publicKey, digest, algorithm: Buffer.from(algorithm, "hex") }
})

/**
 * Signs a CSR or a self-signed object again if it contains the public key of a sample. Without that, no mutation would get past the
 * signature. Other input is returned unchanged.
 */
export function signedAgain(der: Uint8Array): Uint8Array {
  const body = firstPart(der)
  const signer = signers.find(({ publicKey }) => Buffer.from(der).includes(publicKey))
  if (body === undefined || signer === undefined) return der
  const signature = sign(signer.digest, body, signer.key)
  const content = [body, signer.algorithm, element(0x03, [Uint8Array.of(0), signature])]
  return element(0x30, content)
}

/** Signs the object in a PEM block again. */
export function signedAgainInPem(input: Uint8Array): Uint8Array {
  const block = decodePem(input)
  if (block === undefined) return input
  const der = signedAgain(block.der)
  return Buffer.from(pemOf(block.label, der))
}

function element(tag: number, parts: readonly Uint8Array[]): Uint8Array {
  const content = Buffer.concat(parts)
  return Buffer.concat([Uint8Array.of(tag, ...lengthOf(content.length)), content])
}

/** Returns the first value inside a SEQUENCE, by the lengths in the headers. */
function firstPart(der: Uint8Array): Uint8Array | undefined {
  const outer = headerLength(der, 0)
  if (der[0] !== 0x30 || outer === undefined) return undefined
  const inner = headerLength(der, outer.header)
  if (inner === undefined) return undefined
  const part = der.subarray(outer.header, outer.header + inner.header + inner.length)
  return part.length === inner.header + inner.length ? part : undefined
}

function headerLength(der: Uint8Array, at: number): { readonly header: number; readonly length: number } | undefined {
  const first = der[at + 1]
  if (first === undefined) return undefined
  const count = first < 0x80 ? 0 : first - 0x80
  if (first === 0x80 || count > 4) return undefined
  let length = count === 0 ? first : 0
  for (let index = 0; index < count; index += 1) length = length * 256 + (der[at + 2 + index] ?? 0)
  return { header: 2 + count, length }
}
