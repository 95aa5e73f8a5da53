// Detached OpenPGP signatures (RFC 4880) of checksum files: version 4, RSA or Ed25519, SHA-256 or stronger. The npm package openpgp is
// LGPL, which .ci/release-checks.ts does not allow, and releases use only this small part of the format.
//
// A key is trusted because of the file that contains it. Its subkeys, their purpose and their expiry are trusted only if the primary key
// signed them, because anyone can append packets to a published key.
import { createHash, createPublicKey, type KeyObject, verify } from "node:crypto"
import { ByteReader, type Packet, packetTags, readPacketsOrArmor, readSubpackets } from "./openpgp-packets.ts"
import type { Subpacket } from "./openpgp-packets.ts"
import { ToolError } from "./tool-error.ts"

/** Primary key or subkey that may sign files. */
export interface SigningKey {
  /** Upper-case hexadecimal. */
  readonly fingerprint: string
  /** Fingerprint of the primary key; the same as `fingerprint` for the primary key itself. */
  readonly primaryFingerprint: string
  readonly key: PublicKey
  /** Seconds since the Unix epoch. Signatures made from this time on are not accepted. */
  readonly expiresAt: number
}

interface PublicKey {
  /** Body of the packet, as fingerprints and certifications cover it. */
  readonly body: Buffer
  readonly fingerprint: string
  readonly createdAt: number
  readonly algorithm: number
  /** Undefined if the algorithm is not supported or too weak. */
  readonly object: KeyObject | undefined
}

interface Signature {
  readonly type: number
  readonly algorithm: number
  readonly hash: string | undefined
  readonly createdAt: number
  /** Bytes of the signature that its hash covers. */
  readonly hashed: Buffer
  readonly hashedSubpackets: readonly Subpacket[]
  readonly unhashedSubpackets: readonly Subpacket[]
  readonly value: Buffer
}

/** RFC 4880, section 5.2.1. */
const signatureTypes = {
  binary: 0x00,
  firstCertification: 0x10,
  lastCertification: 0x13,
  subkeyBinding: 0x18,
  primaryKeyBinding: 0x19,
  directKey: 0x1f,
  keyRevocation: 0x20,
  subkeyRevocation: 0x28,
} as const

/** RFC 4880, section 5.2.3.1. */
const subpacketTypes = {
  createdAt: 2,
  signatureExpiry: 3,
  keyExpiry: 9,
  issuer: 16,
  keyFlags: 27,
  embeddedSignature: 32,
  issuerFingerprint: 33,
} as const

/** Subpackets that this file evaluates, or that say nothing about validity: preferences, features, the primary user. */
const understoodSubpackets: ReadonlySet<number> = new Set([
  ...Object.values(subpacketTypes),
  11,
  21,
  22,
  23,
  25,
  30,
  34,
])

/** SHA-1 and MD5 are missing on purpose: collisions of both are known. */
const hashes: ReadonlyMap<number, string> = new Map([
  [8, "sha256"],
  [9, "sha384"],
  [10, "sha512"],
])

const rsaAlgorithms: ReadonlySet<number> = new Set([1, 3])
const eddsa = 22
/** RFC 9580, section 5.2.3.5. */
const ed25519 = 27
/** Object identifier of Ed25519 in keys of GnuPG: 1.3.6.1.4.1.11591.15.1. */
const ed25519Curve = "2b06010401da470f01"
const minRsaBits = 2_048
const maySign = 0x02

/** Returns the keys of a file, armored or binary, that may sign. Throws `ToolError` if there are none. */
export function parseSigningKeys(file: Buffer): readonly SigningKey[] {
  const packets = readPacketsOrArmor(file)
  if (packets.some(({ tag }) => tag === packetTags.secretKey))
    throw new ToolError("the file contains a private key; export the public key (gpg --export --armor)")
  const starts = packets.flatMap(({ tag }, index) => (tag === packetTags.publicKey ? [index] : []))
  const keys = starts.flatMap((start, index) => signingKeys(packets.slice(start, starts[index + 1])))
  if (keys.length === 0)
    throw new ToolError("the file contains no valid OpenPGP key that may sign with RSA (2048 bits or more) or Ed25519")
  return keys
}

/**
 * Returns the key that made one of the signatures in `file`. Throws `ToolError` if none is valid. A signature that was made while its key
 * was valid stays valid after the key expires.
 */
export function verifySignature(file: Buffer, data: Buffer, keys: readonly SigningKey[]): SigningKey {
  const signatures = readPacketsOrArmor(file)
    .filter(({ tag }) => tag === packetTags.signature)
    .map(({ body }) => parseSignature(body))
  if (signatures.length === 0) throw new ToolError("the file contains no OpenPGP signature")
  const problems: string[] = []
  for (const signature of signatures) {
    const candidates = keys.filter(({ key }) => isIssuedBy(signature, key))
    const signer = candidates.find((candidate) => isValidFor(signature, candidate, data))
    if (signer !== undefined) return signer
    problems.push(
      candidates.length === 0
        ? `it was made with the key ${issuerOf(signature)}, which is not trusted`
        : `it does not match the file, or the key ${issuerOf(signature)} was not valid when it was made`,
    )
  }
  throw new ToolError([...new Set(problems)].join("; "))
}

function isValidFor(signature: Signature, { key, expiresAt }: SigningKey, data: Buffer): boolean {
  return (
    signature.type === signatureTypes.binary &&
    // An expiry would need a clock, and no publisher sets one.
    secondsIn(signature, subpacketTypes.signatureExpiry) === 0 &&
    signature.createdAt >= key.createdAt &&
    signature.createdAt < expiresAt &&
    isSignedBy(signature, key, [data])
  )
}

/** Returns the keys of one primary key and its subkeys that may sign. The first packet is the primary key. */
function signingKeys(packets: readonly Packet[]): readonly SigningKey[] {
  const [first, ...rest] = groupSignatures(packets)
  const primary = first === undefined ? undefined : parsePublicKey(first.packet.body)
  if (first === undefined || primary?.object === undefined) return []
  const primaryBytes = keyBytes(primary)
  const isRevoked = first.signatures.some(
    (signature) => signature.type === signatureTypes.keyRevocation && isSignedBy(signature, primary, [primaryBytes]),
  )
  const direct = first.signatures.filter(
    (signature) => signature.type === signatureTypes.directKey && isSignedBy(signature, primary, [primaryBytes]),
  )
  const certifications = rest.flatMap(({ packet, signatures }) =>
    packet.tag === packetTags.userId
      ? signatures.filter(
          (signature) =>
            signature.type >= signatureTypes.firstCertification &&
            signature.type <= signatureTypes.lastCertification &&
            isSignedBy(signature, primary, [primaryBytes, userIdBytes(packet.body)]),
        )
      : [],
  )
  const latest = latestOf([...direct, ...certifications])
  if (isRevoked || latest === undefined) return []
  const primaryExpiry = expiryOf(latest, primary)
  const self: SigningKey = {
    fingerprint: primary.fingerprint,
    primaryFingerprint: primary.fingerprint,
    key: primary,
    expiresAt: primaryExpiry,
  }
  const subkeys = rest.flatMap(({ packet, signatures }) => {
    const subkey = packet.tag === packetTags.publicSubkey ? parsePublicKey(packet.body) : undefined
    const binding = subkey && validBinding(primary, subkey, signatures)
    if (subkey === undefined || binding === undefined) return []
    return [
      {
        ...self,
        fingerprint: subkey.fingerprint,
        key: subkey,
        expiresAt: Math.min(primaryExpiry, expiryOf(binding, subkey)),
      },
    ]
  })
  return [...(mayKeySign(latest, true) ? [self] : []), ...subkeys]
}

/** Returns the newest binding of a subkey that may sign. Undefined if there is none or the subkey is revoked. */
function validBinding(primary: PublicKey, subkey: PublicKey, signatures: readonly Signature[]): Signature | undefined {
  const covered = [keyBytes(primary), keyBytes(subkey)]
  const own = signatures.filter((signature) => isSignedBy(signature, primary, covered))
  if (own.some(({ type }) => type === signatureTypes.subkeyRevocation)) return undefined
  const binding = latestOf(own.filter(({ type }) => type === signatureTypes.subkeyBinding))
  if (binding === undefined || !mayKeySign(binding, false)) return undefined
  // The subkey signs the primary key as well, so that its owner cannot be changed (RFC 4880, section 5.2.1, 0x19).
  const isMutual = [...binding.hashedSubpackets, ...binding.unhashedSubpackets]
    .filter(({ type }) => type === subpacketTypes.embeddedSignature)
    .map(({ body }) => parseSignature(body))
    .some((back) => back.type === signatureTypes.primaryKeyBinding && isSignedBy(back, subkey, covered))
  return isMutual ? binding : undefined
}

interface SignedPacket {
  readonly packet: Packet
  readonly signatures: readonly Signature[]
}

/** Groups each packet with the signatures that follow it. */
function groupSignatures(packets: readonly Packet[]): readonly SignedPacket[] {
  const groups: { readonly packet: Packet; readonly signatures: Signature[] }[] = []
  for (const packet of packets) {
    if (packet.tag !== packetTags.signature) groups.push({ packet, signatures: [] })
    // Certifications of other people may have any version or algorithm.
    else if (packet.body[0] === 4) groups.at(-1)?.signatures.push(parseSignature(packet.body))
  }
  return groups
}

const latestOf = (signatures: readonly Signature[]): Signature | undefined =>
  signatures.toSorted((one, other) => one.createdAt - other.createdAt).at(-1)

function mayKeySign({ hashedSubpackets }: Signature, byDefault: boolean): boolean {
  const flags = hashedSubpackets.find(({ type }) => type === subpacketTypes.keyFlags)?.body[0]
  return flags === undefined ? byDefault : (flags & maySign) !== 0
}

function expiryOf(signature: Signature, { createdAt }: PublicKey): number {
  const seconds = secondsIn(signature, subpacketTypes.keyExpiry)
  return seconds === 0 ? Infinity : createdAt + seconds
}

/** Returns a time or duration of the hashed subpackets, 0 if there is none. */
function secondsIn({ hashedSubpackets }: Pick<Signature, "hashedSubpackets">, wanted: number): number {
  const body = hashedSubpackets.find(({ type }) => type === wanted)?.body
  return body === undefined ? 0 : new ByteReader(body).uint32()
}

/** Returns the issuer's fingerprint or key id. It only selects a key, so it may be in the part that is not signed. */
function issuerOf({ hashedSubpackets, unhashedSubpackets }: Signature): string {
  const all = [...hashedSubpackets, ...unhashedSubpackets]
  const fingerprint = all.find(({ type }) => type === subpacketTypes.issuerFingerprint)?.body.subarray(1)
  const id = all.find(({ type }) => type === subpacketTypes.issuer)?.body
  return (fingerprint ?? id)?.toString("hex").toUpperCase() ?? ""
}

const isIssuedBy = (signature: Signature, { fingerprint }: PublicKey): boolean =>
  fingerprint.endsWith(issuerOf(signature))

function parsePublicKey(body: Buffer): PublicKey | undefined {
  // Versions 3 and 6 exist; releases are signed with version 4.
  if (body[0] !== 4) return undefined
  const reader = new ByteReader(body.subarray(1))
  const createdAt = reader.uint32()
  const algorithm = reader.uint8()
  return {
    body,
    fingerprint: createHash("sha1")
      .update(framed(0x99, 2, body))
      .digest("hex")
      .toUpperCase(),
    createdAt,
    algorithm,
    object: keyObject(algorithm, reader),
  }
}

function keyObject(algorithm: number, reader: ByteReader): KeyObject | undefined {
  if (rsaAlgorithms.has(algorithm)) {
    const [n, e] = [reader.integer(), reader.integer()].map((integer) => integer.toString("base64url"))
    const key = createPublicKey({ key: { kty: "RSA", n: n ?? "", e: e ?? "" }, format: "jwk" })
    return (key.asymmetricKeyDetails?.modulusLength ?? 0) >= minRsaBits ? key : undefined
  }
  const point = ed25519Point(algorithm, reader)
  if (point?.length !== 32) return undefined
  return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: point.toString("base64url") }, format: "jwk" })
}

function ed25519Point(algorithm: number, reader: ByteReader): Buffer | undefined {
  if (algorithm === ed25519) return reader.take(32)
  if (algorithm !== eddsa || reader.take(reader.uint8()).toString("hex") !== ed25519Curve) return undefined
  const point = reader.integer()
  return point[0] === 0x40 ? point.subarray(1) : undefined
}

function parseSignature(body: Buffer): Signature {
  const reader = new ByteReader(body)
  if (reader.uint8() !== 4) throw new ToolError("the OpenPGP signature has a version other than 4")
  const [type, algorithm, hash] = [reader.uint8(), reader.uint8(), reader.uint8()]
  const hashedSubpackets = readSubpackets(reader.take(reader.uint16()))
  const hashed = body.subarray(0, reader.position)
  const unhashedSubpackets = readSubpackets(reader.take(reader.uint16()))
  reader.take(2) // start of the hash, a hint for implementations that try many keys
  return {
    type,
    algorithm,
    hash: hashes.get(hash),
    createdAt: secondsIn({ hashedSubpackets }, subpacketTypes.createdAt),
    hashed,
    hashedSubpackets,
    unhashedSubpackets,
    value: body.subarray(reader.position),
  }
}

/** Returns whether `key` made the signature over the concatenated parts (RFC 4880, section 5.2.4). */
function isSignedBy(signature: Signature, key: PublicKey, parts: readonly Buffer[]): boolean {
  const { hash, hashed, hashedSubpackets } = signature
  if (hash === undefined || key.object === undefined || signature.algorithm !== key.algorithm) return false
  // A critical subpacket that is not understood makes the signature invalid (RFC 4880, section 5.2.3.1).
  if (hashedSubpackets.some(({ type, isCritical }) => isCritical && !understoodSubpackets.has(type))) return false
  const trailer = Buffer.from([4, 0xff, 0, 0, 0, 0])
  trailer.writeUInt32BE(hashed.length, 2)
  const message = Buffer.concat([...parts, hashed, trailer])
  const reader = new ByteReader(signature.value)
  if (rsaAlgorithms.has(key.algorithm)) {
    const length = (key.object.asymmetricKeyDetails?.modulusLength ?? 0) / 8
    return verify(hash, message, key.object, padded(reader.integer(), length))
  }
  const value =
    key.algorithm === ed25519
      ? reader.take(64)
      : Buffer.concat([padded(reader.integer(), 32), padded(reader.integer(), 32)])
  return verify(null, createHash(hash).update(message).digest(), key.object, value)
}

/** Restores the leading zeros that integers of OpenPGP omit. A longer value stays as it is and does not verify. */
const padded = (value: Buffer, length: number): Buffer =>
  Buffer.concat([Buffer.alloc(Math.max(0, length - value.length)), value])

const keyBytes = ({ body }: PublicKey): Buffer => framed(0x99, 2, body)
const userIdBytes = (body: Buffer): Buffer => framed(0xb4, 4, body)

/** Returns a tag, the length of the body, and the body. */
function framed(tag: number, lengthBytes: 2 | 4, body: Buffer): Buffer {
  const head = Buffer.alloc(1 + lengthBytes, tag)
  head.writeUIntBE(body.length, 1, lengthBytes)
  return Buffer.concat([head, body])
}
