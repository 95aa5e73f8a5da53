import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { openTestEngine, type TestEngine } from "../../../testing/test-engine.ts"
import { parseCertificateList } from "../../x509/certificate-list.ts"
import { writePem } from "../../x509/pem.ts"

let testEngine: TestEngine
beforeAll(async () => {
  testEngine = await openTestEngine()
  for (const path of ["pki", "other"]) {
    await testEngine.engine.mounts.create({ path })
    const { issuers, roles } = testEngine.engine.pki(path)
    await issuers.generateRoot({ commonName: "Root", keyType: "ec" })
    await roles.save("any", { allowAnyName: true, keyType: "ec", ttlMs: 3_600_000 })
  }
})
afterAll(() => testEngine[Symbol.asyncDispose]())

const sign = (body: object) => testEngine.pki("POST", "/pki/issuer/default/sign-revocation-list", { body })
const resign = (body: object) => testEngine.pki("POST", "/pki/issuer/default/resign-crls", { body })
const listIn = (pem: string) => parseCertificateList(Buffer.from(pem.replaceAll(/-----.*-----|\n/g, ""), "base64"))
const hex = (octets: Uint8Array) => Buffer.from(octets).toString("hex")

describe("signing a list", () => {
  test("signs entries and extensions unchanged", async () => {
    const { body } = await sign({
      crl_number: 7,
      delta_crl_base_number: 3,
      next_update: "1h",
      revoked_certs: [
        {
          serial_number: "0a-0b",
          revocation_time: "2026-01-02T03:04:05Z",
          extensions: [{ id: "2.5.29.21", critical: false, value: "CgEB" }],
        },
        { serial_number: "0C", revocation_time: "2026-01-02T03:04:05Z" },
      ],
      extensions: [{ id: "1.2.3.4", critical: false, value: "BQA=" }],
    })
    const list = listIn(body.data.crl)
    expect(list.entries.map(({ serialNumber }) => hex(serialNumber))).toEqual(["0a0b", "0c"])
    expect(list.entries[0]?.extensions).toEqual([
      { oid: "2.5.29.21", critical: false, value: Uint8Array.of(0x0a, 1, 1) },
    ])
    expect(list.number).toBe(7)
    expect(list.extensions.map(({ oid }) => oid)).toEqual(["2.5.29.35", "2.5.29.20", "2.5.29.27", "1.2.3.4"])
    expect((list.nextUpdate ?? 0) - list.thisUpdate).toBe(3_600_000)
  })

  test("reports every fault and signs nothing", async () => {
    const { status, body } = await sign({
      crl_number: 1,
      revoked_certs: [{ serial_number: "xyz", revocation_time: "2026-01-02T03:04:05Z" }, { serial_number: "0a" }],
      extensions: [{ id: "2.5.29.20", critical: false, value: "AgEB" }],
    })
    expect(status).toBe(400)
    expect(body.errors).toEqual(["revoked_certs: revocation_time must be an RFC 3339 timestamp"])
    const second = await sign({
      crl_number: 1,
      delta_crl_base_number: -1,
      revoked_certs: [{ serial_number: "xyz", revocation_time: "2026-01-02T03:04:05Z" }],
      extensions: [
        { id: "2.5.29.20", critical: false, value: "AgEB" },
        { id: "1.2.3", critical: false, value: "BQ==" },
      ],
    })
    expect(second.status).toBe(400)
    expect(second.body.errors).toHaveLength(3)
    for (const numbers of [{}, { crl_number: -1 }, { crl_number: 1, delta_crl_base_number: 1 }])
      expect((await sign(numbers)).status).toBe(400)
  })
})

describe("re-signing revocation lists", () => {
  test("merges their entries, each certificate once with its earliest time, and warns about omitted extensions", async () => {
    const time = (day: number) => `2026-01-0${day}T00:00:00Z`
    const entry = (serial: string, day: number) => ({ serial_number: serial, revocation_time: time(day) })
    const first = await sign({ crl_number: 1, revoked_certs: [entry("01", 2), entry("02", 3)] })
    const second = await sign({
      crl_number: 2,
      revoked_certs: [entry("02", 1), entry("03", 4)],
      extensions: [{ id: "1.2.3.4", critical: false, value: "BQA=" }],
    })
    const joined = await resign({ crls: [first.body.data.crl, second.body.data.crl], crl_number: 3, format: "pem" })
    const { entries, number } = listIn(joined.body.data.crl)
    expect(entries.map(({ serialNumber, revokedAt }) => [hex(serialNumber), new Date(revokedAt).getUTCDate()])).toEqual(
      [
        ["01", 2],
        ["02", 1],
        ["03", 4],
      ],
    )
    expect(number).toBe(3)
    expect(joined.body.warnings).toBe("the extension 1.2.3.4 of the lists is left out")
    const der = await resign({ crls: [first.body.data.crl], crl_number: 3, format: "der" })
    expect(parseCertificateList(Buffer.from(der.body.data.crl, "base64")).entries).toHaveLength(2)
  })

  test("rejects lists of other issuers and input that is not a revocation list", async () => {
    const stranger = writePem("X509 CRL", (await testEngine.engine.pki("other").crls.get())?.der ?? new Uint8Array())
    for (const [crls, detail] of [
      [[stranger], /was not signed by this issuer/],
      [["nonsense"], /could not be parsed/],
      [[], /at least one/],
    ] as const) {
      const { status, body } = await resign({ crls, crl_number: 1 })
      expect(status).toBe(400)
      expect(body.errors[0]).toMatch(detail)
    }
  })
})
