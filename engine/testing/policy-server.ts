// An external policy service for tests: a real HTTPS server, whose answers the test controls.
import { readFileSync } from "node:fs"
import type { IncomingHttpHeaders } from "node:http"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import type { TLSSocket } from "node:tls"
import { systemRuntime } from "../src/core/runtime.ts"
import { type Instant, secondMs } from "../src/core/time.ts"
import { oids } from "../src/x509/asn1/oids.ts"
import { assembleCertificate, encodeTbsCertificate } from "../src/x509/certificate.ts"
import { parseCertificationRequest } from "../src/x509/certification-request.ts"
import type { Extension } from "../src/x509/extension.ts"
import { type DistinguishedName, encodeName } from "../src/x509/name.ts"
import { readPem, writePem } from "../src/x509/pem.ts"
import { type SignatureAlgorithm, signatureAlgorithmIdentifier } from "../src/x509/signature-algorithm.ts"

export const testTlsPem = (name: string): string =>
  readFileSync(new URL(`../../test/cli/tls/${name}.pem`, import.meta.url), "utf8")

/** A received request. Loosely typed, because tests read members at any depth. */
export interface SeenQuestion {
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly document: any
  readonly text: string
  readonly headers: IncomingHttpHeaders
  /** Common name of the client certificate. */
  readonly client: string | undefined
}

export interface PolicyServer extends AsyncDisposable {
  readonly url: string
  readonly seen: readonly SeenQuestion[]
  /** Sets the answer to all further requests; `request_uuid` is added. */
  answerWith(answer: (question: SeenQuestion) => object | Promise<object>): void
}

/** With `clients`, the server requires a client certificate of the test CA. */
export async function startPolicyServer(options: { readonly clients?: boolean } = {}): Promise<PolicyServer> {
  const seen: SeenQuestion[] = []
  let answer: (question: SeenQuestion) => object | Promise<object> = () => ({ error: "no answer was prepared" })
  const server = createServer(
    {
      cert: testTlsPem("server"),
      key: testTlsPem("server-key"),
      ...(options.clients === true ? { ca: testTlsPem("authority"), requestCert: true, rejectUnauthorized: true } : {}),
    },
    (request, response) => {
      let text = ""
      request.setEncoding("utf8").on("data", (piece: string) => (text += piece))
      request.on("end", () => {
        const socket = request.socket as TLSSocket
        const { subject } = options.clients === true ? socket.getPeerCertificate() : { subject: undefined }
        const question: SeenQuestion = {
          document: JSON.parse(text),
          text,
          headers: request.headers,
          client: subject === undefined ? undefined : String(subject.CN),
        }
        seen.push(question)
        response.setHeader("content-type", "application/json")
        void Promise.resolve(answer(question)).then((answered) =>
          response.end(JSON.stringify({ request_uuid: question.document.request_uuid, ...answered })),
        )
      })
    },
  )
  server.on("tlsClientError", () => undefined)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}/evaluate`,
    seen,
    answerWith: (next) => (answer = next),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export interface TemplateOptions {
  readonly commonName?: string
  /** Replaces `commonName`. */
  readonly subject?: DistinguishedName
  readonly notBefore?: Instant
  readonly notAfter?: Instant
  readonly extensions?: readonly Extension[]
  readonly algorithm?: SignatureAlgorithm
  /** Default: the public key of the CSR. */
  readonly publicKey?: Uint8Array
}

/** Returns a certificate for the key of the request, without a valid signature and by default valid for an hour from now. */
export function templateFor({ document }: SeenQuestion, options: TemplateOptions = {}): string {
  const [request] = readPem(document.user_request_key_values.csr as string, 64 * 1024)
  if (request === undefined) throw new Error("there is no request in the question")
  const now = Math.floor(systemRuntime().clock.now() / secondMs) * secondMs
  const { commonName = "a.example", extensions = [], algorithm = "ECDSAWithSHA256" } = options
  const { subject = [[{ type: oids.commonName, value: commonName }]] } = options
  const signatureAlgorithm = signatureAlgorithmIdentifier(algorithm)
  const tbs = encodeTbsCertificate({
    serialNumber: Uint8Array.of(1),
    signatureAlgorithm,
    issuer: encodeName([[{ type: oids.commonName, value: "nobody" }]]),
    notBefore: options.notBefore ?? now,
    notAfter: options.notAfter ?? now + 3_600_000,
    subject: encodeName(subject),
    subjectPublicKeyInfo: options.publicKey ?? parseCertificationRequest(request.bytes).subjectPublicKeyInfo,
    extensions,
  })
  return writePem("CERTIFICATE", assembleCertificate(tbs, signatureAlgorithm, new Uint8Array(64)))
}
