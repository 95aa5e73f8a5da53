// ACME directories. Below a directory, every error is a problem document, and every answer has a nonce (RFC 8555, sections 6.5 and 6.7).
import { AcmeProblem, type Problem } from "../../acme/problem.ts"
import type { AccountSigner, AcmeServer, DirectoryAccess, KeySigner } from "../../acme/acme.ts"
import type { AcmeAccountId } from "../../acme/accounts/account.ts"
import type { Directory } from "../../acme/directory.ts"
import type { AcmeOrderId, AuthorizationId } from "../../acme/orders/order.ts"
import { type EngineError, type EngineErrorCode, isEngineError } from "../../core/errors.ts"
import { signingTurn } from "../../core/timers.ts"
import { acme, directoryPaths } from "../../contracts/acme/directory.ts"
import type { AcmeContract, AcmeEndpoint } from "../../contracts/acme/endpoint.ts"
import type { JsonObject } from "../../contracts/acme/object.ts"
import {
  accountIdIn,
  accountUrl,
  authorizationUrl,
  challengeUrl,
  encodeAccount,
  encodeAuthorization,
  encodeChallenge,
  encodeDirectory,
  encodeOrder,
  encodeOrderPage,
  encodeProblem,
  encodeRenewalInfo,
  orderUrl,
  parseAccountId,
  parseChallengeType,
  problemType,
  readPayload,
} from "../../contracts/acme/documents.ts"
import {
  isSignedRequest,
  readBinding,
  readKeyChange,
  readSignedRequest,
  type SignedRequest,
  verifySignedRequest,
} from "../../contracts/acme/jws.ts"
import { writePem } from "../../x509/pem.ts"
import { param, type PkiRequest, type PkiResponse, type PkiRoute } from "../vault/vault-route.ts"
import { acmeCorsHeaders } from "./cross-origin.ts"

type Params = Readonly<Record<string, string>>

const directoryOf = (path: string, { issuer_ref: issuerRef, role, policy }: Params): Directory => ({
  ...(issuerRef === undefined ? {} : { issuerRef }),
  ...(role === undefined ? {} : { role }),
  ...(path.includes("/external-policy") ? { externalPolicy: policy ?? "" } : {}),
})

/** Suggested polling interval of pending orders, authorizations and challenges. */
const pollMs = 1_000
/** Enough for identifiers, CSR and signature of the largest order allowed. */
const bodyLimitBytes = 256 * 1_024

interface AcmeExchange {
  readonly request: PkiRequest
  readonly server: AcmeServer
  readonly entrance: DirectoryAccess
  /** URL prefix of the directory's resources, without a trailing slash. */
  readonly base: string
}

interface Reply {
  readonly status?: number
  readonly document?: object
  readonly location?: string
  readonly links?: readonly string[]
  /** The reply is the directory itself, which all other replies link to. */
  readonly isIndex?: true
  /** Body instead of a document: a PEM chain. */
  readonly pem?: string
  /** Milliseconds until the client should ask again. */
  readonly retryAfterMs?: number
}

type HandleGet = (visit: AcmeExchange) => Promise<Reply>
type HandlePost = (visit: AcmeExchange, signed: SignedRequest) => Promise<Reply>
type Handlers<C extends AcmeContract> = {
  readonly [Name in keyof C]: C[Name]["method"] extends "GET" ? HandleGet : HandlePost
}

const handlers: Handlers<typeof acme> = {
  directory,
  directoryByPost: shownTo(directory),
  newNonce,
  newNonceByPost: shownTo(newNonce),
  renewalInfo,
  newAccount,
  account,
  orders,
  newOrder,
  order,
  finalize,
  certificate,
  certificateChain: certificate,
  newAuthorization,
  authorization,
  challenge,
  revoke,
  keyChange,
}

export const acmeRoutes: readonly PkiRoute[] = directoryPaths.flatMap((directoryPath) =>
  Object.entries<AcmeEndpoint>(acme).map(([name, endpoint]) => {
    const handle = handlers[name as keyof typeof acme]
    return endpoint.method === "GET"
      ? open("read", directoryPath, endpoint.path, handle as HandleGet)
      : signed(directoryPath, endpoint, handle)
  }),
)

/** Returns a route that requires no token, and encodes replies and errors. */
function open(operation: "read" | "write", directoryPath: string, below: string, handle: HandleGet): PkiRoute {
  return {
    operation,
    path: `${directoryPath}${below}`,
    open: true,
    raw: true,
    problems: true,
    bodyLimitBytes,
    async handle(request) {
      const server = request.engine.acmeDirectory(request.mount.path, directoryOf(directoryPath, request.params))
      let entrance: DirectoryAccess | undefined
      try {
        entrance = await server.enter()
        const { base } = entrance
        return responseTo(await handle({ request, server, entrance, base }), entrance)
      } catch (error) {
        return refusal(error, entrance)
      }
    },
  }
}

/**
 * Returns a route for signed requests. Signed reads are sent by POST too (RFC 8555, section 6.3). A POST-as-GET changes nothing, so it is
 * in the audit log only with `--audit-open-reads`, like other open reads.
 */
function signed(directoryPath: string, { path, payload }: AcmeEndpoint, handle: HandlePost): PkiRoute {
  const pathOf = pathBelow(path)
  const isPostAsGet = payload === undefined
  const route = open("write", directoryPath, path, async (visit) => {
    const request = await signedRequest(visit, pathOf)
    try {
      if (isPostAsGet && request.payload !== undefined)
        throw new AcmeProblem("malformed", "The payload of a POST-as-GET must be empty.")
      return await handle(visit, request)
    } catch (error) {
      if (error instanceof AcmeProblem && error.problem.type !== "badNonce") await visit.server.spend(request.nonce)
      throw error
    }
  })
  return isPostAsGet ? { ...route, readOnly: true } : route
}

async function signedRequest(
  { request, base }: AcmeExchange,
  pathOf: (request: PkiRequest) => string,
): Promise<SignedRequest> {
  const type = request.headers.get("content-type")
  if (type !== joseType && type?.split(";")[0]?.trim().toLowerCase() !== joseType)
    throw new AcmeProblem("malformed", `Content-Type must be ${joseType}.`, { status: 415 })
  const query = request.query.size === 0 ? "" : `?${request.query.toString()}`
  const bytes = await request.bytes()
  await signingTurn()
  return readSignedRequest(bytes, `${base}${pathOf(request)}${query}`)
}

const joseType = "application/jose+json"

/** Returns a function that fills the pattern with the path parameters of a request. */
function pathBelow(pattern: string): (request: PkiRequest) => string {
  const segments = pattern.split("/").map((segment) => {
    const name = segment.startsWith(":") ? segment.slice(1) : undefined
    return name === undefined ? () => segment : (request: PkiRequest) => encodeURIComponent(param(request, name))
  })
  return (request) => segments.map((segment) => segment(request)).join("/")
}

/** Verifies the signature of an account. Tries the cached key first, and reads the current one if that key does not match. */
async function asAccount({ server, entrance, base }: AcmeExchange, signed: SignedRequest): Promise<AccountSigner> {
  const id = signed.kid === undefined ? undefined : accountIdIn(base, signed.kid)
  if (signed.kid === undefined)
    throw new AcmeProblem("malformed", `The protected header must contain "kid", the URL of the account.`)
  if (id === undefined)
    throw new AcmeProblem("accountDoesNotExist", `"kid" must be the URL of an account of this directory.`)
  const known = entrance.knownKeyOf(id)
  if (known !== undefined && (await isSignedRequest(signed, known.jwk)))
    return { nonce: signed.nonce, accountId: id, thumbprint: known.thumbprint }
  const { jwk, thumbprint } = await server.keyOf(id)
  await verifySignedRequest(signed, jwk)
  return { nonce: signed.nonce, accountId: id, thumbprint }
}

/** Verifies the signature of a request that contains its key in "jwk". */
async function asKey(signed: SignedRequest): Promise<KeySigner> {
  if (signed.jwk === undefined)
    throw new AcmeProblem("malformed", `The protected header must contain "jwk", the key that signs the request.`)
  await verifySignedRequest(signed, signed.jwk.jwk)
  return { nonce: signed.nonce, ...signed.jwk }
}

/** Serves a public resource by POST-as-GET as well (RFC 8555, section 6.3). */
function shownTo(handle: (visit: AcmeExchange) => Promise<Reply>) {
  return async (visit: AcmeExchange, signed: SignedRequest): Promise<Reply> => {
    await visit.server.admit(await asAccount(visit, signed))
    return handle(visit)
  }
}

async function directory({ server }: AcmeExchange): Promise<Reply> {
  return { document: encodeDirectory(await server.describe()), isIndex: true }
}

async function newNonce({ request }: AcmeExchange): Promise<Reply> {
  return { status: request.method === "HEAD" ? 200 : 204 }
}

async function renewalInfo({ request, server }: AcmeExchange): Promise<Reply> {
  const info = await server.renewalInfo(param(request, "certificate_id"))
  return { document: encodeRenewalInfo(info), retryAfterMs: info.retryAfterMs }
}

async function newAccount(visit: AcmeExchange, signed: SignedRequest): Promise<Reply> {
  const { server, base } = visit
  const signer = await asKey(signed)
  const { externalAccountBinding: sentBinding, ...input } = acme.newAccount.payload.decode(readPayload(signed.payload))
  const binding =
    sentBinding === undefined || signed.jwk === undefined
      ? undefined
      : readBinding(sentBinding, `${base}/new-account`, signed.jwk)
  const { account: made, created } = await server.newAccount(signer, {
    ...input,
    binding,
    address: visit.request.remoteAddress,
  })
  return { status: created ? 201 : 200, document: encodeAccount(base, made), location: accountUrl(base, made.id) }
}

async function account(visit: AcmeExchange, signed: SignedRequest): Promise<Reply> {
  const { request, server, base } = visit
  const signer = await asAccount(visit, signed)
  const id = accountId(request)
  const change =
    signed.payload === undefined
      ? { contact: undefined, deactivate: false }
      : accountChangeIn(readPayload(signed.payload))
  return {
    document: encodeAccount(base, await server.changeAccount(signer, id, change)),
    location: accountUrl(base, id),
  }
}

function accountChangeIn(payload: JsonObject) {
  const { contact, status } = acme.account.payload.decode(payload)
  return { contact, deactivate: status === "deactivated" }
}

async function orders(visit: AcmeExchange, signed: SignedRequest): Promise<Reply> {
  const { request, server, base } = visit
  const signer = await asAccount(visit, signed)
  const id = accountId(request)
  const cursor = request.query.get("cursor")
  const page = await server.orders(signer, id, cursor === null ? undefined : (cursor as AcmeOrderId))
  const next = page.next === undefined ? [] : [`<${accountUrl(base, id)}/orders?cursor=${page.next}>;rel="next"`]
  return { document: encodeOrderPage(base, page), links: next }
}

async function newOrder(visit: AcmeExchange, signed: SignedRequest): Promise<Reply> {
  const { server, base } = visit
  const signer = await asAccount(visit, signed)
  const made = await server.newOrder(signer, acme.newOrder.payload.decode(readPayload(signed.payload)))
  return { status: 201, document: encodeOrder(base, made), location: orderUrl(base, made.id) }
}

async function order(visit: AcmeExchange, signed: SignedRequest): Promise<Reply> {
  const found = await visit.server.order(await asAccount(visit, signed), orderId(visit))
  return {
    document: encodeOrder(visit.base, found),
    location: orderUrl(visit.base, found.id),
    ...(found.status === "pending" || found.status === "processing" ? { retryAfterMs: pollMs } : {}),
  }
}

async function finalize(visit: AcmeExchange, signed: SignedRequest): Promise<Reply> {
  const signer = await asAccount(visit, signed)
  const id = orderId(visit)
  const { csr } = acme.finalize.payload.decode(readPayload(signed.payload))
  const made = await visit.server.finalize(signer, id, csr)
  return {
    document: encodeOrder(visit.base, made),
    location: orderUrl(visit.base, id),
    ...(made.status === "processing" ? { retryAfterMs: pollMs } : {}),
  }
}

async function certificate(visit: AcmeExchange, signed: SignedRequest): Promise<Reply> {
  const { request, base } = visit
  const id = orderId(visit)
  const chains = await visit.server.chains(await asAccount(visit, signed), id)
  const { chain: asked = "0" } = request.params
  const chain = /^\d{1,2}$/.test(asked) ? chains[Number(asked)] : undefined
  if (chain === undefined) throw new AcmeProblem("malformed", "The chain does not exist.", { status: 404 })
  const url = (at: number) => `${orderUrl(base, id)}/cert${at === 0 ? "" : `/${at}`}`
  return {
    pem: chain.map((der) => `${writePem("CERTIFICATE", der)}\n`).join(""),
    links: chains.flatMap((_chain, at) => (at === Number(asked) ? [] : [`<${url(at)}>;rel="alternate"`])),
  }
}

async function newAuthorization(visit: AcmeExchange, signed: SignedRequest): Promise<Reply> {
  const { server, base } = visit
  const signer = await asAccount(visit, signed)
  const { identifier } = acme.newAuthorization.payload.decode(readPayload(signed.payload))
  const { authorization: made, created } = await server.newAuthorization(signer, identifier)
  return {
    status: created ? 201 : 200,
    document: encodeAuthorization(base, made),
    location: authorizationUrl(base, made.id),
  }
}

async function authorization(visit: AcmeExchange, signed: SignedRequest): Promise<Reply> {
  const { request, server, base } = visit
  const signer = await asAccount(visit, signed)
  const id = param(request, "id") as AuthorizationId
  if (signed.payload !== undefined) {
    acme.authorization.payload.decode(readPayload(signed.payload))
    return { document: encodeAuthorization(base, await server.deactivateAuthorization(signer, id)) }
  }
  const found = await server.authorization(signer, id)
  return {
    document: encodeAuthorization(base, found),
    ...(found.status === "pending" ? { retryAfterMs: pollMs } : {}),
  }
}

async function challenge(visit: AcmeExchange, signed: SignedRequest): Promise<Reply> {
  const { request, server, base } = visit
  const signer = await asAccount(visit, signed)
  const id = param(request, "id") as AuthorizationId
  const type = parseChallengeType(param(request, "type"))
  if (type === undefined) throw new AcmeProblem("malformed", "The challenge does not exist.", { status: 404 })
  if (signed.payload !== undefined) readPayload(signed.payload)
  const found =
    signed.payload === undefined
      ? await server.challenge(signer, id, type)
      : await server.beginChallenge(signer, id, type)
  return {
    document: encodeChallenge(base, found),
    location: challengeUrl(base, found),
    links: [`<${authorizationUrl(base, id)}>;rel="up"`],
    ...(found.status === "processing" ? { retryAfterMs: pollMs } : {}),
  }
}

async function revoke(visit: AcmeExchange, signed: SignedRequest): Promise<Reply> {
  const signer = signed.kid === undefined ? await asKey(signed) : await asAccount(visit, signed)
  await visit.server.revoke(signer, acme.revoke.payload.decode(readPayload(signed.payload)))
  return {}
}

async function keyChange(visit: AcmeExchange, signed: SignedRequest): Promise<Reply> {
  const { server, base } = visit
  const signer = await asAccount(visit, signed)
  const { newKey, account: named, oldKey } = await readKeyChange(signed.payload, `${base}/key-change`)
  if (named !== signed.kid) throw new AcmeProblem("malformed", `The inner "account" must be the same as "kid".`)
  const changed = await server.changeKey(signer, oldKey.thumbprint, newKey)
  return { document: encodeAccount(base, changed), location: accountUrl(base, changed.id) }
}

function accountId(request: PkiRequest): AcmeAccountId {
  const id = parseAccountId(param(request, "id"))
  if (id === undefined) throw new AcmeProblem("accountDoesNotExist", "The account does not exist in this directory.")
  return id
}

const orderId = ({ request }: AcmeExchange): AcmeOrderId => param(request, "id") as AcmeOrderId

/** Encodes a reply. Every response has a nonce and a link to the directory (RFC 8555, sections 6.5 and 7.1). */
function responseTo(reply: Reply, entrance: DirectoryAccess): PkiResponse {
  const { status = 200, document, pem, location, links = [], isIndex = false, retryAfterMs } = reply
  const headers: Record<string, string | readonly string[]> = {
    "cache-control": "no-store",
    ...acmeCorsHeaders,
    "replay-nonce": entrance.newNonce(),
  }
  // Each link has its own line, because dehydrated reads only the first link of a line.
  if (!isIndex) headers["link"] = [`<${entrance.base}/directory>;rel="index"`, ...links]
  if (pem !== undefined) headers["content-type"] = "application/pem-certificate-chain"
  else if (document !== undefined) headers["content-type"] = "application/json"
  if (location !== undefined) headers["location"] = location
  if (retryAfterMs !== undefined) headers["retry-after"] = String(Math.ceil(retryAfterMs / 1_000))
  return {
    kind: "raw",
    status,
    body: pem ?? (document === undefined ? "" : JSON.stringify(document)),
    headers,
  }
}

/** Encodes errors as problem documents. Rethrows unexpected errors, which the certificate API answers. */
function refusal(error: unknown, entrance: DirectoryAccess | undefined): PkiResponse {
  const refused = error instanceof AcmeProblem ? error : isEngineError(error) ? problemOf(error) : undefined
  if (refused === undefined) throw error
  const { accountId, algorithms, retryAfterMs } = refused.options
  const problem = {
    ...encodeProblem(refused.problem, refused.status),
    ...(algorithms === undefined ? {} : { algorithms }),
  }
  return {
    kind: "raw",
    status: refused.status,
    body: JSON.stringify(problem),
    headers: {
      "content-type": problemType,
      "cache-control": "no-store",
      ...acmeCorsHeaders,
      ...(entrance === undefined
        ? {}
        : { "replay-nonce": entrance.newNonce(), link: `<${entrance.base}/directory>;rel="index"` }),
      ...(accountId === undefined || entrance === undefined ? {} : { location: accountUrl(entrance.base, accountId) }),
      ...(retryAfterMs === undefined ? {} : { "retry-after": String(Math.ceil(retryAfterMs / 1_000)) }),
    },
  }
}

type Problematic = Pick<Problem, "type"> & { readonly status?: number }

const problemTypes: Readonly<Partial<Record<EngineErrorCode, Problematic>>> = {
  "bad-request": { type: "malformed" },
  "not-found": { type: "malformed", status: 404 },
  "too-large": { type: "malformed", status: 413 },
  "rate-limited": { type: "rateLimited" },
  invalid: { type: "malformed" },
  unprocessable: { type: "malformed" },
  conflict: { type: "malformed", status: 409 },
  forbidden: { type: "unauthorized" },
  pending: { type: "serverInternal", status: 503 },
  busy: { type: "serverInternal", status: 503 },
  unavailable: { type: "serverInternal", status: 503 },
  "out-of-service": { type: "serverInternal", status: 503 },
}

function problemOf({ code, message, retryAfterMs }: EngineError): AcmeProblem | undefined {
  const found = problemTypes[code]
  if (found === undefined) return undefined
  return new AcmeProblem(found.type, message, {
    ...(found.status === undefined ? {} : { status: found.status }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
}
