// Issues and revokes certificates, reads CRLs, and tidies expired certificates.
import { createHash } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { expect } from "vitest"
import { parseCertificateList } from "../../../engine/src/x509/certificate-list.ts"
import { type Load, type ReplicaClient, NoAnswerError } from "./client.ts"

const writerCount = 3
const readerCount = 2
const betweenReadsMs = 100
const betweenTidyingMs = 3_000

interface ListRead {
  readonly number: number
  readonly answeredAt: number
}

export class CertificateLoad implements Load {
  readonly #client: ReplicaClient
  readonly #random: (limit: number) => number
  readonly issued: string[] = []
  /** Time of acknowledgement by serial number. */
  readonly revoked = new Map<string, number>()
  /** Serial numbers that may be on a CRL although their revocation was not acknowledged. */
  readonly #revocationSent = new Set<string>()
  readonly #contents = new Map<number, string>()
  readonly #reads: ListRead[] = []
  #briefCount = 0
  #tidied = 0

  constructor(client: ReplicaClient, random: (limit: number) => number) {
    this.#client = client
    this.#random = random
  }

  async prepare(): Promise<void> {
    const change = async (path: string, body: object) => void (await this.#client.change("POST", `/v1${path}`, body))
    await change("/sys/mounts/certificates", { type: "pki", config: { max_lease_ttl: "87600h" } })
    await change("/certificates/root/generate/internal", { common_name: "Root", key_type: "ec", ttl: "87600h" })
    await change("/certificates/roles/web", { allow_any_name: true, key_type: "ec", ttl: "24h" })
    await change("/certificates/roles/brief", {
      allow_any_name: true,
      key_type: "ec",
      ttl: "2s",
      not_before_duration: "0s",
    })
  }

  async run(signal: AbortSignal): Promise<void> {
    const until = async (work: () => Promise<void>, pauseMs: number) => {
      while (!signal.aborted) {
        await work()
        await sleep(pauseMs)
      }
    }
    const many = (count: number, work: () => Promise<void>, pauseMs: number) =>
      Array.from({ length: count }, () => until(work, pauseMs))
    await Promise.all([
      ...many(writerCount, () => this.#write(), 0),
      ...many(readerCount, () => this.#readList(), betweenReadsMs),
      until(() => this.#tidy(), betweenTidyingMs),
    ])
  }

  async #write(): Promise<void> {
    const own: string[] = []
    try {
      for (let count = this.#random(3); count >= 0; count -= 1) {
        const answer = await this.#issue("web")
        if (answer !== undefined) own.push(answer)
      }
      if ((await this.#issue("brief")) !== undefined) this.#briefCount += 1
    } catch (error) {
      if (!(error instanceof NoAnswerError)) throw error
    }
    const [serial] = own
    if (serial !== undefined) {
      this.#revocationSent.add(serial)
      const body = { serial_number: serial }
      // A second revocation changes nothing.
      const {
        status,
        body: payload,
        answeredAt,
      } = await this.#client.sendUntilAnswered("POST", "/v1/certificates/revoke", body)
      if (status === 200) this.revoked.set(serial, answeredAt)
      else this.#client.fault(`revoke: ${status} ${JSON.stringify(payload)}`)
    }
    this.issued.push(...own)
  }

  async #issue(role: string): Promise<string | undefined> {
    const body = { common_name: "replicas.example.com" }
    return (await this.#client.change("POST", `/v1/certificates/issue/${role}`, body))?.body.data.serial_number
  }

  /**
   * Reads a CRL. A later reader never gets an older CRL, each CRL has all revocations acknowledged before, and a CRL number identifies one
   * CRL.
   */
  async #readList(): Promise<void> {
    const { bytes, status, sentAt: askedAt, answeredAt } = await this.#client.read("/v1/certificates/crl")
    if (status !== 200) return this.#client.fault(`crl: ${status}`)
    const { number = 0, entries } = parseCertificateList(bytes)
    const digest = createHash("sha256").update(bytes).digest("hex")
    if ((this.#contents.get(number) ?? digest) !== digest) this.#client.fault(`list ${number} has two contents`)
    this.#contents.set(number, digest)
    const newer = this.#reads.find((read) => read.answeredAt <= askedAt && read.number > number)
    if (newer !== undefined) this.#client.fault(`list ${number} is read after list ${newer.number}`)
    this.#reads.push({ number, answeredAt })
    const listed = new Set(entries.map(({ serialNumber }) => hexOf(serialNumber)))
    for (const [serial, revokedAt] of this.revoked)
      if (revokedAt <= askedAt && !listed.has(serial)) this.#client.fault(`list ${number} lacks ${serial}`)
    for (const serial of listed)
      if (!this.#revocationSent.has(serial)) this.#client.fault(`list ${number} has ${serial}, which no client revoked`)
  }

  async #tidy(): Promise<void> {
    const body = { tidy_cert_store: true, tidy_revoked_certs: true, safety_buffer: "1s" }
    const { status } = await this.#client.sendUntilAnswered("POST", "/v1/certificates/tidy", body)
    if (status !== 202) this.#client.fault(`tidy: ${status}`)
    const payload = (await this.#client.read("/v1/certificates/tidy-status")).body.data
    if (payload.error !== null && payload.error !== undefined)
      this.#client.fault(`tidy: ${JSON.stringify(payload.error)}`)
    if (payload.state === "Finished") this.#tidied += 1
  }

  async verify(): Promise<string> {
    expect(new Set(this.issued).size).toBe(this.issued.length)
    await this.#readList()
    const missing: string[] = []
    for (const serial of this.issued) {
      const { status, body } = await this.#client.read(`/v1/certificates/cert/${serial}`)
      if (status !== 200 || (this.revoked.has(serial) && body.data.revocation_time === 0)) missing.push(serial)
    }
    expect(missing).toEqual([])
    // Only expired certificates are deleted.
    await expect
      .poll(
        async () => {
          await this.#tidy()
          return (await this.#client.read("/v1/certificates/certs?list=true")).body.data.keys.length
        },
        { timeout: 180_000, interval: 1_000 },
      )
      .toBeLessThan(this.issued.length + this.#briefCount / 2)
    return (
      `${this.issued.length} certificates and ${this.revoked.size} revocations acknowledged, ${this.#reads.length} reads of ` +
      `${this.#contents.size} lists, tidied ${this.#tidied} times`
    )
  }
}

const hexOf = (octets: Uint8Array): string => (Buffer.from(octets).toString("hex").match(/../g) ?? []).join(":")
