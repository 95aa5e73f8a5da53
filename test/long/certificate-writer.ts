// A client that has certificates issued and signed, and revokes some of them. It knows which of them must be on the next CRL.
import { setTimeout as sleep } from "node:timers/promises"
import { expect } from "vitest"
import { ocspQuestion } from "../../engine/testing/ocsp-question.ts"
import { DerReader } from "../../engine/src/x509/asn1/reader.ts"
import { contextConstructed, contextPrimitive } from "../../engine/src/x509/asn1/tag.ts"
import { type CrashApi, Unanswered } from "./crash-api.ts"

const mount = "/pki"
/** Number of most recently revoked certificates to query over OCSP after each crash. */
const checkedAfterCrash = 3

interface Issued {
  readonly serialNumber: string
  readonly certificate: string
}

export class CertificateWriter {
  readonly serialNumbers: string[] = []
  readonly revoked: string[] = []
  readonly #random: (limit: number) => number
  readonly #csr: string
  readonly #valid: Issued[] = []
  #inFlight: Issued | undefined

  constructor(random: (limit: number) => number, csr: string) {
    this.#random = random
    this.#csr = csr
  }

  /** Writes until a request gets no answer. */
  async write(api: CrashApi): Promise<void> {
    try {
      for (;;) await this.#step(api)
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error
    }
  }

  async #step(api: CrashApi): Promise<void> {
    const draw = this.#random(10)
    if (draw < 4 && this.#valid.length > 0) return this.#revoke(api)
    const [path, members] = draw < 7 ? ["issue", {}] : ["sign", { csr: this.#csr }]
    const { data } = await api.change("POST", `${mount}/${path}/web`, { common_name: "crash.example.com", ...members })
    this.serialNumbers.push(data.serial_number)
    this.#valid.push({ serialNumber: data.serial_number, certificate: data.certificate })
  }

  async #revoke(api: CrashApi): Promise<void> {
    const [chosen] = this.#valid.splice(this.#random(this.#valid.length), 1)
    if (chosen === undefined) return
    const { serialNumber, certificate } = chosen
    this.#inFlight = chosen
    await api.change("POST", `${mount}/revoke`, {
      ...(this.#random(2) === 0 ? { serial_number: serialNumber } : { certificate }),
      reason: "superseded",
    })
    this.#inFlight = undefined
    this.revoked.push(serialNumber)
  }

  /** Checks that every acknowledged revocation is on the CRL, and no other except the one in flight, and that OCSP agrees. */
  async verify(api: CrashApi, listed: ReadonlySet<string>, seen: (signed: Uint8Array) => void): Promise<void> {
    expect(this.revoked.filter((serialNumber) => !listed.has(serialNumber))).toEqual([])
    expect(this.#valid.filter(({ serialNumber }) => listed.has(serialNumber))).toEqual([])
    const last = this.revoked.slice(-checkedAfterCrash)
    const unsure = this.#inFlight
    for (const serialNumber of unsure === undefined ? last : [...last, unsure.serialNumber]) {
      const { status, tbs } = await queryOcsp(api, serialNumber)
      seen(tbs)
      expect([serialNumber, status]).toEqual([serialNumber, listed.has(serialNumber) ? "revoked" : "good"])
    }
    this.#inFlight = undefined
    if (unsure === undefined) return
    if (listed.has(unsure.serialNumber)) this.revoked.push(unsure.serialNumber)
    else this.#valid.push(unsure)
  }
}

async function queryOcsp(api: CrashApi, serialNumber: string) {
  const issuer = (await api.read("GET", `${mount}/ca`)).bytes
  const octets = Buffer.from(serialNumber.replaceAll(":", ""), "hex")
  const { bytes } = await api.ask(`${mount}/ocsp`, ocspQuestion({ digest: "sha256", issuer, serialNumber: octets }))
  const outer = new DerReader(bytes, "answer").sequence("OCSPResponse")
  outer.value("responseStatus")
  const responseBytes = outer.enter(contextConstructed(0), "responseBytes").sequence("responseBytes")
  responseBytes.oid("responseType")
  const tbs = new DerReader(responseBytes.octetString("response"), "answer").sequence("basic").value("tbsResponseData")
  const response = new DerReader(tbs, "answer").sequence("tbsResponseData")
  response.value("responderID")
  response.value("producedAt")
  const single = response.sequence("responses").sequence("response")
  single.value("certID")
  return { tbs, status: statuses[single.next ?? 0] }
}

const statuses: Readonly<Record<number, string>> = {
  [contextPrimitive(0)]: "good",
  [contextConstructed(1)]: "revoked",
  [contextPrimitive(2)]: "unknown",
}

/** Runs writers for a while, then calls `end`, which stops the server, and returns its result. */
export async function during<T>(writing: readonly Promise<void>[], ms: number, end: () => Promise<T>): Promise<T> {
  // An error of a writer ends the wait.
  await Promise.race([sleep(ms), Promise.all(writing)])
  const ended = await end()
  await Promise.all(writing)
  return ended
}
