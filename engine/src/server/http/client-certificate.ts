// Client certificates of requests: from the TLS handshake on the device listener, from the header fields of RFC 9440 behind a trusted proxy.
// A request has one source: header fields count only from trusted proxies, and never on the device listener.
import type { TLSSocket } from "node:tls"
import type { ClientCertificate } from "../../core/client-certificate.ts"
import { badRequest } from "../../core/errors.ts"
import { parseCertificate } from "../../x509/certificate.ts"
import { UnacceptableInput } from "../../x509/unacceptable-input.ts"
import { isTrusted, type TrustedProxies } from "./client-address.ts"
import type { HttpRequest, RequestHeaders } from "./message.ts"

/** Public PKIs need at most four. Each one is parsed, and path validation tries each of them as an issuer. */
const maxChain = 10
/** Headers as a whole have a smaller bound; this one is for TLS, in which OpenSSL accepts 100 KiB. */
const maxChainBytes = 64 * 1_024

/** Returns the client's certificate. Throws `bad-request` if it is malformed, too long or reported twice. */
export function clientCertificateOf(
  { deviceConnection, headers, remoteAddress }: Pick<HttpRequest, "deviceConnection" | "headers" | "remoteAddress">,
  trusted: TrustedProxies | undefined,
): ClientCertificate | undefined {
  if (deviceConnection !== undefined) return boundedChain(deviceConnection.clientChain(), "The client certificate")
  if (trusted === undefined || !(headers.has(leafHeader) || headers.has(chainHeader))) return undefined
  return isTrusted(remoteAddress, trusted) ? reportedChain(headers) : undefined
}

const leafHeader = "client-cert"
const chainHeader = "client-cert-chain"

function reportedChain(headers: RequestHeaders): ClientCertificate | undefined {
  // Byte sequences contain no comma, so a second leaf is seen as a malformed one (RFC 9440, section 2.2).
  const leaf = certificateIn(headers.get(leafHeader) ?? "", "Client-Cert")
  const rest = headers.get(chainHeader)
  const members = rest === null || rest.trim() === "" ? [] : rest.split(",", maxChain)
  const others = members.map((member) => certificateIn(member, "Client-Cert-Chain"))
  return boundedChain([leaf, ...others], "Client-Cert-Chain")
}

/** Parses a byte sequence of RFC 8941, section 3.3.5, with the DER of a certificate. */
function certificateIn(member: string, name: string): Uint8Array {
  const [, base64] =
    /^[ \t]*:((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?):[ \t]*$/.exec(member) ?? []
  if (base64 === undefined || base64 === "") throw badRequest(`${name} must contain base64 between colons (RFC 9440).`)
  const bytes = Uint8Array.from(Buffer.from(base64, "base64"))
  assertCertificate(bytes, name)
  return bytes
}

function boundedChain(chain: readonly Uint8Array[] | undefined, name: string): ClientCertificate | undefined {
  if (chain === undefined) return undefined
  if (chain.length > maxChain) throw badRequest(`${name} has too many certificates (maximum is ${maxChain}).`)
  if (chain.reduce((sum, { length }) => sum + length, 0) > maxChainBytes)
    throw badRequest(`${name} is too long (maximum is ${maxChainBytes} bytes with its chain).`)
  return { chain }
}

function assertCertificate(bytes: Uint8Array, name: string): void {
  try {
    parseCertificate(bytes)
  } catch (error) {
    if (error instanceof UnacceptableInput) throw badRequest(`${name} contains an invalid certificate.`)
    throw error
  }
}

/** Chains by connection: a connection may carry many requests, and its certificate never changes. */
const chains = new WeakMap<TLSSocket, readonly Uint8Array[] | undefined>()

/** Returns the chain that the client presented in the handshake; undefined if it presented none. */
export function handshakeChain(socket: TLSSocket): readonly Uint8Array[] | undefined {
  if (chains.has(socket)) return chains.get(socket)
  const chain: Uint8Array[] = []
  // One more than allowed, so that a longer chain is rejected and not cut.
  for (let next = socket.getPeerX509Certificate(); next && chain.length <= maxChain; next = next.issuerCertificate)
    chain.push(Uint8Array.from(next.raw))
  const found = chain.length === 0 ? undefined : chain
  chains.set(socket, found)
  return found
}
