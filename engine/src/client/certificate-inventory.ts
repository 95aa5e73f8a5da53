import { isEngineError, notFoundDetail } from "../core/errors.ts"
import { certificateInventory, mountInventory } from "../contracts/vault/stored-certificate.ts"
import type { Body } from "../contracts/vault/record.ts"
import type { CertificateInventory } from "../pki/certificates/inventory.ts"
import { namesOf, type PkiCalls, queryOf } from "./pki-calls.ts"

export const remoteCertificateInventory = (calls: PkiCalls): CertificateInventory => ({
  search: (query, page = {}) => search(calls, certificateInventory.search, { query, page }, mountInventory.decode),
})

interface Endpoint<T> {
  readonly path: string
  readonly body: Body<T>
}

/** Lists that are longer than keys and key_info. */
export async function search<T, Page>(
  calls: PkiCalls,
  { path, body }: Endpoint<T>,
  asked: T,
  decode: (data: unknown) => Page,
): Promise<Page> {
  const sent = queryOf({ document: body.encode(asked), names: namesOf(body.table) })
  sent.set("list", "true")
  try {
    return decode((await calls.read(path, sent)).data)
  } catch (error) {
    if (isEngineError(error, "not-found") && error.message === notFoundDetail) return decode({ keys: [], key_info: {} })
    throw error
  }
}
