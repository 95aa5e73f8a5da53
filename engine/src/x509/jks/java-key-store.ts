// Key stores and trust stores in the format JKS, as the JDK's `sun.security.provider.JavaKeyStore` reads them
// (https://github.com/openjdk/jdk/blob/master/src/java.base/share/classes/sun/security/provider/JavaKeyStore.java). All numbers are big
// endian:
//
//   0xFEEDFEED, version 2, number of entries
//   entry of a key:         1, alias, milliseconds since 1970, octets of the protected key, number of certificates, certificates
//   entry of a certificate: 2, alias, milliseconds since 1970, certificate
//   certificate:            "X.509", octets of the DER
//   SHA-1 of the password, the words "Mighty Aphrodite", and everything before
import type { KeyStore, TrustedCertificate } from "../pkcs12.ts"
import { UnacceptableInput } from "../unacceptable-input.ts"
import { passwordOctets, protectKey, sha1 } from "./key-protector.ts"

const magic = 0xfe_ed_fe_ed
const version = 2
const entryTags = { key: 1, certificate: 2 }
const whitener = "Mighty Aphrodite"

/**
 * Returns a store with one key. The same input gives the same bytes. `createdAt` is the time of the entry, in milliseconds since 1970.
 * Throws `UnacceptableInput` unless the password is printable ASCII.
 */
export const writeJavaKeyStore = (
  { privateKey, chain, alias }: KeyStore,
  createdAt: number,
  password: string,
): Uint8Array =>
  sealed(password, [
    [
      uint32(entryTags.key),
      ...aliasAndTime(alias, createdAt),
      ...counted(protectKey(privateKey.der("pkcs8"), password)),
      uint32(chain.length),
      ...chain.flatMap(certificateOctets),
    ],
  ])

/** Returns a store of trusted certificates; see `writeJavaKeyStore`. */
export const writeJavaTrustStore = (
  trusted: readonly TrustedCertificate[],
  createdAt: number,
  password: string,
): Uint8Array =>
  sealed(
    password,
    trusted.map(({ certificate, alias }) => [
      uint32(entryTags.certificate),
      ...aliasAndTime(alias, createdAt),
      ...certificateOctets(certificate),
    ]),
  )

function sealed(password: string, entries: readonly (readonly Uint8Array[])[]): Uint8Array {
  if (!/^[ -~]+$/.test(password)) throw new UnacceptableInput("The password must consist of printable ASCII characters")
  const content = Buffer.concat([uint32(magic), uint32(version), uint32(entries.length), ...entries.flat()])
  return Buffer.concat([content, sha1(passwordOctets(password), Buffer.from(whitener), content)])
}

/** Java searches for aliases in lower case only. */
const aliasAndTime = (alias: string, createdAt: number): readonly Uint8Array[] => [
  text(alias.toLowerCase()),
  uint64(createdAt),
]

const certificateOctets = (der: Uint8Array): readonly Uint8Array[] => [text("X.509"), ...counted(der)]

const counted = (octets: Uint8Array): readonly Uint8Array[] => [uint32(octets.length), octets]

/** Java's modified UTF-8 equals ASCII for these characters. */
function text(value: string): Uint8Array {
  if (!/^[ -~]*$/.test(value)) throw new UnacceptableInput("An alias must consist of printable ASCII characters")
  const octets = Buffer.from(value)
  const length = Buffer.alloc(2)
  length.writeUInt16BE(octets.length)
  return Buffer.concat([length, octets])
}

function uint32(value: number): Uint8Array {
  const octets = Buffer.alloc(4)
  octets.writeUInt32BE(value)
  return octets
}

function uint64(value: number): Uint8Array {
  const octets = Buffer.alloc(8)
  octets.writeBigUInt64BE(BigInt(Math.max(0, Math.trunc(value))))
  return octets
}
