import { isEngineError } from "../../core/errors.ts"
import type { ServedOcspAnswer } from "../../pki/ocsp/ocsp.ts"
import { ocsp, maxOcspRequestBytes, ocspResponseType } from "../../contracts/vault/ocsp.ts"
import { implement } from "./implement.ts"
import { type PkiRequest, type PkiResponse, raw } from "./vault-route.ts"
import { rawFile } from "./raw-file.ts"

/** OCSP responder. Every answer has the status 200 (RFC 6960, appendix A.1). Both paths belong to one responder. */
export const ocspRoutes = implement<PkiRequest, typeof ocsp>(ocsp, {
  get: answered,
  post: answeredPost,
  getUnified: answered,
  postUnified: answeredPost,
})

async function answered(request: PkiRequest, sentText: string): Promise<PkiResponse> {
  return got(request, await request.pki.ocsp.answer(requestIn(sentText)))
}

async function answeredPost(request: PkiRequest): Promise<PkiResponse> {
  return posted(await request.pki.ocsp.answer(await sent(request)))
}

/** An empty request, which the responder answers as malformed. */
const unreadable = new Uint8Array()

/**
 * Decodes the base64 of a GET path, which may be percent-encoded (RFC 6960, appendix A.1). It may contain double slashes, which routers
 * usually split into empty segments. Leading slashes are dropped: they come from a responder URL that ends in a slash.
 */
function requestIn(text: string): Uint8Array {
  const base64 = unescaped(text)?.replace(/^\/+/, "")
  if (base64 === undefined || base64.length > (maxOcspRequestBytes * 4) / 3 + 3) return unreadable
  return /^[A-Za-z0-9+/]+={0,2}$/.test(base64) ? Buffer.from(base64, "base64") : unreadable
}

function unescaped(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

async function sent(request: PkiRequest): Promise<Uint8Array> {
  try {
    return await request.bytes()
  } catch (error) {
    if (isEngineError(error, "too-large")) return unreadable
    throw error
  }
}

const posted = ({ der }: ServedOcspAnswer): PkiResponse => raw(der, ocspResponseType, { "cache-control": "no-store" })

/** Returns the answer with the cache headers of RFC 5019, section 6.2. */
function got(request: PkiRequest, answer: ServedOcspAnswer): PkiResponse {
  const { der, keeping } = answer
  if (keeping === undefined) return posted(answer)
  const { thisUpdate, nextUpdate, renewedAt, tag } = keeping
  const seconds = Math.max(0, Math.floor((renewedAt - request.server.now()) / 1_000))
  return rawFile(request, {
    body: der,
    contentType: ocspResponseType,
    tag,
    modifiedAt: thisUpdate,
    cacheControl: `max-age=${seconds}, public, no-transform, must-revalidate`,
    expiresAt: nextUpdate,
  })
}
