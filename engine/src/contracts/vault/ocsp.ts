// OCSP (RFC 6960). Requests and responses are DER.
import { contract, response } from "./endpoint.ts"

export const ocspRequestType = "application/ocsp-request"
export const ocspResponseType = "application/ocsp-response"

/** A request for sixteen certificates with SHA-512 hashes, a nonce and a signature is shorter. */
export const maxOcspRequestBytes = 8_192

const shared = { rights: "none", open: true, raw: true, answers: response(ocspResponseType) } as const
const get = {
  ...shared,
  operation: "read",
  summary: "Answers an OCSP request in base64 (RFC 6960, appendix A.1).",
} as const
const post = {
  ...shared,
  operation: "write",
  summary: "Answers an OCSP request in DER.",
  readOnly: true,
  rawMediaType: ocspRequestType,
  bodyLimitBytes: maxOcspRequestBytes,
} as const

/** One responder at two paths. */
export const ocsp = contract({
  get: { ...get, path: "/ocsp/*request" },
  post: { ...post, path: "/ocsp" },
  getUnified: { ...get, path: "/unified-ocsp/*request" },
  postUnified: { ...post, path: "/unified-ocsp" },
})
