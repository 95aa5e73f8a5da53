// Asks OCSP responders for the status of a client's certificate. Responses prove themselves, so plain HTTP suffices (RFC 6960).
import { LRUCache } from "lru-cache"
import { type Fetch, FetchFailure } from "../../core/fetch.ts"
import type { Runtime } from "../../core/runtime.ts"
import { type Instant, hourMs, minuteMs } from "../../core/time.ts"
import { oids } from "../../x509/asn1/oids.ts"
import {
  encodeCertificateId,
  encodeOcspRequest,
  type OcspAnswer,
  type OcspSingleAnswer,
  parseOcspResponse,
} from "../../x509/ocsp-response.ts"
import { parseCertificateId } from "../../x509/ocsp.ts"
import { isSamePublicKey } from "../../x509/public-key.ts"
import { isSignedBy } from "../../x509/signature.ts"
import { UnacceptableInput } from "../../x509/unacceptable-input.ts"
import { isIssuedBy, type PathCertificate, readPathCertificate } from "./certification-path.ts"
import { type CertificateRole, readBundle } from "./certificate-role.ts"

export type OcspStatus =
  | { readonly kind: "good" }
  | { readonly kind: "revoked" }
  /** No responder knows the status. The reason is for the server's log. */
  | { readonly kind: "undetermined"; readonly reason: string }

export type OcspChecker = (role: CertificateRole, leaf: PathCertificate, issuer: PathCertificate) => Promise<OcspStatus>

interface ServerAnswer {
  readonly status: OcspSingleAnswer["status"]
  readonly thisUpdate: Instant
  readonly nextUpdate: Instant | undefined
}

const maxServers = 10
const requestTimeoutMs = 5_000
/** All requests of one login. A client waits for them. */
const patienceMs = 15_000
const maxAnswerBytes = 64 * 1_024
/** Tolerated difference between two clocks. */
const leewayMs = 5 * minuteMs
const maxCached = 10_000
const nonceOctets = 16

export function ocspChecker(fetch: Fetch, { clock, random }: Pick<Runtime, "clock" | "random">): OcspChecker {
  const cache = new LRUCache<string, ServerAnswer>({ max: maxCached })

  async function ask(url: string, role: CertificateRole, leaf: PathCertificate, issuer: PathCertificate) {
    const certificateId = encodeCertificateId(
      { name: issuer.certificate.subject, publicKeyBits: issuer.publicKey.octets },
      leaf.certificate.serialNumber,
    )
    // The issuer's key and the accepted responders decide which responses count.
    const key = [url, role.ocspCaCertificates, ...[certificateId, issuer.publicKey.spki].map(base64)].join(" ")
    const known = cache.get(key)
    if (known !== undefined && timeProblem(known, role, clock.now()) === undefined) return known
    const nonce = random.bytes(nonceOctets)
    const { status, body } = await fetch({
      method: "POST",
      url,
      headers: { "content-type": "application/ocsp-request", accept: "application/ocsp-response" },
      body: encodeOcspRequest(certificateId, nonce),
      timeoutMs: requestTimeoutMs,
      maxAnswerBytes,
    })
    if (status !== 200) throw new UnacceptableInput(`${url} answered with status ${status}`)
    const answer = parseOcspResponse(body)
    if (typeof answer === "number") throw new UnacceptableInput(`${url} answered with the OCSP status ${answer}`)
    const now = clock.now()
    const found = verified(answer, { role, issuer, certificateId, nonce, now })
    if (found.nextUpdate !== undefined)
      cache.set(key, { ...found, nextUpdate: Math.min(found.nextUpdate, now + hourMs) })
    return found
  }

  /** Returns the answer of a server, or the reason why there is none. */
  async function askAgain(
    url: string,
    until: Instant,
    ...question: [CertificateRole, PathCertificate, PathCertificate]
  ): Promise<ServerAnswer["status"] | { readonly reason: string }> {
    let reason = ""
    for (let attempt = 0; attempt <= question[0].ocspMaxRetries; attempt += 1) {
      if (attempt > 0 && clock.now() >= until) break
      try {
        return (await ask(url, ...question)).status
      } catch (error) {
        if (!(error instanceof FetchFailure) && !(error instanceof UnacceptableInput)) throw error
        reason = error.message
      }
    }
    return { reason }
  }

  return async (role, leaf, issuer) => {
    const named = leaf.values.authorityInfoAccess?.ocspServers ?? []
    const servers = (role.ocspServersOverride.length > 0 ? role.ocspServersOverride : named).slice(0, maxServers)
    const until = clock.now() + patienceMs
    let undetermined = "the certificate names no OCSP server"
    let isGood = false
    for (const url of servers) {
      const answer = await askAgain(url, until, role, leaf, issuer)
      if (answer === "revoked") return { kind: "revoked" }
      if (answer === "good") {
        isGood = true
        if (!role.ocspQueryAllServers) break
      } else {
        undetermined = answer === "unknown" ? `${url} does not know the certificate` : answer.reason
        if (role.ocspQueryAllServers) return { kind: "undetermined", reason: undetermined }
      }
    }
    return isGood ? { kind: "good" } : { kind: "undetermined", reason: undetermined }
  }
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64")

interface Question {
  readonly role: CertificateRole
  readonly issuer: PathCertificate
  readonly certificateId: Uint8Array
  readonly nonce: Uint8Array
  readonly now: Instant
}

/** Returns the response about the certificate. Throws `UnacceptableInput` unless it is signed by a responder of the issuer. */
function verified(answer: OcspAnswer, { role, issuer, certificateId, nonce, now }: Question): ServerAnswer {
  if (answer.nonce !== undefined && Buffer.compare(answer.nonce, nonce) !== 0)
    throw new UnacceptableInput("the OCSP response has the nonce of another request")
  const asked = parseCertificateId(certificateId)
  const found = answer.responses.find(
    ({ certificateId: one }) =>
      one.digest === asked.digest &&
      Buffer.compare(one.issuerNameHash, asked.issuerNameHash) === 0 &&
      Buffer.compare(one.issuerKeyHash, asked.issuerKeyHash) === 0 &&
      Buffer.compare(one.serialNumber, asked.serialNumber) === 0,
  )
  if (found === undefined) throw new UnacceptableInput("the OCSP response is about another certificate")
  if (!responders(answer, role, issuer, now).some(({ publicKey }) => isSignedBySafely(answer, publicKey)))
    throw new UnacceptableInput("the OCSP response is not signed by a responder of the issuer")
  const problem = timeProblem(found, role, now)
  if (problem !== undefined) throw new UnacceptableInput(problem)
  return { status: found.status, thisUpdate: found.thisUpdate, nextUpdate: found.nextUpdate }
}

function isSignedBySafely(answer: OcspAnswer, key: PathCertificate["publicKey"]): boolean {
  try {
    return isSignedBy(key, answer)
  } catch (error) {
    if (error instanceof UnacceptableInput) return false
    throw error
  }
}

/** Returns the certificates whose keys may sign: the issuer, responders that it certified, and those of the role's own CAs. */
function responders(
  { certificates }: OcspAnswer,
  { ocspCaCertificates }: CertificateRole,
  issuer: PathCertificate,
  now: Instant,
): readonly PathCertificate[] {
  const extra = ocspCaCertificates === "" ? [] : readBundle(ocspCaCertificates)
  const delegated = certificates.flatMap((der) => {
    const responder = parsedOrNone(der)
    if (responder === undefined || !isValidAt(responder, now)) return []
    if (!(responder.values.extendedKeyUsage ?? []).includes(oids.ocspSigning)) return []
    return [issuer, ...extra].some((authority) => isDelegate(responder, authority)) ? [responder] : []
  })
  return [issuer, ...extra.filter((one) => isValidAt(one, now)), ...delegated]
}

const isDelegate = (responder: PathCertificate, authority: PathCertificate): boolean =>
  !isSamePublicKey(responder.publicKey, authority.publicKey) &&
  Buffer.compare(responder.certificate.issuer, authority.certificate.subject) === 0 &&
  isIssuedBy(responder, authority)

const isValidAt = ({ certificate }: PathCertificate, now: Instant): boolean =>
  certificate.notBefore <= now && now <= certificate.notAfter

function parsedOrNone(der: Uint8Array): PathCertificate | undefined {
  try {
    return readPathCertificate(der)
  } catch (error) {
    if (error instanceof UnacceptableInput) return undefined
    throw error
  }
}

function timeProblem(
  { thisUpdate, nextUpdate }: Pick<ServerAnswer, "thisUpdate" | "nextUpdate">,
  { ocspThisUpdateMaxAgeMs }: CertificateRole,
  now: Instant,
): string | undefined {
  if (thisUpdate > now + leewayMs) return "the OCSP response is from the future"
  if (nextUpdate !== undefined && nextUpdate + leewayMs <= now) return "the OCSP response is out of date"
  if (ocspThisUpdateMaxAgeMs > 0 && now - thisUpdate > ocspThisUpdateMaxAgeMs) return "the OCSP response is too old"
  return undefined
}
