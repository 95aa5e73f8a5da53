// Which keys are strong enough to be made, and to be certified (specification, section 8).

export type KeyType = "rsa" | "ec" | "ed25519"

/** What a role may ask for; `any` is for requests that bring their key. */
export type RoleKeyType = KeyType | "any"

export const rsaBitsMinimum = 2048

/** Sizes that are made, the default first. */
const sizes: Readonly<Record<"rsa" | "ec", readonly number[]>> = {
  rsa: [rsaBitsMinimum, 3072, 4096, 8192],
  ec: [256, 224, 384, 521],
}
const signatureSizes: readonly number[] = [256, 384, 512]

export const isRoleKeyType = (text: string): text is RoleKeyType =>
  text === "any" || text === "ed25519" || Object.hasOwn(sizes, text)

/** 0 is the default of the type; Ed25519 and `any` have no size. */
export function resolveKeyBits(keyType: RoleKeyType, keyBits: number): number {
  if (keyType === "ed25519" || keyType === "any") return 0
  return keyBits === 0 ? (sizes[keyType][0] ?? 0) : keyBits
}

/** Of a role: RSA issuers sign with SHA-256 unless told otherwise, the others choose by their own key. */
export function resolveSignatureBits(keyType: RoleKeyType, signatureBits: number): number {
  if (keyType === "ed25519" || keyType === "any") return 0
  return keyType === "rsa" && signatureBits === 0 ? 256 : signatureBits
}

/** Of a resolved size. */
export function keyBitsProblem(keyType: RoleKeyType, keyBits: number): string | undefined {
  if (keyType === "ed25519" || keyType === "any" || sizes[keyType].includes(keyBits)) return undefined
  if (keyType === "ec") return `unsupported bit length for EC key: ${keyBits}`
  return keyBits < rsaBitsMinimum
    ? `RSA keys < ${rsaBitsMinimum} bits are unsafe and not supported: got ${keyBits}`
    : `unsupported bit length for RSA key: ${keyBits}`
}

/** 0 lets the issuer's key decide. */
export const signatureBitsProblem = (signatureBits: number): string | undefined =>
  signatureBits === 0 || signatureSizes.includes(signatureBits)
    ? undefined
    : `unsupported hash signature algorithm: ${signatureBits}`
