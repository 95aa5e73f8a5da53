// Signed requests (RFC 8555, section 6.2; RFC 7515): flattened JSON with one signature, and all parameters in the protected header. `jose`
// verifies signatures and MACs; the nonce is redeemed in the transaction of the request.
import { flattenedVerify, errors as joseErrors, type FlattenedJWSInput } from "jose"
import { malformed, AcmeProblem } from "../../acme/problem.ts"
import { type PublicJwk, type ReadJwk, readJwk } from "../../x509/jwk.ts"
import { UnacceptableInput } from "../../x509/unacceptable-input.ts"
import { isObject, type JsonObject, readBase64url, readObject, text } from "./object.ts"

/** Algorithms of account keys: RFC 7518, section 3.1; RFC 8037. */
const signatureAlgorithms = ["ES256", "ES384", "ES512", "RS256", "EdDSA"]
/** Algorithms of external account bindings (RFC 8555, section 7.3.4). */
const macAlgorithms = ["HS256", "HS384", "HS512"]

export interface SignedRequest {
  /** Account URL that identifies the key; undefined if `jwk` is the key itself. */
  readonly kid: string | undefined
  readonly jwk: ReadJwk | undefined
  readonly nonce: string
  /** Undefined for a POST-as-GET. */
  readonly payload: Uint8Array | undefined
  readonly jws: FlattenedJWSInput
}

/**
 * Header parameters that change what a signature covers or means. Other unknown parameters are ignored; an extension that `crit` names and
 * the server does not implement makes the JWS invalid (RFC 7515, section 4.1.11), and the server implements none.
 */
const unsupportedParameters = ["crit", "b64"]

/**
 * Reads and checks a request, except for its signature and the validity of its nonce. `url` is the URL of the request. Throws
 * `AcmeProblem`.
 */
export function readSignedRequest(body: Uint8Array, url: string): SignedRequest {
  const { jws, header } = readFlattened(readObject(body, "The body"), "The body")
  assertSupportedHeader(header, signatureAlgorithms)
  if (text(header, "url") !== url)
    throw new AcmeProblem("unauthorized", `The protected header's "url" must be ${url}, the URL of the request.`)
  const nonce = text(header, "nonce")
  if (nonce === undefined || nonce === "") throw new AcmeProblem("badNonce", `The protected header has no "nonce".`)
  // RFC 8555, section 6.5.2.
  readBase64url(nonce, `"nonce"`)
  const kid = text(header, "kid")
  const given = header["jwk"]
  if ((kid === undefined) === (given === undefined))
    throw malformed(`The protected header must contain either "jwk" or "kid", and not both.`)
  return {
    kid,
    jwk: given === undefined ? undefined : readKey(given),
    nonce,
    payload: jws.payload === "" ? undefined : readBase64url(jws.payload, "The payload"),
    jws,
  }
}

/** Returns whether the key signed the request. */
export const isSignedRequest = ({ jws }: Pick<SignedRequest, "jws">, jwk: PublicJwk): Promise<boolean> =>
  isVerified(jws, jwk, signatureAlgorithms)

/** Throws `malformed` unless the key signed the request. */
export async function verifySignedRequest(signed: Pick<SignedRequest, "jws">, jwk: PublicJwk): Promise<void> {
  if (!(await isSignedRequest(signed, jwk))) throw malformed("The signature of the request does not match its key.")
}

/** External account binding as sent with the request for a new account (RFC 8555, section 7.3.4). */
export interface SentBinding {
  readonly keyId: string
  readonly document: JsonObject
  verify(key: Uint8Array): Promise<boolean>
}

export function readBinding(value: unknown, url: string, accountKey: ReadJwk): SentBinding {
  if (!isObject(value)) throw malformed(`"externalAccountBinding" must be an object.`)
  const { jws, header } = readFlattened(value, `"externalAccountBinding"`)
  assertSupportedHeader(header, macAlgorithms)
  const keyId = text(header, "kid")
  if (keyId === undefined || header["jwk"] !== undefined || header["nonce"] !== undefined)
    throw malformed(
      `The protected header of "externalAccountBinding" must contain "kid", and neither "jwk" nor "nonce".`,
    )
  if (text(header, "url") !== url) throw malformed(`The "url" of "externalAccountBinding" must be ${url}.`)
  const bound = readKey(
    readObject(
      readBase64url(jws.payload, `The payload of "externalAccountBinding"`),
      `The payload of "externalAccountBinding"`,
    ),
  )
  if (bound.thumbprint !== accountKey.thumbprint)
    throw malformed(`The payload of "externalAccountBinding" must be the key of the request.`)
  return {
    keyId,
    document: value,
    verify: (key) => isVerified(jws, key, macAlgorithms),
  }
}

/** Key change: the inner JWS, which the new key signs, inside a request that the old key signs (RFC 8555, section 7.3.5). */
export interface SentKeyChange {
  readonly newKey: ReadJwk
  readonly account: string
  readonly oldKey: ReadJwk
}

export async function readKeyChange(payload: Uint8Array | undefined, url: string): Promise<SentKeyChange> {
  const { jws, header } = readFlattened(readObject(payload ?? new Uint8Array(), "The payload"), "The payload")
  assertSupportedHeader(header, signatureAlgorithms)
  if (header["jwk"] === undefined || header["kid"] !== undefined || header["nonce"] !== undefined)
    throw malformed(`The inner protected header must contain "jwk", and neither "kid" nor "nonce".`)
  if (text(header, "url") !== url) throw malformed(`The inner "url" must be the same as the outer one.`)
  const newKey = readKey(header["jwk"])
  await verifySignedRequest({ jws }, newKey.jwk)
  const inner = readObject(readBase64url(jws.payload, "The inner payload"), "The inner payload")
  const account = text(inner, "account")
  if (account === undefined) throw malformed(`The inner payload has no "account".`)
  return { newKey, account, oldKey: readKey(inner["oldKey"]) }
}

function readFlattened(object: JsonObject, what: string) {
  const names = Object.keys(object)
  if (names.includes("signatures") || names.includes("header"))
    throw malformed(`${what} must be a JWS in flattened JSON serialization without an unprotected header.`)
  const [header, payload, signature] = ["protected", "payload", "signature"].map((name) => {
    const value = text(object, name)
    if (value === undefined) throw malformed(`${what} lacks the member "${name}".`)
    return value
  }) as [string, string, string]
  readBase64url(signature, "The signature")
  return {
    jws: { protected: header, payload, signature },
    header: readObject(readBase64url(header, "The protected header"), "The protected header"),
  }
}

function assertSupportedHeader(header: JsonObject, algorithms: readonly string[]): void {
  const unsupported = unsupportedParameters.find((name) => Object.hasOwn(header, name))
  if (unsupported !== undefined)
    throw malformed(
      `The protected header's "${unsupported}" is not supported; the server implements no JWS extensions.`,
    )
  const algorithm = text(header, "alg")
  if (algorithm !== undefined && algorithms.includes(algorithm)) return
  throw new AcmeProblem("badSignatureAlgorithm", `"alg" must be one of ${algorithms.join(", ")}.`, { algorithms })
}

function readKey(value: unknown): ReadJwk {
  try {
    return readJwk(value)
  } catch (error) {
    if (error instanceof UnacceptableInput) throw new AcmeProblem("badPublicKey", `${error.message}.`)
    throw error
  }
}

/** Verifies a signature or a MAC. Returns false for a key whose type does not fit the algorithm. */
async function isVerified(
  jws: FlattenedJWSInput,
  key: PublicJwk | Uint8Array,
  algorithms: readonly string[],
): Promise<boolean> {
  try {
    await flattenedVerify(jws, key, { algorithms: [...algorithms] })
    return true
  } catch (error) {
    if (error instanceof joseErrors.JOSEError || error instanceof TypeError || error instanceof DOMException)
      return false
    throw error
  }
}
