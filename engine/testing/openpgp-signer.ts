// OpenPGP keys and detached signatures for tests (RFC 4880): Ed25519 keys of version 4, with subkeys, expiry and revocation.
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto"

export interface OpenPgpSignerOptions {
  /** Seconds since the Unix epoch. Default: 1 January 2024. */
  readonly createdAt?: number
  /** Seconds from the creation until the key expires. */
  readonly validFor?: number
  /** Lets a subkey sign files. `unbound` omits its signature, as in a key to which a stranger appended a subkey. */
  readonly subkey?: "bound" | "unbound" | "one-way"
  readonly isRevoked?: boolean
}

export interface OpenPgpSigner {
  /** Fingerprint of the key that signs files. */
  readonly fingerprint: string
  readonly armoredKey: string
  sign(
    data: Uint8Array,
    options?: { readonly at?: number; readonly hash?: number; readonly isArmored?: boolean },
  ): Buffer
}

const defaultCreation = 1_704_067_200
const sha512 = 10
const hashNames: Readonly<Record<number, string>> = { 2: "sha1", 8: "sha256", [sha512]: "sha512" }
const ed25519Curve = Buffer.from("092b06010401da470f01", "hex")

interface Key {
  readonly body: Buffer
  readonly fingerprint: Buffer
  readonly privateKey: KeyObject
}

export function createOpenPgpSigner(options: OpenPgpSignerOptions = {}): OpenPgpSigner {
  const { createdAt = defaultCreation, validFor, subkey, isRevoked = false } = options
  const primary = createKey(createdAt)
  const userId = Buffer.from("Mirror of the tests <mirror@example.com>")
  const expiry = validFor === undefined ? [] : [subpacket(9, uint32(validFor))]
  const covered = [framed(0x99, 2, primary.body)]
  const packets = [
    packet(6, primary.body),
    ...(isRevoked ? [packet(2, signature(primary, { type: 0x20, at: createdAt, parts: covered }))] : []),
    packet(13, userId),
    packet(
      2,
      signature(primary, {
        type: 0x13,
        at: createdAt,
        parts: [...covered, framed(0xb4, 4, userId)],
        hashed: [subpacket(27, Buffer.from([subkey === undefined ? 3 : 1])), ...expiry],
      }),
    ),
  ]
  let signer = primary
  if (subkey !== undefined) {
    const second = createKey(createdAt)
    const both = [...covered, framed(0x99, 2, second.body)]
    const back = signature(second, { type: 0x19, at: createdAt, parts: both })
    packets.push(packet(14, second.body))
    if (subkey !== "unbound")
      packets.push(
        packet(
          2,
          signature(primary, {
            type: 0x18,
            at: createdAt,
            parts: both,
            hashed: [subpacket(27, Buffer.from([2])), ...(subkey === "bound" ? [subpacket(32, back)] : [])],
          }),
        ),
      )
    signer = second
  }
  return {
    fingerprint: signer.fingerprint.toString("hex").toUpperCase(),
    armoredKey: armor("PUBLIC KEY BLOCK", Buffer.concat(packets)),
    sign(data, { at = createdAt + 60, hash = sha512, isArmored = false } = {}) {
      const made = packet(2, signature(signer, { type: 0, at, hash, parts: [Buffer.from(data)] }))
      return isArmored ? Buffer.from(armor("SIGNATURE", made)) : made
    },
  }
}

function createKey(createdAt: number): Key {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519")
  const point = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url")
  const body = Buffer.concat([
    Buffer.from([4]),
    uint32(createdAt),
    Buffer.from([22]),
    ed25519Curve,
    integer(Buffer.concat([Buffer.from([0x40]), point])),
  ])
  return {
    body,
    privateKey,
    fingerprint: createHash("sha1")
      .update(framed(0x99, 2, body))
      .digest(),
  }
}

interface SignatureInput {
  readonly type: number
  readonly at: number
  readonly parts: readonly Buffer[]
  readonly hash?: number
  readonly hashed?: readonly Buffer[]
}

function signature(key: Key, { type, at, parts, hash = sha512, hashed = [] }: SignatureInput): Buffer {
  const area = Buffer.concat([subpacket(2, uint32(at)), ...hashed])
  const head = Buffer.concat([Buffer.from([4, type, 22, hash]), uint16(area.length), area])
  const trailer = Buffer.concat([Buffer.from([4, 0xff]), uint32(head.length)])
  const digest = createHash(hashNames[hash] ?? "sha512")
    .update(Buffer.concat([...parts, head, trailer]))
    .digest()
  const issuer = subpacket(16, key.fingerprint.subarray(-8))
  const value = sign(null, digest, key.privateKey)
  return Buffer.concat([
    head,
    uint16(issuer.length),
    issuer,
    digest.subarray(0, 2),
    integer(value.subarray(0, 32)),
    integer(value.subarray(32)),
  ])
}

function integer(value: Buffer): Buffer {
  const start = value.findIndex((byte) => byte !== 0)
  const digits = value.subarray(start)
  return Buffer.concat([uint16(digits.length * 8 - Math.clz32(digits[0] ?? 0) + 24), digits])
}

const subpacket = (type: number, body: Buffer): Buffer =>
  Buffer.concat([Buffer.from([0xff]), uint32(body.length + 1), Buffer.from([type]), body])

const packet = (tag: number, body: Buffer): Buffer =>
  Buffer.concat([Buffer.from([0xc0 | tag, 0xff]), uint32(body.length), body])

function framed(tag: number, lengthBytes: 2 | 4, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from([tag]), lengthBytes === 2 ? uint16(body.length) : uint32(body.length), body])
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

const armor = (name: string, bytes: Buffer): string =>
  `-----BEGIN PGP ${name}-----\n\n${bytes.toString("base64").replaceAll(/(.{64})/g, "$1\n")}\n-----END PGP ${name}-----\n`
