// Reads a Kubernetes service account token without verifying it. Two kinds exist: projected tokens of pods, which expire and have an
// audience, and tokens of Secrets, which have neither expiry nor audience.
import type { Instant } from "../../core/time.ts"
import { type PublicKey, publicKeyObject } from "../../x509/public-key.ts"

export interface ServiceAccount {
  readonly namespace: string
  readonly name: string
  /** Distinguishes the account from a later one with the same name. */
  readonly uid: string
}

export interface ServiceAccountToken {
  readonly account: ServiceAccount
  /** Name of the Secret that holds the token; empty for a projected token. */
  readonly secretName: string
  readonly audiences: readonly string[]
  readonly issuer: string
  readonly expiresAt: Instant | undefined
  readonly notBefore: Instant | undefined
}

/** Reason for rejecting a token. The sentence is for the server's log, and contains nothing of the token but names. */
export interface TokenRejection {
  readonly refused: string
}

export const tokenRejection = (reason: string): TokenRejection => ({ refused: reason })
export const isRejection = (value: object): value is TokenRejection => Object.hasOwn(value, "refused")

/**
 * Algorithms that a cluster may sign with (Kubernetes, `--service-account-signing-key-file`, and its OIDC authenticator). None of them is a
 * MAC.
 */
const algorithms = ["RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512"]
/** Projected tokens have 1 KB. Much longer ones are rejected before parsing. */
const maxLength = 16_384

/** Parses a token (RFC 7519) with the claims that the API server writes. */
export async function readServiceAccountToken(jwt: string): Promise<ServiceAccountToken | TokenRejection> {
  if (jwt.length > maxLength) return tokenRejection(`the token has more than ${maxLength} characters`)
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(jwt)) return tokenRejection("the token is not a signed JWT")
  const { decodeJwt, decodeProtectedHeader } = await import("jose")
  let header: object
  let claims: object
  try {
    header = decodeProtectedHeader(jwt)
    claims = decodeJwt(jwt)
  } catch {
    return tokenRejection("the token cannot be parsed")
  }
  const algorithm = member(header, "alg")
  if (typeof algorithm !== "string" || !algorithms.includes(algorithm))
    return tokenRejection("the token's algorithm is not supported")
  // A critical extension must be understood by the recipient (RFC 7515, section 4.1.11).
  if (Object.hasOwn(header, "crit")) return tokenRejection("the token's header has critical extensions")
  return tokenOf(claims)
}

/** Returns true if one of the keys verifies the signature, with an algorithm that fits the key. */
export async function isSignedByOneOf(jwt: string, keys: readonly PublicKey[]): Promise<boolean> {
  const { compactVerify } = await import("jose")
  for (const key of keys) {
    try {
      await compactVerify(jwt, publicKeyObject(key), { algorithms })
      return true
    } catch {
      // The token is signed with another key, or its algorithm does not fit this one.
    }
  }
  return false
}

function tokenOf(claims: object): ServiceAccountToken | TokenRejection {
  const found = accountIn(claims)
  if (found === undefined) return tokenRejection("the token names no service account")
  const { account, secretName } = found
  const subject = member(claims, "sub")
  if (subject !== undefined && subject !== `system:serviceaccount:${account.namespace}:${account.name}`)
    return tokenRejection("the token's subject is not its service account")
  const audiences = audiencesIn(member(claims, "aud"))
  const issuer = member(claims, "iss") ?? ""
  const [expiresAt, notBefore] = [instantIn(claims, "exp"), instantIn(claims, "nbf")]
  if (audiences === undefined || typeof issuer !== "string" || expiresAt === "none" || notBefore === "none")
    return tokenRejection("a claim of the token cannot be parsed")
  return { account, secretName, audiences, issuer, expiresAt, notBefore }
}

const legacyPrefix = "kubernetes.io/serviceaccount"

/** Returns undefined if a member is missing, or not of the form that a cluster writes. */
function accountIn(claims: object): { readonly account: ServiceAccount; readonly secretName: string } | undefined {
  const projected = member(claims, "kubernetes.io")
  const [namespace, name, uid, secretName] =
    projected === undefined
      ? ["namespace", "service-account.name", "service-account.uid", "secret.name"].map((one) =>
          member(claims, `${legacyPrefix}/${one}`),
        )
      : [
          member(projected, "namespace"),
          member(member(projected, "serviceaccount"), "name"),
          member(member(projected, "serviceaccount"), "uid"),
        ]
  return isLabel(namespace) && isSubdomain(name) && isUid(uid)
    ? { account: { namespace, name, uid }, secretName: isSubdomain(secretName) ? secretName : "" }
    : undefined
}

const member = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined

// Names that the API server accepts (RFC 1123 in its reading). A colon in a name could turn it into the user name of another account.
const isLabel = (value: unknown): value is string =>
  typeof value === "string" && value.length <= 63 && /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(value)
const isSubdomain = (value: unknown): value is string =>
  typeof value === "string" && value.length <= 253 && /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(value)
const isUid = (value: unknown): value is string => typeof value === "string" && /^[\w-]{1,128}$/.test(value)

/** Returns no, one or several audiences (RFC 7519, section 4.1.3). */
function audiencesIn(value: unknown): readonly string[] | undefined {
  if (value === undefined) return []
  const audiences: readonly unknown[] = Array.isArray(value) ? value : [value]
  return audiences.every((one) => typeof one === "string") ? audiences : undefined
}

/** Returns the instant of a claim in seconds since the epoch, which may have a fraction (RFC 7519, section 2). */
function instantIn(claims: object, name: string): Instant | undefined | "none" {
  const seconds = member(claims, name)
  if (seconds === undefined) return undefined
  return typeof seconds === "number" && Math.abs(seconds) < 1e11 ? Math.floor(seconds * 1_000) : "none"
}
