import { isEngineError, notFoundDetail } from "../core/errors.ts"
import type { CertificateInventory } from "../pki/certificates/inventory.ts"
import { decodeMountInventory, mountInventoryParameters } from "../wire/pki/certificate.ts"
import { type PkiCalls, queryOf, saying } from "./pki-calls.ts"

export const remoteCertificateInventory = (calls: PkiCalls): CertificateInventory => ({
  async search(query, page = {}) {
    const sent = queryOf(saying(mountInventoryParameters, { ...query, ...page }))
    sent.set("list", "true")
    try {
      return decodeMountInventory((await calls.read("/sys/certs/search", sent)).data)
    } catch (error) {
      if (isEngineError(error, "not-found") && error.message === notFoundDetail) return { items: [], next: undefined }
      throw error
    }
  },
})
