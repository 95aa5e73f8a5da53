// Validation of challenges and CAA records (RFC 8555, section 8; RFC 8737; RFC 8738; RFC 8659). A port accesses the network; this file
// evaluates the answers. Problems contain nothing that a third-party server answered.
import { FetchFailure, type FetchFailureKind } from "../../core/fetch.ts"
import { secondMs } from "../../core/time.ts"
import { type Timers, within } from "../../core/timers.ts"
import { oids } from "../../x509/asn1/oids.ts"
import { DerReader } from "../../x509/asn1/reader.ts"
import { type Certificate, parseCertificate } from "../../x509/certificate.ts"
import { sha256 } from "../../x509/digest.ts"
import { findExtension } from "../../x509/extension.ts"
import { parseExtensionValues } from "../../x509/extensions.ts"
import { UnacceptableInput } from "../../x509/unacceptable-input.ts"
import { parseIpAddress } from "../../pki/names/ip-address.ts"
import type { ProvedIdentifier } from "../orders/identifier.ts"
import { type ChallengeType, keyAuthorization } from "../orders/order.ts"
import type { Problem, ProblemType } from "../problem.ts"

/** Network settings of a mount for challenges. */
export interface NetworkTerms {
  /** Ranges in addition to those that are always permitted. */
  readonly permittedRanges: readonly string[]
  /** Ranges that are never reached, even if permitted. */
  readonly excludedRanges: readonly string[]
  /** Address of the resolver; empty for the one of the system. */
  readonly resolver: string
}

export interface CaaRecord {
  readonly critical: boolean
  /** Lower case. */
  readonly tag: string
  readonly value: string
}

/** Result of a TLS handshake. */
export interface TlsGreeting {
  /** ALPN protocol; undefined if none was agreed. */
  readonly protocol: string | undefined
  /** DER. */
  readonly certificate: Uint8Array | undefined
}

/** Network access with address checks. Every failure, including a forbidden address, is a `FetchFailure`. */
export interface AcmeNetwork {
  /** Uses port 80 unless configured otherwise. Follows redirects to the standard ports only. */
  getHttp(
    host: string,
    path: string,
    terms: NetworkTerms,
  ): Promise<{ readonly status: number; readonly body: Uint8Array }>
  /** Uses port 443 unless configured otherwise. */
  greetTls(
    host: string,
    asked: { readonly serverName: string; readonly protocol: string },
    terms: NetworkTerms,
  ): Promise<TlsGreeting>
  /** Returns each record as one string; an empty list if there are none. */
  lookUpTxt(name: string, terms: NetworkTerms): Promise<readonly string[]>
  lookUpCaa(name: string, terms: NetworkTerms): Promise<readonly CaaRecord[]>
}

export interface Proof {
  readonly identifier: ProvedIdentifier
  readonly type: ChallengeType
  readonly token: string
  /** Thumbprint of the account key. */
  readonly thumbprint: string
}

/** Timeout of all queries of one attempt, regardless of the number of names and addresses. Shorter than its lease. */
export const attemptTimeoutMs = 45 * secondMs

interface ValidationContext {
  readonly network: AcmeNetwork
  readonly terms: NetworkTerms
  readonly timers: Timers
}

/** Validates a challenge, and checks CAA records if `caa` is given. Returns the problem, or undefined. */
export async function attemptInTime(
  proof: Proof,
  caa: Omit<CaaTerms, "method"> | undefined,
  { network, terms, timers }: ValidationContext,
): Promise<Problem | undefined> {
  const { identifier, type: method } = proof
  const outcome = await within(
    timers,
    attemptTimeoutMs,
    attempt(proof, network, terms).then(async (problem) => ({
      problem: problem ?? (caa && (await caaProblem(identifier, { ...caa, method }, network, terms))),
    })),
  )
  if (outcome !== undefined) return outcome.problem
  const seconds = attemptTimeoutMs / secondMs
  return {
    type: "connection",
    detail: `The validation of ${identifier.value} did not finish within ${seconds} seconds.`,
  }
}

/** Validates a challenge. Returns the problem, or undefined if the identifier is proved. */
export async function attempt(proof: Proof, network: AcmeNetwork, terms: NetworkTerms): Promise<Problem | undefined> {
  try {
    switch (proof.type) {
      case "http-01":
        return await attemptHttp(proof, network, terms)
      case "dns-01":
        return await attemptDns(proof, network, terms)
      default:
        return await attemptTls(proof, network, terms)
    }
  } catch (error) {
    if (error instanceof FetchFailure) return problemFrom(error, proof.identifier)
    throw error
  }
}

/** Omits forbidden addresses from the detail, because they would reveal the records of an internal resolver. */
const problemFrom = ({ kind, message }: FetchFailure, { value }: ProvedIdentifier): Problem => ({
  type: problemOf[kind],
  detail: kind === "refused-address" ? `${value} leads to an address that this server may not connect to.` : message,
})

const problemOf: Readonly<Record<FetchFailureKind, ProblemType>> = {
  unresolved: "dns",
  "refused-address": "connection",
  unreachable: "connection",
  untrusted: "tls",
  timeout: "connection",
  broken: "connection",
  "too-large": "incorrectResponse",
  redirects: "connection",
}

const incorrect = (detail: string): Problem => ({ type: "incorrectResponse", detail })

async function attemptHttp({ identifier, token, thumbprint }: Proof, network: AcmeNetwork, terms: NetworkTerms) {
  const path = `/.well-known/acme-challenge/${token}`
  const { status, body } = await network.getHttp(identifier.value, path, terms)
  if (status !== 200) return incorrect(`${identifier.value} answered the challenge request with status ${status}.`)
  // Trailing white space is ignored (RFC 8555, section 8.3).
  const isProved = Buffer.from(body).toString("latin1").trimEnd() === keyAuthorization(token, thumbprint)
  return isProved
    ? undefined
    : incorrect(`The answer of ${identifier.value} is not the key authorization of the challenge.`)
}

async function attemptDns({ identifier, token, thumbprint }: Proof, network: AcmeNetwork, terms: NetworkTerms) {
  const name = `_acme-challenge.${identifier.value}`
  const records = await network.lookUpTxt(name, terms)
  if (records.length === 0) return { type: "dns", detail: `${name} has no TXT record.` } satisfies Problem
  return records.includes(digestOf(token, thumbprint).toString("base64url"))
    ? undefined
    : incorrect(`No TXT record of ${name} is the digest of the key authorization.`)
}

const digestOf = (token: string, thumbprint: string): Buffer =>
  Buffer.from(sha256(Buffer.from(keyAuthorization(token, thumbprint))), "hex")

const alpnProtocol = "acme-tls/1"

async function attemptTls({ identifier, token, thumbprint }: Proof, network: AcmeNetwork, terms: NetworkTerms) {
  const asked = { serverName: serverNameOf(identifier), protocol: alpnProtocol }
  const { protocol, certificate } = await network.greetTls(identifier.value, asked, terms)
  if (protocol !== alpnProtocol)
    return {
      type: "tls",
      detail: `${identifier.value} did not negotiate the protocol ${alpnProtocol}.`,
    } satisfies Problem
  const problem =
    certificate === undefined ? "is missing" : proofProblem(certificate, identifier, digestOf(token, thumbprint))
  return problem === undefined ? undefined : incorrect(`The certificate of ${identifier.value} ${problem}.`)
}

/** Returns the reverse name of an address, which cannot be a server name itself (RFC 8738, section 6). */
function serverNameOf({ type, value }: ProvedIdentifier): string {
  const octets = type === "ip" ? parseIpAddress(value) : undefined
  if (octets === undefined) return value
  if (octets.length === 4) return `${[...octets].toReversed().join(".")}.in-addr.arpa`
  const nibbles = Buffer.from(octets).toString("hex")
  return `${nibbles.split("").toReversed().join(".")}.ip6.arpa`
}

/** Checks the certificate of a challenge (RFC 8737, section 3). */
function proofProblem(der: Uint8Array, { type, value }: ProvedIdentifier, digest: Uint8Array): string | undefined {
  let certificate: Certificate
  let names
  try {
    certificate = parseCertificate(der)
    names = parseExtensionValues(certificate.extensions).subjectAltName ?? []
  } catch (error) {
    if (error instanceof UnacceptableInput) return "cannot be read"
    throw error
  }
  const [name, ...others] = names
  const octets = parseIpAddress(value)
  const isNamed =
    others.length === 0 &&
    ((type === "dns" && name?.kind === "dns" && name.value.toLowerCase() === value) ||
      (type === "ip" && name?.kind === "ip" && octets !== undefined && Buffer.compare(name.octets, octets) === 0))
  if (!isNamed) return `does not have ${value} as its only subject alternative name`
  const extension = findExtension(certificate.extensions, oids.acmeIdentifier)
  if (extension === undefined) return "has no acmeIdentifier extension"
  if (!extension.critical) return "has an acmeIdentifier extension that is not critical"
  return isDigest(extension.value, digest) ? undefined : "has an acmeIdentifier extension of another challenge"
}

function isDigest(value: Uint8Array, digest: Uint8Array): boolean {
  try {
    const reader = new DerReader(value, "acmeIdentifier")
    const octets = reader.octetString("Authorization")
    reader.finish("Authorization")
    return Buffer.compare(octets, digest) === 0
  } catch (error) {
    if (error instanceof UnacceptableInput) return false
    throw error
  }
}

export interface CaaTerms {
  readonly identities: readonly string[]
  readonly method: ChallengeType
  readonly accountUrl: string
}

/** Returns the reason why CAA records do not allow to issue (RFC 8659; RFC 8657), or undefined. */
export async function caaProblem(
  { value, wildcard }: ProvedIdentifier,
  asked: CaaTerms,
  network: AcmeNetwork,
  terms: NetworkTerms,
): Promise<Problem | undefined> {
  try {
    const { at, records } = await relevantRecords(value, network, terms)
    const reason = caaRecordProblem(records, wildcard, asked)
    return reason === undefined ? undefined : { type: "caa", detail: `CAA records of ${at} ${reason}.` }
  } catch (error) {
    if (error instanceof FetchFailure) return { type: "dns", detail: `CAA records of ${value}: ${error.message}` }
    throw error
  }
}

/** Returns the records of the name, or of the closest parent domain that has any (RFC 8659, section 3). */
async function relevantRecords(name: string, network: AcmeNetwork, terms: NetworkTerms) {
  const labels = name.split(".")
  for (let depth = 0; depth < labels.length; depth += 1) {
    const at = labels.slice(depth).join(".")
    const records = await network.lookUpCaa(at, terms)
    if (records.length > 0) return { at, records }
  }
  return { at: name, records: [] }
}

const knownTags = new Set(["issue", "issuewild", "iodef", "issuemail", "contactemail", "contactphone"])

export function caaRecordProblem(
  records: readonly CaaRecord[],
  wildcard: boolean,
  asked: CaaTerms,
): string | undefined {
  if (records.some(({ critical, tag }) => critical && !knownTags.has(tag)))
    return "contain an unknown critical property"
  const ofTag = (tag: string) => records.filter((record) => record.tag === tag)
  const wild = wildcard ? ofTag("issuewild") : []
  const relevant = wild.length > 0 ? wild : ofTag("issue")
  if (relevant.length === 0 || relevant.some(({ value }) => permits(value, asked))) return undefined
  return "do not allow this CA to issue"
}

function permits(value: string, { identities, method, accountUrl }: CaaTerms): boolean {
  const [domain = "", ...parts] = value.split(";").map((part) => part.trim())
  if (!identities.some((identity) => identity.toLowerCase() === domain.toLowerCase())) return false
  // Parameters may consist of white space only.
  return parts.every((part) => (part === "" && parts.length === 1) || permitsParameter(part, method, accountUrl))
}

/** RFC 8659, section 4.2. */
const caaParameter = /^(?<tag>[A-Za-z0-9](?:-*[A-Za-z0-9])*)[ \t]*=[ \t]*(?<text>[\x21-\x3A\x3C-\x7E]*)$/

/** A malformed parameter forbids to issue. */
function permitsParameter(part: string, method: ChallengeType, accountUrl: string): boolean {
  const { tag, text = "" } = caaParameter.exec(part)?.groups ?? {}
  if (tag === undefined) return false
  if (tag.toLowerCase() === "accounturi") return text === accountUrl
  return tag.toLowerCase() === "validationmethods" ? text.split(",").includes(method) : true
}
