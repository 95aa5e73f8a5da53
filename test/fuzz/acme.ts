// ACME as unauthenticated clients reach it: mutated requests, and headers and payloads that are mutated before they are signed, so that the
// signature is valid.
import { createPrivateKey, createPublicKey, type KeyObject, sign, type webcrypto } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { acmeCluster, newAcmeMount, openChallengeServer } from "../../engine/testing/acme-mount.ts"
import { type Answer, openTestEngine, type TestEngine } from "../../engine/testing/test-engine.ts"
import { subjectAltName } from "../../engine/src/x509/extensions.ts"
import { readJwk } from "../../engine/src/x509/jwk.ts"
import { readPrivateKeyPem } from "../../engine/src/x509/private-key.ts"
import { signedRequest } from "../../engine/src/x509/signed-request.ts"
import { derMutations, insideMember, jsonMutations, type Mutation } from "./mutations.ts"
import { signedAgain } from "./samples.ts"
import { complaintAboutSigned } from "./signed-documents.ts"
import type { FuzzTarget, OpenTargets } from "./target.ts"

const base = `${acmeCluster}/acme`
const localhost = { type: "dns", value: "localhost" }
const turnMs = 80

/** Placeholder in a header, replaced by a fresh nonce when the request is sent. */
const freshNonce = "a fresh nonce"

export async function openAcme(): Promise<OpenTargets> {
  await using opening = new AsyncDisposableStack()
  const responder = opening.use(await openChallengeServer())
  const testEngine = opening.use(
    await openTestEngine({ acme: { httpPort: responder.port, permitted: { kinds: ["loopback"], ranges: [] } } }),
  )
  await newAcmeMount(testEngine, {
    orders_per_account: 0,
    orders_per_name: 0,
    accounts_per_address: 0,
    failed_validations: 0,
  })
  const applicant = await Applicant.registered(testEngine, responder.answers, "key-p256.pem")
  const other = await Applicant.registered(testEngine, responder.answers, "key-p384.pem")
  const targets = [await requests(applicant), headers(applicant), ...(await payloads(applicant, other))]
  const closing = opening.move()
  return { targets, [Symbol.asyncDispose]: () => closing.disposeAsync() }
}

/** Mutates the whole body, which is not signed again. */
async function requests(applicant: Applicant): Promise<FuzzTarget> {
  const url = `${base}/new-order`
  const header = JSON.stringify({ ...applicant.header(url), nonce: await applicant.nonce() })
  const signed = signedBy(applicant.key, header, JSON.stringify({ identifiers: [localhost] }))
  return {
    name: "ACME request",
    corpus: [Buffer.from(signed)],
    mutations: jsonMutations,
    turnMs,
    attempt: async (input) => complaintAbout(await applicant.send(url, input)),
  }
}

/** Mutates headers, which name the account, the URL and the nonce. */
function headers(applicant: Applicant): FuzzTarget {
  const url = `${base}/new-account`
  const named = { alg: "ES256", nonce: freshNonce, url }
  return {
    name: "ACME header",
    corpus: [
      { ...named, jwk: applicant.jwk },
      { ...named, kid: applicant.account },
    ].map((each) => Buffer.from(JSON.stringify(each))),
    mutations: jsonMutations,
    turnMs,
    async attempt(input) {
      const header = Buffer.from(input)
        .toString("latin1")
        .replace(freshNonce, await applicant.nonce())
      return complaintAbout(
        await applicant.send(url, Buffer.from(signedBy(applicant.key, header, '{"onlyReturnExisting":true}'))),
      )
    },
  }
}

interface PayloadTarget {
  readonly name: string
  readonly payloads: readonly object[]
  readonly mutations?: readonly Mutation[]
  readonly repair?: FuzzTarget["repair"]
  /** Returns the URL to send to. It belongs to a new object if an earlier request used the previous one up. */
  readonly url: () => Promise<string> | string
  /** Set if requests are signed with a key without an account. */
  readonly byKey?: boolean
  /** Runs after a success, and returns a description of a problem, if any. */
  readonly after?: (answer: Answer) => Promise<string | undefined>
}

async function payloads(applicant: Applicant, other: Applicant): Promise<FuzzTarget[]> {
  const csr = await applicant.request()
  let order = await applicant.readyOrder()
  const documents = (member: string): readonly Mutation[] => [
    ...jsonMutations,
    ...derMutations.map((mutation) => insideMember(member, mutation)),
  ]
  const targets: readonly PayloadTarget[] = [
    {
      name: "new account",
      payloads: [{ contact: ["mailto:a@example.com"], termsOfServiceAgreed: true }, { onlyReturnExisting: true }],
      url: () => `${base}/new-account`,
      byKey: true,
    },
    { name: "account", payloads: [{ contact: ["mailto:a@example.com"] }], url: () => applicant.account },
    {
      name: "new order",
      payloads: [
        { identifiers: [localhost, { type: "dns", value: "*.example.com" }], notAfter: "2030-01-01T00:00:00Z" },
        { identifiers: [{ type: "ip", value: "2001:db8::1" }], replaces: "AAAA.AAAA", profile: "web" },
      ],
      url: () => `${base}/new-order`,
    },
    { name: "order", payloads: [{}], url: async () => order.url },
    { name: "authorization", payloads: [{ status: "pending" }], url: async () => order.authorization },
    {
      name: "key change",
      // The new key belongs to another account. The server checks that last and refuses, so the account keeps its own key.
      payloads: [applicant.keyChange(other)],
      url: () => `${base}/key-change`,
    },
    {
      name: "finalization",
      payloads: [{ csr }],
      mutations: documents("csr"),
      repair: signedMember("csr"),
      url: async () => order.finalize,
      async after({ body }) {
        const complaint = await complaintAboutOrder(applicant, body)
        order = await applicant.readyOrder()
        return complaint
      },
    },
    {
      name: "revocation",
      payloads: [{ certificate: await applicant.issued(), reason: 4 }],
      mutations: documents("certificate"),
      url: () => `${base}/revoke-cert`,
    },
  ]
  return targets.map(({ name, payloads: corpus, mutations = jsonMutations, repair, url, byKey = false, after }) => ({
    name: `ACME ${name}`,
    corpus: corpus.map((each) => Buffer.from(JSON.stringify(each))),
    mutations,
    turnMs,
    ...(repair === undefined ? {} : { repair }),
    async attempt(input) {
      const answer = await applicant.post(await url(), input, { byKey })
      return complaintAbout(answer) ?? (answer.status < 300 ? await after?.(answer) : undefined)
    },
  }))
}

async function complaintAboutOrder(applicant: Applicant, order: Answer["body"]): Promise<string | undefined> {
  if (order.status !== "valid") return `the order is ${order.status} when it is finalized`
  const { status, body } = await applicant.post(order.certificate)
  return status === 200
    ? complaintAboutSigned({ data: { certificate: body } })
    : `there is no certificate: ${JSON.stringify(body)}`
}

/** Signs the CSR in the member again. */
const signedMember =
  (member: string) =>
  (input: Uint8Array): Uint8Array =>
    insideMember(member, signedAgain)(input, [], undefined as never)

/** A client with an account, which can prove control of `localhost`. */
class Applicant {
  readonly #testEngine: TestEngine
  readonly #answers: Map<string, string>
  readonly key: KeyObject
  readonly jwk: webcrypto.JsonWebKey
  readonly #thumbprint: string
  account = ""

  private constructor(testEngine: TestEngine, answers: Map<string, string>, key: string) {
    this.#testEngine = testEngine
    this.#answers = answers
    this.key = createPrivateKey(sampleText(key))
    this.jwk = createPublicKey(this.key).export({ format: "jwk" })
    this.#thumbprint = readJwk(this.jwk).thumbprint
  }

  static async registered(testEngine: TestEngine, answers: Map<string, string>, key: string): Promise<Applicant> {
    const applicant = new Applicant(testEngine, answers, key)
    const { headers: found } = await applicant.#done(`${base}/new-account`, { termsOfServiceAgreed: true }, true)
    applicant.account = found.get("location") ?? ""
    return applicant
  }

  async nonce(): Promise<string> {
    const { headers: found } = await this.#testEngine.request("HEAD", `${base}/new-nonce`, { token: null })
    return found.get("replay-nonce") ?? ""
  }

  header(url: string, byKey = false): object {
    return { alg: algorithmOf(this.key).name, url, ...(byKey ? { jwk: this.jwk } : { kid: this.account }) }
  }

  /** Sends a signed request; without a payload it is a POST-as-GET. */
  async post(url: string, payload: Uint8Array | string = "", { byKey = false } = {}): Promise<Answer> {
    const header = JSON.stringify({ ...this.header(url, byKey), nonce: await this.nonce() })
    return this.send(url, Buffer.from(signedBy(this.key, header, payload)))
  }

  async send(url: string, body: Uint8Array): Promise<Answer> {
    const headers = { "content-type": "application/jose+json" }
    return this.#testEngine.request("POST", url, { token: null, body: Uint8Array.from(body), headers })
  }

  /** Sends a request that must succeed. */
  async #done(url: string, payload?: object, byKey = false): Promise<Answer> {
    const answer = await this.post(url, payload === undefined ? "" : JSON.stringify(payload), { byKey })
    if (answer.status >= 300) throw new Error(`${url} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    return answer
  }

  /** Returns a CSR for `localhost`, as base64url. */
  async request(): Promise<string> {
    const key = readPrivateKeyPem(sampleText("key-p521.pem"), 4_096)
    const names = subjectAltName([{ kind: "dns", value: "localhost" }], { critical: false })
    return Buffer.from(await signedRequest(key, { subject: [], extensions: [names] })).toString("base64url")
  }

  async readyOrder(): Promise<{ url: string; finalize: string; authorization: string }> {
    const { headers: found, body } = await this.#done(`${base}/new-order`, { identifiers: [localhost] })
    const url = found.get("location") ?? ""
    const [authorization] = body.authorizations
    const { challenges, status } = (await this.#done(authorization)).body
    if (status === "pending") {
      const challenge = challenges.find(({ type }: { type: string }) => type === "http-01")
      this.#answers.set(challenge.token, `${challenge.token}.${this.#thumbprint}`)
      await this.#done(challenge.url, {})
    }
    while ((await this.#done(url)).body.status === "pending") await setTimeout(5)
    return { url, finalize: body.finalize, authorization }
  }

  /** Returns an issued certificate, as base64url. */
  async issued(): Promise<string> {
    const { finalize } = await this.readyOrder()
    const { body } = await this.#done(finalize, { csr: await this.request() })
    const pem: string = (await this.#done(body.certificate)).body
    return Buffer.from(pem.slice(0, pem.indexOf("-----END")).replace(/-----[^-]+-----/, ""), "base64").toString(
      "base64url",
    )
  }

  /** Returns the inner JWS of a change to the key of another account (RFC 8555, section 7.3.5). */
  keyChange(other: Applicant): object {
    const header = JSON.stringify(other.header(`${base}/key-change`, true))
    const payload = JSON.stringify({ account: this.account, oldKey: this.jwk })
    return JSON.parse(signedBy(other.key, header, payload)) as object
  }
}

const sampleText = (name: string) => readFileSync(join(import.meta.dirname, "samples", name), "utf8")

const algorithmOf = (key: KeyObject) =>
  key.asymmetricKeyDetails?.namedCurve === "secp384r1"
    ? { name: "ES384", digest: "sha384" }
    : { name: "ES256", digest: "sha256" }

/** Returns a flattened JWS (RFC 7515, section 7.2.2) with any header, valid or not. */
function signedBy(key: KeyObject, header: string, payload: Uint8Array | string): string {
  const [protectedPart, payloadPart] = [Buffer.from(header, "latin1"), Buffer.from(payload)].map((part) =>
    part.toString("base64url"),
  )
  const signature = sign(algorithmOf(key).digest, Buffer.from(`${protectedPart}.${payloadPart}`), {
    key,
    dsaEncoding: "ieee-p1363",
  })
  return JSON.stringify({
    protected: protectedPart,
    payload: payloadPart,
    signature: signature.toString("base64url"),
  })
}

/** Error types of RFC 8555, section 6.7, RFC 9773 and the draft of profiles. */
const problems: ReadonlySet<string> = new Set([
  "accountDoesNotExist",
  "alreadyReplaced",
  "alreadyRevoked",
  "badCSR",
  "badNonce",
  "badPublicKey",
  "badRevocationReason",
  "badSignatureAlgorithm",
  "externalAccountRequired",
  "invalidContact",
  "invalidProfile",
  "malformed",
  "orderNotReady",
  "rateLimited",
  "rejectedIdentifier",
  "serverInternal",
  "unauthorized",
  "unsupportedContact",
  "unsupportedIdentifier",
  "userActionRequired",
])

/** Returns a complaint unless the answer is a success or a problem that RFC 8555 defines, with a nonce (sections 6.5 and 6.7). */
function complaintAbout({ status, headers: found, body }: Answer): string | undefined {
  const answered = `answered ${status}: ${JSON.stringify(body)}`
  if (status >= 500 && status !== 503) return answered
  if ((found.get("replay-nonce") ?? "") === "") return `${answered} without a nonce`
  if (status < 400) return undefined
  if (found.get("content-type") !== "application/problem+json") return `${answered} as no problem`
  const { type, detail, status: bodyStatus } = body as Readonly<Record<string, unknown>>
  const name = String(type).replace("urn:ietf:params:acme:error:", "")
  const isInOrder = problems.has(name) && typeof detail === "string" && detail !== "" && bodyStatus === status
  return isInOrder ? undefined : answered
}
