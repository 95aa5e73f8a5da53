// Key stores and trust stores (PKCS #12, RFC 7292) in the form of OpenSSL 3 and of Java since 8u301. They use AES-256 with a key that
// PBKDF2 derives from the password, and a MAC with SHA-256. pkijs encodes the frame around content that is already encoded.
import { BmpString, Null, ObjectIdentifier, OctetString } from "asn1js"
import {
  Attribute,
  AuthenticatedSafe,
  CertBag,
  EncryptedData,
  PFX,
  PKCS8ShroudedKeyBag,
  SafeBag,
  SafeContents,
} from "pkijs"
import { oids } from "./asn1/oids.ts"
import type { PrivateKey } from "./private-key.ts"
import { subjectKeyIdentifier } from "./public-key.ts"
import { UnacceptableInput } from "./unacceptable-input.ts"

export interface KeyStore {
  readonly privateKey: PrivateKey
  /** DER; the first certificate belongs to the key. */
  readonly chain: readonly Uint8Array[]
  /** Name by which programs find the entry. */
  readonly alias: string
}

export interface TrustedCertificate {
  /** DER. */
  readonly certificate: Uint8Array
  readonly alias: string
}

/** Returns DER. Throws `UnacceptableInput` unless the password is printable ASCII, which all programs encode alike. */
export async function writeKeyStore({ privateKey, chain, alias }: KeyStore, password: string): Promise<Uint8Array> {
  const secret = passwordOctets(password)
  const own = [friendlyName(alias), localKeyId(subjectKeyIdentifier(privateKey.publicKey))]
  const bagValue = await shroudedKey(privateKey, secret)
  const keyBag = new SafeBag({ bagId: bagIds.shroudedKey, bagValue, bagAttributes: own })
  const certificates = chain.map((certificate, index) => certificateBag(certificate, index === 0 ? own : []))
  return await sealed(secret, [
    { bags: certificates, isEncrypted: true },
    { bags: [keyBag], isEncrypted: false },
  ])
}

/** Returns DER. Java trusts only entries that have the attribute of `javaTrust`. */
export async function writeTrustStore(trusted: readonly TrustedCertificate[], password: string): Promise<Uint8Array> {
  const secret = passwordOctets(password)
  const bags = trusted.map(({ certificate, alias }) => certificateBag(certificate, [friendlyName(alias), javaTrust()]))
  return await sealed(secret, [{ bags, isEncrypted: true }])
}

interface Safe {
  readonly bags: SafeBag[]
  readonly isEncrypted: boolean
}

/** RFC 7292, appendix D, and PKCS #9. */
const bagIds = { shroudedKey: "1.2.840.113549.1.12.10.1.2", certificate: "1.2.840.113549.1.12.10.1.3" }
const x509Certificate = "1.2.840.113549.1.9.22.1"
const attributeIds = { friendlyName: "1.2.840.113549.1.9.20", localKeyId: "1.2.840.113549.1.9.21" }
/** Oracle's attribute with the purposes that the certificate is trusted for. */
const javaTrustedKeyUsage = "2.16.840.1.113894.746875.1.1"

/** Same as keytool and OpenSSL. An attacker with the file can guess passwords without limit. */
const iterations = 10_000
/** Same as OpenSSL. The key derivation of the MAC runs without native code. */
const macIterations = 2_048

async function sealed(secret: ArrayBuffer, safes: readonly Safe[]): Promise<Uint8Array> {
  const authenticatedSafe = new AuthenticatedSafe({
    parsedValue: {
      safeContents: safes.map(({ bags, isEncrypted }) => ({
        privacyMode: isEncrypted ? 1 : 0,
        value: new SafeContents({ safeBags: bags }),
      })),
    },
  })
  await authenticatedSafe.makeInternalValues({
    safeContents: safes.map(({ isEncrypted }) => (isEncrypted ? encryption(secret) : {})),
  })
  const pfx = new PFX({ parsedValue: { integrityMode: 0, authenticatedSafe } })
  await pfx.makeInternalValues({
    password: secret,
    iterations: macIterations,
    pbkdf2HashAlgorithm: "SHA-256",
    hmacHashAlgorithm: "SHA-256",
  })
  // Java requires encoded parameters of the digest algorithm.
  if (pfx.macData !== undefined) pfx.macData.mac.digestAlgorithm.algorithmParams = new Null()
  return new Uint8Array(pfx.toSchema().toBER())
}

/** Encrypts the encoded key, because pkijs can read fewer key types than Chancery generates. */
async function shroudedKey(privateKey: PrivateKey, secret: ArrayBuffer): Promise<PKCS8ShroudedKeyBag> {
  const data = new EncryptedData()
  await data.encrypt({ ...encryption(secret), contentToEncrypt: bufferOf(privateKey.der("pkcs8")) })
  const { contentEncryptionAlgorithm: encryptionAlgorithm, encryptedContent: encryptedData } =
    data.encryptedContentInfo ?? {}
  if (encryptionAlgorithm === undefined || encryptedData === undefined) throw new Error("pkijs encrypted nothing")
  return new PKCS8ShroudedKeyBag({
    encryptionAlgorithm,
    encryptedData: new OctetString({ valueHex: encryptedData.getValue() }),
  })
}

const encryption = (password: ArrayBuffer) => ({
  password,
  contentEncryptionAlgorithm: { name: "AES-CBC", length: 256 },
  hmacHashAlgorithm: "SHA-256" as const,
  iterationCount: iterations,
})

const certificateBag = (certificate: Uint8Array, bagAttributes: Attribute[]): SafeBag =>
  new SafeBag({
    bagId: bagIds.certificate,
    bagValue: new CertBag({
      certId: x509Certificate,
      certValue: new OctetString({ valueHex: bufferOf(certificate) }),
    }),
    ...(bagAttributes.length === 0 ? {} : { bagAttributes }),
  })

const friendlyName = (alias: string): Attribute =>
  new Attribute({ type: attributeIds.friendlyName, values: [new BmpString({ value: alias })] })

const localKeyId = (identifier: Uint8Array): Attribute =>
  new Attribute({ type: attributeIds.localKeyId, values: [new OctetString({ valueHex: bufferOf(identifier) })] })

const javaTrust = (): Attribute =>
  new Attribute({ type: javaTrustedKeyUsage, values: [new ObjectIdentifier({ value: oids.anyExtendedKeyUsage })] })

function passwordOctets(password: string): ArrayBuffer {
  if (!/^[ -~]+$/.test(password)) throw new UnacceptableInput("The password must consist of printable ASCII characters")
  return bufferOf(Buffer.from(password, "latin1"))
}

const bufferOf = (bytes: Uint8Array): ArrayBuffer => Uint8Array.from(bytes).buffer
