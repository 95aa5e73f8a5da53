// EST (RFC 7030) below a mount. Clients authenticate by Basic credentials or by a TLS client certificate, never by a token.
import { est, certsOnlyType, csrAttributesType, pkcs10Type } from "../../contracts/vault/est.ts"
import type { EstAnswer, EstPath, EstServer } from "../../pki/est/est.ts"
import { estOutcomeOfError, estOutcomeOfStatus } from "../../pki/est/est-metrics.ts"
import { type EstOperation, estOperations } from "../../pki/est/est-settings.ts"
import { parseCertificationRequest } from "../../x509/certification-request.ts"
import { writeCertificatesOnly } from "../../x509/certificates-only.ts"
import { UnacceptableInput } from "../../x509/unacceptable-input.ts"
import type { Document } from "../../contracts/vault/format/parameters.ts"
import { implement } from "../vault/implement.ts"
import { type Admission, param, type PkiRequest, type PkiResponse, type PkiRoute } from "../vault/vault-route.ts"
import { basicCredentials, decodeEstBody, encodeEstBody } from "./body.ts"
import { csrFields } from "./csr-fields.ts"

type Operations = (typeof est)["default"]

const handlersAt = (pathOf: (request: PkiRequest) => EstPath) => ({
  certificates: async (request: PkiRequest) =>
    answered(certsOnlyType, writeCertificatesOnly(await serverOf(request).certificates(pathOf(request)))),
  csrAttributes: async (request: PkiRequest) => {
    const attributes = await serverOf(request).csrAttributes(pathOf(request))
    return attributes === undefined ? noContent : answered(csrAttributesType, attributes)
  },
  enroll: async (request: PkiRequest) =>
    answerOf(request, await serverOf(request).enroll(pathOf(request), "simpleenroll", await csrIn(request))),
  reenroll: async (request: PkiRequest) => {
    const { clientCertificate } = request
    const csr = await csrIn(request)
    return answerOf(request, await serverOf(request).enroll(pathOf(request), "simplereenroll", csr, clientCertificate))
  },
  serverKey: async (request: PkiRequest) =>
    answerOf(request, await serverOf(request).generateKey(pathOf(request), await csrIn(request))),
})

const pathsOf: Readonly<Record<keyof typeof est, (request: PkiRequest) => EstPath>> = {
  default: ({ estLabel }) => (estLabel === undefined ? { kind: "default" } : { kind: "label", label: estLabel }),
  role: (request) => ({ kind: "policy", policy: { kind: "role", role: param(request, "role") } }),
  policyService: () => ({ kind: "policy", policy: { kind: "external-policy", policy: undefined } }),
  policy: (request) => ({ kind: "policy", policy: { kind: "external-policy", policy: param(request, "policy") } }),
}

export const estRoutes: readonly PkiRoute[] = (Object.keys(est) as (keyof typeof est)[]).flatMap((name) =>
  implement<PkiRequest, Operations>(est[name] as unknown as Operations, handlersAt(pathsOf[name])).map((route) => ({
    ...counted(route, route.operation === "write" ? admit : undefined),
    device: true as const,
    plainErrors: true as const,
  })),
)

/** Counts the requests of a route by their outcome, and authenticates their clients with `admit`. */
function counted(route: PkiRoute, admit: PkiRoute["admit"]): PkiRoute {
  const operation = estOperations.find((name) => route.path.endsWith(`/${name}`))
  if (operation === undefined) throw new Error(`${route.path} is no EST operation`)
  return {
    ...route,
    ...(admit && { admit: (request) => countingErrors(operation, request, () => admit(request)) }),
    handle: async (request) => {
      const response = await countingErrors(operation, request, () => route.handle(request))
      const status = response.kind === "raw" ? response.status : 200
      serverOf(request).countRequest(operation, estOutcomeOfStatus(operation, status))
      return response
    },
  }
}

async function countingErrors<T>(operation: EstOperation, request: PkiRequest, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    serverOf(request).countRequest(operation, estOutcomeOfError(error))
    throw error
  }
}

const serverOf = ({ engine, mount }: PkiRequest): EstServer => engine.est(mount.path)

/** Authenticates the client, and reads the fields of its CSR for the audit log. A CSR that cannot be read has none. */
async function admit(request: PkiRequest): Promise<Admission> {
  const { headers, clientCertificate, remoteAddress } = request
  const server = serverOf(request)
  const basic = basicCredentials(headers.get("authorization"))
  const caller = await server.authenticate({
    ...(basic === undefined ? {} : { basic }),
    ...(clientCertificate === undefined ? {} : { clientCertificate }),
    ...(remoteAddress === undefined ? {} : { from: remoteAddress }),
  })
  return { caller, document: await auditedFields(request, server) }
}

async function auditedFields(request: PkiRequest, server: EstServer): Promise<Document> {
  const fields = await server.auditFields()
  if (fields.length === 0) return {}
  const csr = await csrIn(request)
  try {
    return csrFields(parseCertificationRequest(csr), fields)
  } catch (error) {
    if (error instanceof UnacceptableInput) return {}
    throw error
  }
}

const csrIn = async (request: PkiRequest): Promise<Uint8Array> =>
  decodeEstBody(request.headers.get("content-type"), pkcs10Type, await request.bytes())

const noStore = { "cache-control": "no-store" }
const noContent: PkiResponse = { kind: "raw", status: 204, body: "", headers: noStore }

const answered = (mediaType: string, der: Uint8Array): PkiResponse => ({
  kind: "raw",
  status: 200,
  body: encodeEstBody(der),
  headers: { "content-type": mediaType, "content-transfer-encoding": "base64", ...noStore },
})

function answerOf(request: PkiRequest, answer: EstAnswer): PkiResponse {
  if (answer.kind === "waiting") {
    const headers = { "retry-after": String(Math.ceil(answer.retryAfterMs / 1_000)), ...noStore }
    // Bouncy Castle reads no body of this status, and fails if there is one.
    return { kind: "raw", status: 202, body: "", headers }
  }
  const { certificate, privateKey } = answer
  if (privateKey === undefined) return answered(certsOnlyType, writeCertificatesOnly([certificate]))
  const boundary = newBoundary(request)
  const body = [
    part("application/pkcs8", privateKey.der("pkcs8")),
    part(certsOnlyType, writeCertificatesOnly([certificate])),
  ]
    .map((text) => `--${boundary}\r\n${text}`)
    .join("")
  return {
    kind: "raw",
    status: 200,
    body: `${body}--${boundary}--\r\n`,
    headers: { "content-type": `multipart/mixed; boundary=${boundary}`, ...noStore },
  }
}

const part = (mediaType: string, der: Uint8Array): string =>
  `Content-Type: ${mediaType}\r\nContent-Transfer-Encoding: base64\r\n\r\n${encodeEstBody(der)}\r\n`

/** Base64 has no hyphen, so no boundary occurs in a part. */
const newBoundary = ({ requestId }: PkiRequest): string => `est-${requestId.replaceAll(/[^A-Za-z0-9-]/g, "")}`
