// The certificate API as clients reach it: for each endpoint with a body, a valid request with a mutated body.
import { busy } from "../../engine/src/core/errors.ts"
import { keyGenerator } from "../../engine/src/x509/key-generation.ts"
import type { Answer } from "../../engine/testing/test-engine.ts"
import { openPkiUsers, type PkiUsers } from "../security/permissions/pki/users.ts"
import { pkiEndpoints, preparePki, type ReadyPkiRequest } from "../security/permissions/pki/matrix.ts"
import { type Json, mapTexts, parseJson, pemTexts } from "./json.ts"
import {
  byteMutations,
  derMutations,
  insideJson,
  insidePem,
  jsonMutations,
  type Mutation,
  pemMutations,
} from "./mutations.ts"
import { type SampleLabel, samples, sampleTexts, signedAgain, signedAgainInPem } from "./samples.ts"
import { complaintAboutSigned } from "./signed-documents.ts"
import type { FuzzTarget, OpenTargets } from "./target.ts"

/** RSA keys take longer to generate than an attempt may take. */
const noRsaKeys = keyGenerator({
  async generate() {
    throw busy("RSA keys are not made here")
  },
})

/** Successful requests slow down later ones, so a new mount is used after this many. */
const attemptsPerMount = 300

/** Short, because there are many endpoints. */
const turnMs = 80

export async function openEndpoints(): Promise<OpenTargets> {
  await using opening = new AsyncDisposableStack()
  const testUsers = opening.use(await openPkiUsers({ keyGenerator: noRsaKeys }))
  const targets: FuzzTarget[] = []
  for (const endpoint of pkiEndpoints) {
    const target = await targetOf(testUsers, endpoint)
    if (target !== undefined) targets.push(target)
  }
  targets.push(addresses(testUsers), await ocspByAddress(testUsers), await forms(testUsers))
  const closing = opening.move()
  return { targets, [Symbol.asyncDispose]: () => closing.disposeAsync() }
}

/** Returns undefined for an endpoint without a body. */
async function targetOf(testUsers: PkiUsers, endpoint: string): Promise<FuzzTarget | undefined> {
  let { request, mount } = await prepared(testUsers, endpoint)
  const { body } = request
  if (body === undefined) return undefined
  const isRaw = body instanceof Uint8Array
  const isEst = endpoint.includes("/est/")
  let attempts = 0
  return {
    name: endpoint,
    ...(isEst ? ofEst(body as string) : isRaw ? ofRaw(body) : ofDocument(body as Json)),
    turnMs,
    async attempt(input) {
      attempts += 1
      if (attempts % attemptsPerMount === 0) {
        if (endpoint.includes(" /:mount/")) await testUsers.testEngine.pki("DELETE", `/sys/mounts/${mount}`)
        ;({ request, mount } = await prepared(testUsers, endpoint))
      }
      const { method, address, headers, token } = request
      const sent = isEst ? Buffer.from(input).toString("base64") : Uint8Array.from(input)
      const options = { token: token ?? testUsers.tokens.root, body: sent }
      const answer = await testUsers.testEngine.pki(
        method,
        address,
        headers === undefined ? options : { ...options, headers },
      )
      return isEst ? complaintAboutText(answer) : complaintAbout(answer)
    },
  }
}

type Inputs = Pick<FuzzTarget, "corpus" | "mutations" | "repair">

const ofDocument = (valid: Json): Inputs => ({
  corpus: bodies(valid).map((each) => Buffer.from(JSON.stringify(each))),
  mutations: documentMutations,
  repair: signedAgainInJson,
})

const ofRaw = (valid: Uint8Array): Inputs => ({
  corpus: [valid, ...samples("OCSP REQUEST")],
  mutations: derMutations,
})

/** Bodies of EST are base64 of a CSR, which is mutated as DER. */
const ofEst = (valid: string): Inputs => ({
  corpus: [Buffer.from(valid, "base64"), ...samples("CERTIFICATE REQUEST")],
  mutations: derMutations,
  repair: signedAgain,
})

/** Returns a complaint about an answer of EST unless it succeeds or is an error in text. A challenge has no text. */
function complaintAboutText({ status, body }: Answer): string | undefined {
  if (status >= 500 && status !== 503) return `answered ${status}: ${JSON.stringify(body)}`
  if (status < 400 || status === 401) return undefined
  return typeof body === "string" && body.trim() !== "" ? undefined : `answered ${status} without text`
}

async function prepared(testUsers: PkiUsers, endpoint: string): Promise<{ request: ReadyPkiRequest; mount: string }> {
  const subject = await testUsers.newSubject()
  return { request: await preparePki(endpoint, subject, "root"), mount: subject.mount }
}

/** Mutates URLs of reads and lists. */
function addresses(testUsers: PkiUsers): FuzzTarget {
  const known = pkiEndpoints.map((endpoint) => endpoint.replace(/:[a-z_]+/g, "matrix").replace(/\*[a-z_]+/g, "a/b"))
  return {
    name: "addresses",
    corpus: known.filter((endpoint) => /^(GET|LIST) /.test(endpoint)).map((endpoint) => Buffer.from(endpoint)),
    mutations: byteMutations,
    turnMs,
    async attempt(input) {
      const [method = "", address = ""] = Buffer.from(input).toString("latin1").split(" ")
      const url = URL.parse(`http://chancery.test/v1${address}`)
      // Dot segments can lead out of this API.
      if ((method !== "GET" && method !== "LIST") || !url?.pathname.startsWith("/v1/")) return undefined
      return complaintAbout(await testUsers.testEngine.pki(method, address))
    },
  }
}

/** Mutates OCSP requests in URLs. */
async function ocspByAddress(testUsers: PkiUsers): Promise<FuzzTarget> {
  const { request, mount } = await prepared(testUsers, "POST /:mount/ocsp")
  return {
    name: "OCSP by GET",
    corpus: [request.body as Uint8Array, ...samples("OCSP REQUEST")],
    mutations: derMutations,
    turnMs,
    async attempt(input) {
      // Limited to the length of URL that a server reads.
      const base64 = Buffer.from(input.subarray(0, 8_192)).toString("base64")
      return complaintAbout(await testUsers.testEngine.pki("GET", `/${mount}/ocsp/${encodeURIComponent(base64)}`))
    },
  }
}

/** Mutates a request in the encoding of forms, in which all values are strings. */
async function forms(testUsers: PkiUsers): Promise<FuzzTarget> {
  const endpoint = "POST /:mount/sign/:name"
  const { request } = await prepared(testUsers, endpoint)
  const members = Object.entries(request.body as Readonly<Record<string, unknown>>)
  const form = new URLSearchParams(members.map(([name, value]) => [name, String(value)]))
  return {
    name: "form",
    corpus: [Buffer.from(form.toString())],
    mutations: byteMutations,
    turnMs,
    async attempt(input) {
      const headers = { "content-type": "application/x-www-form-urlencoded" }
      return complaintAbout(
        await testUsers.testEngine.pki("POST", request.address, { body: Uint8Array.from(input), headers }),
      )
    },
  }
}

/** Returns a complaint unless the request is properly refused, or succeeds with valid signed objects. */
function complaintAbout({ status, body }: Answer): string | undefined {
  if (status >= 500 && status !== 503) return `answered ${status}: ${JSON.stringify(body)}`
  if (status < 400) return complaintAboutSigned(body)
  const errors = (body as { readonly errors?: unknown } | undefined)?.errors
  if (!Array.isArray(errors)) return isEmptyByRule(status) ? undefined : `answered ${status} without errors`
  const isInOrder = errors.length > 0 || status === 404
  const areSentences = errors.every((error) => typeof error === "string" && error !== "")
  return isInOrder && areSentences ? undefined : `answered ${status} with the errors ${JSON.stringify(errors)}`
}

/** Returns true for errors of the router, which has no error texts; no handler has seen the request. */
const isEmptyByRule = (status: number): boolean => status === 405

/** Returns the valid body, and the same with other documents in place of its own. */
function bodies(valid: Json): Json[] {
  const labels: readonly SampleLabel[] = ["CERTIFICATE REQUEST", "CERTIFICATE", "X509 CRL", "PRIVATE KEY"]
  const others = labels.flatMap((label) => {
    const texts = sampleTexts(label)
    const [, first = ""] = /-----BEGIN ([A-Z0-9 ]+)-----/.exec(pemTexts(valid)[0] ?? "") ?? []
    return first === label ? texts.map((text) => withPem(valid, text)) : []
  })
  const isObject = typeof valid === "object" && valid !== null && !Array.isArray(valid)
  return [valid, ...(isObject ? [{ ...valid, key_type: "ec" }] : []), ...others]
}

const withPem = (value: Json, pem: string): Json =>
  mapTexts(value, (text) => (text.includes("-----BEGIN") ? pem : text))

const documentMutations: readonly Mutation[] = [
  ...jsonMutations,
  ...derMutations.map((mutation) => insideJson([insidePem([mutation])])),
  insideJson(pemMutations),
  insideJson(pemMutations),
]

/** Signs the CSRs and certificates in a JSON document again. */
function signedAgainInJson(input: Uint8Array): Uint8Array {
  const document = parseJson(input)
  if (document === undefined) return input
  const repaired = mapTexts(document, (text) =>
    text.includes("-----BEGIN CERTIFICATE")
      ? Buffer.from(signedAgainInPem(Buffer.from(text))).toString("latin1")
      : text,
  )
  return Buffer.from(JSON.stringify(repaired))
}
