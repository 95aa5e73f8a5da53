import type { Ocsp } from "../pki/ocsp/ocsp.ts"
import { ocspRequestType } from "../wire/pki/ocsp.ts"
import type { PkiCalls } from "./pki-calls.ts"

export const remoteOcsp = (calls: PkiCalls): Ocsp => ({
  answer: async (body) => ({ der: await calls.exchange("/ocsp", { mediaType: ocspRequestType, body }) }),
})
