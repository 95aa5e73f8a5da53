// Issuing of certificates, and reading them back.
import { beforeAll, describe, expect, test } from "vitest"
import { dayMs, hourMs } from "../../engine/src/core/time.ts"
import type { InventoryQuery } from "../../engine/src/pki/issuance/certificate-api.ts"
import { certificateRequest } from "../../engine/testing/certificate-requests.ts"
import { oids } from "../../engine/src/x509/asn1/oids.ts"
import { parseCertificate } from "../../engine/src/x509/certificate.ts"
import { formatName } from "../../engine/src/x509/name.ts"
import { writePem } from "../../engine/src/x509/pem.ts"
import type { OpenedEngine } from "./engines.ts"
import { notFound, refused } from "./refusals.ts"

let count = 0

const csrOf = async (commonName: string): Promise<string> =>
  (await certificateRequest({ subject: [[{ type: oids.commonName, value: commonName }]] })).csr

const subjectOf = (der: Uint8Array): string => formatName(parseCertificate(der).subjectName)

const pem = (der: Uint8Array): string => writePem("CERTIFICATE", der)

export function certificateCases(engine: () => OpenedEngine): void {
  async function newMount() {
    const path = `contract/certificates-${(count += 1)}`
    const { mounts, pki: mountAt } = engine().root
    await mounts.create({ path })
    const pki = mountAt(path)
    await pki.issuers.generateRoot({ commonName: "Root", keyType: "ec", issuerName: "root", ttlMs: 500 * hourMs })
    await pki.roles.save("any", { allowAnyName: true, keyType: "ec", ttlMs: hourMs, noStoreMetadata: false })
    return pki
  }

  describe("a certificate", () => {
    test("is issued with a key, and signed from a CSR by a role, verbatim and as an intermediate", async () => {
      const { certificates } = await newMount()
      const csr = await csrOf("a.test")
      const issued = await certificates.issue("any", { commonName: "a.test" }, { issuerRef: "root" })
      expect(issued).toMatchObject({ privateKey: { algorithm: { type: "ec", bits: 256 } }, warnings: [] })
      const named = { csr, commonName: "a.test" }
      for (const signed of [
        issued,
        await certificates.sign("any", named),
        await certificates.signVerbatim("any", { csr }),
        await certificates.signVerbatim(undefined, { csr }, { issuerRef: "root" }),
        await certificates.signIntermediate(named),
      ]) {
        expect(subjectOf(signed.certificate)).toBe("CN=a.test")
        expect(subjectOf(signed.issuingCa)).toBe("CN=Root")
        expect(signed.caChain.map(subjectOf)).toContain("CN=Root")
        const { certificate, serialNumber, issuerId } = await certificates.get(signed.serialNumber)
        expect([pem(certificate), serialNumber]).toEqual([pem(signed.certificate), signed.serialNumber])
        expect(issuerId).toMatch(/^iss-/)
      }
    })

    test("is rejected with a reason", async () => {
      const { certificates, roles } = await newMount()
      await roles.save("some", { allowedDomains: ["example.com"], keyType: "ec", ttlMs: hourMs })
      const csr = await csrOf("a.test")
      await expect(certificates.issue("some", { commonName: "a.test" })).rejects.toMatchObject(
        refused("invalid", ["commonName"]),
      )
      await expect(certificates.sign("some", { csr, commonName: "" })).rejects.toMatchObject(
        refused("invalid", ["commonName"]),
      )
      await expect(certificates.signVerbatim("none", { csr })).rejects.toMatchObject(refused("unprocessable"))
      await expect(certificates.signIntermediate({ csr: "x", commonName: "a" })).rejects.toMatchObject(
        refused("invalid", ["csr"]),
      )
      await expect(certificates.signSelfIssued({ certificate: "x" })).rejects.toMatchObject(
        refused("invalid", ["certificate"]),
      )
      expect(await certificates.list()).toHaveLength(1)
    })

    test("that is self-issued is signed again", async () => {
      const { certificates, issuers } = await newMount()
      const old = await issuers.generateRoot({ commonName: "Old", keyType: "ec" })
      const crossed = await certificates.signSelfIssued({ certificate: pem(old.certificate) }, { issuerRef: "root" })
      expect([crossed.certificate, crossed.issuingCa].map(subjectOf)).toEqual(["CN=Old", "CN=Root"])
    })
  })

  describe("issued certificates", () => {
    let pki: Awaited<ReturnType<typeof newMount>>
    let mount: string
    let root: string
    /** Sorted by serial number. */
    let issued: readonly string[]
    beforeAll(async () => {
      pki = await newMount()
      mount = `contract/certificates-${count}`
      const [rootOf] = await pki.certificates.caChain()
      const all = await pki.certificates.list()
      root = all[0] ?? ""
      expect(rootOf && subjectOf(rootOf)).toBe("CN=Root")
      const calls = [
        { commonName: "a.test", altNames: ["b.test"], certMetadata: "b3duZXI=" },
        { commonName: "c.test", ttlMs: 2 * hourMs },
      ]
      const made: string[] = []
      for (const one of calls) made.push((await pki.certificates.issue("any", one)).serialNumber)
      issued = made
    })

    test("are listed whole and in pages", async () => {
      const { certificates } = pki
      const all = [root, ...issued].toSorted()
      expect(await certificates.list()).toEqual(all)
      expect(await certificates.list({ after: all[0] ?? "", limit: 1 })).toEqual([all[1]])
      const details = await certificates.listDetails()
      expect(details.map(({ serialNumber }) => serialNumber)).toEqual(all)
      expect(details.find(({ serialNumber }) => serialNumber === issued[0])).toMatchObject({
        commonName: "a.test",
        issuer: "CN=Root",
        key: { type: "ec", bits: 256 },
        dnsNames: ["a.test", "b.test"],
      })
      expect(await certificates.listDetails({ after: all[0] ?? "", limit: 1 })).toEqual([details[1]])
      expect(await certificates.listMetadata()).toEqual([issued[0]])
      expect(await certificates.listMetadata({ after: issued[0] ?? "" })).toEqual([])
      for (const list of ["list", "listDetails", "listMetadata"] as const)
        await expect(certificates[list]({ after: "none" })).rejects.toMatchObject(refused("invalid", ["after"]))
    })

    test("[F-P17] are found by expiry before or after a duration from now", async () => {
      const { certificates } = pki
      const found = async (query: InventoryQuery) =>
        (await certificates.search({ role: "any", ...query })).items.map(({ serialNumber }) => serialNumber)
      expect(await found({ expiresBefore: { fromNowMs: 366 * dayMs }, expiresAfter: { fromNowMs: -dayMs } })).toEqual(
        issued,
      )
      expect(await found({ expiresBefore: { fromNowMs: -1_000 } })).toEqual([])
      expect(await found({ expiresAfter: { fromNowMs: 366 * dayMs } })).toEqual([])
    })

    test("[F-P17] are found in a search across mounts", async () => {
      const { certificateInventory, mounts } = engine().root
      const other = `contract/certificates-other-${(count += 1)}`
      await mounts.create({ path: other })
      const query = { role: "any", mounts: [other, mount] }
      const { items, next } = await certificateInventory.search(query, { limit: 1 })
      expect(items).toMatchObject([{ mount, commonName: "c.test", serialNumber: issued[1] }])
      const rest = await certificateInventory.search(query, { limit: 5, after: next ?? "" })
      expect(rest).toMatchObject({
        items: [{ mount, serialNumber: issued[0], names: ["a.test", "b.test"] }],
        next: undefined,
      })
      expect(await certificateInventory.search({ name: "none.test", mounts: [mount] })).toEqual({
        items: [],
        next: undefined,
      })
      const all = await certificateInventory.search({ name: "b.test" }, { limit: 1_000 })
      expect(all.items.filter((entry) => entry.mount === mount)).toMatchObject([{ serialNumber: issued[0] }])
      await expect(certificateInventory.search({ mounts: ["none"] })).rejects.toMatchObject(notFound)
      await expect(certificateInventory.search({}, { limit: 0 })).rejects.toMatchObject(refused("invalid", ["limit"]))
      await expect(certificateInventory.search({}, { after: "x" })).rejects.toMatchObject(refused("invalid", ["after"]))
      await mounts.delete(other)
    })

    test("are found in the inventory and by serial number", async () => {
      const { certificates } = pki
      const found = await certificates.search({ role: "any" }, { limit: 1 })
      expect(found.items.map(({ commonName }) => commonName)).toEqual(["c.test"])
      const rest = await certificates.search({ role: "any" }, { limit: 1, after: found.next ?? "" })
      expect(rest).toMatchObject({ items: [{ serialNumber: issued[0], names: ["a.test", "b.test"] }], next: undefined })
      const { items: revoked } = await certificates.search({ status: ["revoked", "expired"] })
      expect(revoked).toEqual([])
      const { items: valid } = await certificates.search({ status: ["valid"], role: "any" })
      expect(valid).toMatchObject(issued.map((serialNumber) => ({ serialNumber, status: "valid", revokedAt: null })))
      expect(await certificates.search({ name: "none.test" })).toEqual({ items: [], next: undefined })
      await expect(certificates.search({ issuerRef: "none" })).rejects.toMatchObject(notFound)
      await expect(certificates.search({}, { limit: 0 })).rejects.toMatchObject(refused("invalid", ["limit"]))
      await expect(certificates.get("0a:0b")).rejects.toMatchObject(notFound)
      await expect(certificates.get("none")).rejects.toMatchObject(refused("invalid", ["serialNumber"]))
    })

    test("have their stored metadata", async () => {
      const { certificates } = pki
      const [first = "", second = ""] = issued
      expect(await certificates.metadata(first)).toMatchObject({ metadata: "b3duZXI=", role: "any" })
      await expect(certificates.metadata(second)).rejects.toMatchObject(notFound)
    })
  })

  test("a mount without issuers has no chain, and neither has a missing mount", async () => {
    const { mounts, pki } = engine().root
    const path = `contract/certificates-${(count += 1)}`
    await mounts.create({ path })
    expect(await pki(path).certificates.caChain()).toEqual([])
    await expect(pki("contract/absent").certificates.caChain()).rejects.toMatchObject(notFound)
  })

  test("issuers, keys and roles are listed in pages", async () => {
    const pki = await newMount()
    await pki.issuers.generateRoot({ commonName: "Other", keyType: "ec" })
    await pki.roles.save("other", {})
    const lists: readonly ((page?: {
      after?: string
      limit?: number
    }) => Promise<readonly (string | { id: string })[]>)[] = [
      (page) => pki.issuers.list(page),
      (page) => pki.keys.list(page),
      (page) => pki.roles.list(page),
    ]
    const keyOf = (one: string | { id: string }) => (typeof one === "string" ? one : one.id)
    for (const list of lists) {
      const [first = "", second = ""] = (await list()).map(keyOf).toSorted()
      expect((await list({ limit: 1 })).map(keyOf)).toEqual([first])
      expect((await list({ after: first, limit: 9 })).map(keyOf)).toEqual([second])
      expect(await list({ after: second })).toEqual([])
    }
  })
}
