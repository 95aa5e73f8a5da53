import { describe, expect, test } from "vitest"
import { hourMs } from "../../engine/src/core/time.ts"
import { parseCertificateList } from "../../engine/src/x509/certificate-list.ts"
import { writePem } from "../../engine/src/x509/pem.ts"
import { serialNumberOf } from "../../engine/src/x509/serial-number.ts"
import type { OpenedEngine } from "./engines.ts"
import { notFound, refused } from "./refusals.ts"

let count = 0
const numbers = { crlNumber: 5, deltaCrlBaseNumber: -1, nextUpdateMs: hourMs }

const serialsIn = (der: Uint8Array) =>
  parseCertificateList(der).entries.map((entry) => serialNumberOf(entry.serialNumber))

export function revocationCases(engine: () => OpenedEngine): void {
  /** Makes a mount with a root; `issue` makes a certificate with its key. */
  async function newMount() {
    const path = `contract/revocation-${(count += 1)}`
    const { mounts, pki: mountAt } = engine().root
    await mounts.create({ path })
    const pki = mountAt(path)
    await pki.issuers.generateRoot({ commonName: "Root", keyType: "ec" })
    await pki.roles.save("any", { allowAnyName: true, keyType: "ec", ttlMs: hourMs })
    const issue = () => pki.certificates.issue("any", { commonName: "a.test" })
    return { pki, issue }
  }

  describe("a certificate", () => {
    test("is revoked once, by its serial number, by its certificate and by its key", async () => {
      const { pki, issue } = await newMount()
      const [one, other, third] = [await issue(), await issue(), await issue()]
      const { serialNumber } = one
      const revoked = await pki.revocations.revoke({ serialNumber, reason: "superseded" })
      expect(revoked.serialNumber).toBe(serialNumber)
      expect(await pki.revocations.revoke({ serialNumber: serialNumber.replaceAll(":", "-") })).toEqual(revoked)
      const certificate = writePem("CERTIFICATE", other.certificate)
      expect((await pki.revocations.revoke({ certificate })).serialNumber).toBe(other.serialNumber)
      const privateKey = third.privateKey?.pem("pkcs8") ?? ""
      await pki.revocations.revokeWithKey({ serialNumber: third.serialNumber, privateKey })
      const all = [one, other, third].map((issued) => issued.serialNumber).toSorted()
      expect(await pki.revocations.list()).toEqual(all)
      expect(await pki.revocations.list({ after: all[0] ?? "", limit: 1 })).toEqual([all[1]])
      expect(await pki.revocations.requested()).toEqual([])
      expect(await pki.revocations.elsewhere()).toEqual([])
      const crl = await pki.crls.get()
      expect(serialsIn(crl?.der ?? new Uint8Array())).toEqual([one, other, third].map((issued) => issued.serialNumber))
      expect((crl?.nextUpdate ?? 0) - (crl?.thisUpdate ?? 0)).toBe(72 * hourMs)
    })

    test("is not revoked when the request is invalid", async () => {
      const { pki, issue } = await newMount()
      const { serialNumber } = await issue()
      for (const input of [{}, { serialNumber: "0a" }, { serialNumber, certificate: "x" }])
        await expect(pki.revocations.revoke(input)).rejects.toMatchObject(refused("unprocessable"))
      await expect(pki.revocations.revoke({ serialNumber: "no" })).rejects.toMatchObject(
        refused("invalid", ["serialNumber"]),
      )
      await expect(pki.revocations.revoke({ serialNumber, reason: "certificateHold" })).rejects.toMatchObject(
        refused("invalid", ["reason"]),
      )
      await expect(pki.revocations.revokeWithKey({ serialNumber, privateKey: "x" })).rejects.toMatchObject(
        refused("invalid", ["privateKey"]),
      )
      expect(await pki.revocations.list()).toEqual([])
    })
  })

  describe("an imported authority", () => {
    test("brings its certificates and its revocations along, once", async () => {
      const { mounts, pki: mountAt } = engine().root
      const [from, to] = [`contract/from-${(count += 1)}`, `contract/to-${count}`]
      for (const path of [from, to]) await mounts.create({ path })
      const [old, pki] = [mountAt(from), mountAt(to)]
      const root = await old.issuers.generateRoot({ commonName: "Root", keyType: "ec", keySource: "exported" })
      await old.roles.save("any", { allowAnyName: true, keyType: "ec", ttlMs: hourMs })
      const issued = await old.certificates.issue("any", { commonName: "a.test" })
      const { serialNumber } = issued
      const { revokedAt } = await old.revocations.revoke({ serialNumber, reason: "superseded" })
      const crl = await old.crls.get()
      const certificate = writePem("CERTIFICATE", issued.certificate)
      const list = writePem("X509 CRL", crl?.der ?? new Uint8Array())
      await expect(pki.certificates.import([certificate])).rejects.toMatchObject(
        refused("invalid", ["certificates", 0]),
      )
      await expect(pki.crls.import("default", list)).rejects.toMatchObject(refused("unprocessable"))
      const bundle = `${writePem("CERTIFICATE", root.certificate)}\n${root.privateKey?.pem("pkcs8")}`
      expect((await pki.issuers.import(bundle)).warnings.join()).toContain("ocsp_unknown_serials")
      expect(await pki.certificates.import([certificate])).toEqual({ imported: [serialNumber], existing: [] })
      expect(await pki.certificates.import([certificate])).toEqual({ imported: [], existing: [serialNumber] })
      const counts = { crlNumber: crl?.number, warnings: [] }
      expect(await pki.crls.import("default", list)).toEqual({ importedCount: 1, existingCount: 0, ...counts })
      expect(await pki.crls.import("default", list)).toEqual({ importedCount: 0, existingCount: 1, ...counts })
      const seconds = (instant: number | null | undefined) => Math.floor((instant ?? 0) / 1_000)
      expect(seconds((await pki.certificates.get(serialNumber)).revokedAt)).toBe(seconds(revokedAt))
      expect((await pki.crls.get())?.number).toBeGreaterThan(crl?.number ?? Infinity)
      await expect(pki.crls.import("default", "?")).rejects.toMatchObject(refused("invalid", ["crl"]))
    })
  })

  describe("CRLs", () => {
    test("are rotated as configured", async () => {
      const { pki } = await newMount()
      const before = await pki.crls.settings()
      const changes = { autoRebuild: true, enableDelta: true, expiryMs: 24 * hourMs, maxCrlEntries: -1 }
      expect(await pki.crls.configure(changes)).toEqual({ ...before, ...changes })
      const first = await pki.crls.get()
      await pki.crls.rotate()
      expect((await pki.crls.get())?.number).toBeGreaterThan(first?.number ?? Infinity)
      const delta = await pki.crls.get({ delta: true })
      await pki.crls.rotateDelta()
      expect((await pki.crls.get({ delta: true, issuerRef: "default" }))?.number).toBeGreaterThan(
        delta?.number ?? Infinity,
      )
      await expect(pki.crls.configure({ shards: 3, autoRebuild: false })).rejects.toMatchObject(
        refused("invalid", ["enableDelta"], ["shards"]),
      )
      await expect(pki.crls.get({ shard: { count: 8, index: 1 } })).rejects.toMatchObject(notFound)
    })

    test("of other authorities are signed, and re-signed together", async () => {
      const { pki } = await newMount()
      const list = { revokedCertificates: [{ serialNumber: "0a:0b", revokedAt: Date.UTC(2026, 1), extensions: [] }] }
      const signed = await pki.crls.signRevocationList("default", { ...list, extensions: [], ...numbers })
      expect(serialsIn(signed.der)).toEqual(["0a:0b"])
      const crls = [writePem("X509 CRL", signed.der)]
      const again = await pki.crls.resign("default", { crls, ...numbers, crlNumber: 6 })
      expect(parseCertificateList(again.der)).toMatchObject({ number: 6, entries: [{ revokedAt: Date.UTC(2026, 1) }] })
      await expect(pki.crls.resign("default", { crls: [], ...numbers })).rejects.toMatchObject(
        refused("invalid", ["crls"]),
      )
    })
  })
}
