import { expect, test } from "vitest"
import type { PkiRequest } from "./vault-route.ts"
import { crlRoutes } from "./crls.ts"

test("a cached CRL is encoded as PEM once for all requests", async () => {
  let reads = 0
  const octets = new Uint8Array(100).fill(7)
  // The PEM encoder reads `buffer` once for each conversion.
  const der = new Proxy(octets, {
    get(target, name) {
      if (name === "buffer") reads += 1
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === "function" ? value.bind(target) : value
    },
  })
  const crls = { get: async () => ({ der, number: 1, thisUpdate: 0, nextUpdate: 1 }) }
  const issuers = { certificate: async () => ({ changedAt: 0 }) }
  const server = { now: () => 1 }
  const request = { params: {}, headers: new Headers(), pki: { crls, issuers }, server } as unknown as PkiRequest
  const bodyOf = async (path: string) => {
    const response = await crlRoutes.find((route) => route.path === path)?.handle(request)
    return response?.kind === "raw"
      ? Buffer.from(response.body).toString()
      : response?.kind === "data" && response.data?.["certificate"]
  }
  const texts = [await bodyOf("/crl/pem"), await bodyOf("/crl/pem"), await bodyOf("/cert/crl")]
  expect(new Set(texts).size).toBe(1)
  expect(texts[0]).toMatch(/^-----BEGIN X509 CRL-----\n[A-Za-z0-9+/=\n]+\n-----END X509 CRL-----$/)
  expect(reads).toBe(1)
})
