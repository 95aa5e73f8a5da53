// Excess of any one element is parsed or refused as usual; test/bench/certificate.bench.ts measures how fast.
import { expect, test } from "vitest"
import { MalformedDer } from "../../engine/src/x509/asn1/malformed-der.ts"
import { parseCertificate } from "../../engine/src/x509/certificate.ts"
import { parseCertificationRequest } from "../../engine/src/x509/certification-request.ts"
import { parseExtensionValues } from "../../engine/src/x509/extensions.ts"
import { hostileShapes } from "./hostile-shapes.ts"

test.each(hostileShapes())("64 KiB of $what in a $document: rejected is $isRefused", ({ document, der, isRefused }) => {
  const read = () =>
    document === "request" ? parseCertificationRequest(der) : parseExtensionValues(parseCertificate(der).extensions)
  expect(der.length).toBeGreaterThan(30_000)
  expect(der.length).toBeLessThanOrEqual(65_536)
  expect(isReadable(read)).toBe(!isRefused)
})

function isReadable(read: () => unknown): boolean {
  try {
    read()
    return true
  } catch (error) {
    if (error instanceof MalformedDer) return false
    throw error
  }
}
