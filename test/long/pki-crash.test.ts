// Kills the real server (SIGKILL) at random moments while many clients have certificates issued, signed and revoked, and create, import,
// use and delete keys of CAs. Every acknowledged change is stored, and every other one entirely or not at all. Every signature is in the
// audit log, and no serial number is used twice.
import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, test } from "vitest"
import { openEmbedded } from "../../engine/src/embedded.ts"
import { certificateRequest } from "../../engine/testing/certificate-requests.ts"
import { oids } from "../../engine/src/x509/asn1/oids.ts"
import { parseCertificate } from "../../engine/src/x509/certificate.ts"
import { parseCertificateList } from "../../engine/src/x509/certificate-list.ts"
import { readPem } from "../../engine/src/x509/pem.ts"
import { parseSigned } from "../../engine/src/x509/signed.ts"
import { AuthorityWriter } from "./authority-writer.ts"
import { CertificateWriter, during } from "./certificate-writer.ts"
import { CrashApi } from "./crash-api.ts"
import { type CrashStore, crashKinds, openCrashStore } from "./crash-store.ts"
import { sampleOf } from "./sample.ts"
import { CrashingServer, randomIntegers } from "./crashing-server.ts"

const kills = process.env["CHANCERY_SHORT"] === "1" ? 15 : 100
const certificateWriterCount = 9
const authorityWriterCount = 3
const clientCount = certificateWriterCount + authorityWriterCount
const longestRunMs = 400
const seed = Number(process.env["CHANCERY_SEED"] ?? Date.now() % 1_000_000)

interface Entry {
  readonly type: "request" | "key-use" | "response"
  readonly request_id?: string
  readonly serial_number?: string
  readonly to_be_signed_sha256?: string
}

test.each(sampleOf(crashKinds, 3))(
  `${kills} kills under ${clientCount} clients lose no certificate, revocation or key, and no record of one, on $name (seed ${seed})`,
  async (kind) => {
    const random = randomIntegers(seed)
    await using store = await openCrashStore(kind)
    const server = await CrashingServer.prepare(store)
    // Digests of all signed values, collected here because not all of them are in the database at the end.
    const signed = new Set<string>()
    const seen = (tbs: Uint8Array) => void signed.add(digestOf(tbs))
    try {
      const api = new CrashApi(server.url, await server.rootToken())
      const mounts = Array.from({ length: authorityWriterCount }, (_, index) => `authorities-${index}`)
      await prepare(store, mounts)
      const { csr } = await certificateRequest({ subject: [[{ type: oids.commonName, value: "crash.example.com" }]] })
      const writers = Array.from({ length: certificateWriterCount }, () => new CertificateWriter(random, csr))
      const authorities = mounts.map((mount) => new AuthorityWriter(mount, random))
      let list = { number: 0, digest: "" }
      for (let round = 0; round <= kills; round += 1) {
        await server.start()
        api.open(clientCount)
        const next = await readList(api)
        seen(next.tbs)
        // A CRL number identifies one CRL.
        expect(next.number > list.number || next.digest === list.digest).toBe(true)
        list = next
        for (const writer of writers) await writer.verify(api, next.listed, seen)
        for (const authority of authorities) await authority.verify(api)
        if (round === kills) break
        const writing = [
          ...writers.map((writer) => writer.write(api)),
          ...authorities.map((authority) => authority.write(api, (pem) => seen(tbsOf(pem)))),
        ]
        await during(writing, random(longestRunMs), async () => {
          api.doom()
          await server.kill()
        })
        await api.close()
      }
      const sizes = authorities.map(({ size }) => `${size.keys} keys and ${size.issuers} issuers`)
      for (const authority of authorities) await authority.useAll(api, csr)
      await api.close()
      await server.kill()

      const issued = writers.flatMap(({ serialNumbers }) => serialNumbers)
      const revoked = writers.flatMap((writer) => writer.revoked)
      const changes = authorities.reduce((sum, { changeCount }) => sum + changeCount, 0)
      expect(issued.length).toBeGreaterThan(kills)
      expect(revoked.length).toBeGreaterThan(kills / 2)
      expect(changes).toBeGreaterThan(kills / 2)

      const { entries, torn } = readLog(await readFile(join(store.folder, "audit.log"), "utf8"))
      // A kill interrupts at most one write, and the next entry begins on a new line.
      expect(torn.length).toBeLessThanOrEqual(kills + 1)
      expect(torn.filter((line) => !entryBegins.startsWith(line) && !line.startsWith(entryBegins))).toEqual([])
      const keyUses = entries.filter(({ type }) => type === "key-use")
      const recordedSerials = keyUses.flatMap(({ serial_number: serial }) => serial ?? [])
      expect(new Set(recordedSerials).size).toBe(recordedSerials.length)
      const stored = await storedCertificates(store)
      for (const { tbs } of stored) seen(tbs)
      const recorded = new Set(keyUses.map(({ to_be_signed_sha256: digest }) => digest))
      expect([...signed].filter((digest) => !recorded.has(digest))).toEqual([])
      const inStore = new Set(stored.map(({ serialNumber }) => serialNumber))
      expect(issued.filter((serialNumber) => !inStore.has(serialNumber))).toEqual([])
      const idsOf = (wanted: Entry["type"]) =>
        new Set(entries.filter(({ type }) => type === wanted).map(({ request_id: id }) => id))
      const [requests, responses] = [idsOf("request"), idsOf("response")]
      expect(api.acknowledged.filter((id) => !requests.has(id) || !responses.has(id))).toEqual([])
      console.log(
        `${kills} kills: ${issued.length} certificates, ${revoked.length} revocations and ${changes} changes of authorities ` +
          `acknowledged (${sizes.join(", ")} left), ${api.acknowledged.length} changes and ${keyUses.length} signatures on ` +
          `record, ${signed.size} of them looked at, list number ${list.number}`,
      )
    } finally {
      await server.kill()
    }
  },
  1_800_000,
)

const entryBegins = '{"time":"'

/** Parses the log. An entry that a killed server did not finish is not counted: its operation did not happen, and no answer was sent. */
function readLog(text: string) {
  const entries: Entry[] = []
  const torn: string[] = []
  for (const line of text.trimEnd().split("\n")) {
    try {
      entries.push(JSON.parse(line) as Entry)
    } catch {
      torn.push(line)
    }
  }
  return { entries, torn }
}

async function prepare({ folder, url, sealKey }: CrashStore, mounts: readonly string[]): Promise<void> {
  // The operations here are in the audit log as well.
  const auditLog = { target: { kind: "file" as const, path: join(folder, "audit.log") } }
  const sealKeys = sealKey === undefined ? {} : { sealKeys: { text: sealKey } }
  await using engine = await openEmbedded(url, { auditLog, ...sealKeys })
  for (const path of ["pki", ...mounts]) await engine.mounts.create({ path })
  const { issuers, roles } = engine.pki("pki")
  await issuers.generateRoot({ commonName: "Root", keyType: "ec", ttlMs: 2_000_000_000 })
  await roles.save("web", { allowAnyName: true, keyType: "ec", ttlMs: 3_600_000 })
}

async function readList(api: CrashApi) {
  const { bytes } = await api.read("GET", "/pki/crl")
  const { tbs, entries, number = 0 } = parseCertificateList(bytes)
  return {
    tbs,
    number,
    digest: digestOf(bytes),
    listed: new Set(entries.map(({ serialNumber }) => hexOf(serialNumber))),
  }
}

/** Returns the signed part of a PEM CSR. */
function tbsOf(pem: string): Uint8Array {
  const [block] = readPem(pem, 100_000)
  return parseSigned(block?.bytes ?? new Uint8Array(), "request", "certificationRequestInfo").body
}

const digestOf = (octets: Uint8Array): string => createHash("sha256").update(octets).digest("hex")

const hexOf = (octets: Uint8Array): string => (Buffer.from(octets).toString("hex").match(/../g) ?? []).join(":")

async function storedCertificates(store: CrashStore) {
  await store.expectWhole()
  const rows = await store.rows("select certificate from certificates union select certificate from issuers")
  return rows.map(({ certificate }) => {
    const { tbsCertificate: tbs, serialNumber } = parseCertificate(certificate as Uint8Array)
    return { tbs, serialNumber: hexOf(serialNumber) }
  })
}
