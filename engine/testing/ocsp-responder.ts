// An OCSP responder whose answers a test controls.
import { createPrivateKey, sign } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { systemRuntime } from "../src/core/runtime.ts"
import { encode, objectIdentifier, sequence } from "../src/x509/asn1/writer.ts"
import {
  assembleOcspResponse,
  type CertificateStatus,
  encodeOcspFailure,
  encodeResponseData,
  parseOcspRequest,
} from "../src/x509/ocsp.ts"
import { encodeCertificateId } from "../src/x509/ocsp-response.ts"
import { parseCertificate } from "../src/x509/certificate.ts"
import { readPublicKey } from "../src/x509/public-key.ts"
import type { TestCertificate } from "./client-certificates.ts"

export interface TestOcspOptions {
  /** Certificate with an EC key that signs. Default: the issuer. */
  readonly signer?: TestCertificate
  /** Milliseconds from now. */
  readonly thisUpdate?: number
  readonly nextUpdate?: number
  /** Serial number that answers are about. Default: the requested one. */
  readonly answersAbout?: number
  readonly nonce?: "echoed" | "other"
  readonly failure?: boolean
  readonly garbage?: boolean
}

export interface TestOcspResponder extends AsyncDisposable {
  readonly url: string
  readonly count: () => number
  readonly revoke: (serialNumber: number) => void
}

const hourMs = 3_600_000
const ecdsaWithSha256 = "1.2.840.10045.4.3.2"

export async function testOcspResponder(
  issuer: TestCertificate,
  options: TestOcspOptions = {},
): Promise<TestOcspResponder> {
  const { signer = issuer, thisUpdate = 0, nextUpdate = hourMs, nonce = "echoed" } = options
  const { clock } = systemRuntime()
  const revoked = new Set<number>()
  let count = 0

  function answer(body: Uint8Array): Uint8Array {
    if (options.garbage === true) return Buffer.from("no response")
    if (options.failure === true) return encodeOcspFailure("tryLater")
    const request = parseOcspRequest(body)
    const [id] = request.certificates
    if (id === undefined) throw new Error("an empty request")
    const { subject, subjectPublicKeyInfo } = parseCertificate(issuer.der)
    const names = { name: subject, publicKeyBits: readPublicKey(subjectPublicKeyInfo).octets }
    const serialNumber = Number(`0x${Buffer.from(id.serialNumber).toString("hex")}`)
    const now = Math.floor(clock.now() / 1_000) * 1_000
    const status: CertificateStatus = revoked.has(serialNumber)
      ? { kind: "revoked", at: now, reason: "unspecified" }
      : { kind: "good" }
    const tbs = encodeResponseData({
      responderKeyHash: Buffer.alloc(20),
      producedAt: now,
      responses: [
        {
          certificateId:
            options.answersAbout === undefined
              ? id.der
              : encodeCertificateId(names, Uint8Array.of(options.answersAbout)),
          status,
          thisUpdate: now + thisUpdate,
          nextUpdate: now + nextUpdate,
        },
      ],
      nonce: nonce === "other" ? Buffer.alloc(16) : request.nonce,
    })
    return assembleOcspResponse({
      tbs,
      signatureAlgorithm: encode(sequence([objectIdentifier(ecdsaWithSha256)])),
      signature: sign("sha256", tbs, createPrivateKey(signer.key)),
      certificates: signer === issuer ? [] : [signer.der],
    })
  }

  const server = createServer((request, response) => {
    count += 1
    const chunks: Buffer[] = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () =>
      response.writeHead(200, { "content-type": "application/ocsp-response" }).end(answer(Buffer.concat(chunks))),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    count: () => count,
    revoke: (serialNumber) => void revoked.add(serialNumber),
    [Symbol.asyncDispose]: () => new Promise((resolve) => void server.close(() => resolve())),
  }
}
