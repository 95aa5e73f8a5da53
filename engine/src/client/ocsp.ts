import type { Ocsp } from "../pki/ocsp/ocsp.ts"
import { ocsp, ocspRequestType } from "../contracts/vault/ocsp.ts"
import type { PkiCalls } from "./pki-calls.ts"

export const remoteOcsp = (calls: PkiCalls): Ocsp => ({
  answer: async (body) => ({ der: await calls.exchange(ocsp.post.path, { mediaType: ocspRequestType, body }) }),
})
