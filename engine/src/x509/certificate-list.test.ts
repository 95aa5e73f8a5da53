import * as fc from "fast-check"
import { expect, test } from "vitest"
import { oids } from "./asn1/oids.ts"
import { MalformedDer } from "./asn1/malformed-der.ts"
import {
  crlNumber,
  deltaCrlIndicator,
  encodeRevokedEntry,
  frameSigned,
  frameTbsCertificateList,
  issuingDistributionPoint,
  parseCertificateList,
  type RevocationReason,
  revocationReasons,
} from "./certificate-list.ts"
import { encodeName } from "./name.ts"
import { signatureAlgorithmIdentifier } from "./signature-algorithm.ts"

const issuer = encodeName([[{ type: oids.commonName, value: "Issuer" }]])
const signatureAlgorithm = signatureAlgorithmIdentifier("ECDSAWithSHA256")
const signature = Uint8Array.of(1, 2, 3)

function listOf(entries: readonly Uint8Array[], thisUpdate: number, nextUpdate: number, number: number): Uint8Array {
  const joined = Buffer.concat(entries)
  const octets = Buffer.alloc(8)
  octets.writeBigUInt64BE(BigInt(number))
  const template = { signatureAlgorithm, issuer, thisUpdate, nextUpdate, extensions: [crlNumber(octets)] }
  const { before, after } = frameTbsCertificateList(template, joined.length)
  const tbs = Buffer.concat([before, joined, after])
  const outer = frameSigned(tbs.length, signatureAlgorithm, signature)
  return Buffer.concat([outer.before, tbs, outer.after])
}

const second = fc.integer({ min: 0, max: 200 * 365 * 86_400 }).map((seconds) => seconds * 1_000)
const reason = fc.constantFrom(...(Object.keys(revocationReasons) as RevocationReason[]))
const entry = fc.record({
  serialNumber: fc.uint8Array({ minLength: 1, maxLength: 20 }).filter(([first]) => first !== 0),
  revokedAt: second,
  reason,
  invalidityDate: fc.option(second, { nil: undefined }),
})

test("parseCertificateList returns the written values of any list", () => {
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 20 }), second, second, fc.maxSafeNat(), (entries, from, until, number) => {
      const encoded = entries.map(({ invalidityDate, ...rest }) =>
        encodeRevokedEntry({ ...rest, ...(invalidityDate === undefined ? {} : { invalidityDate }) }),
      )
      const list = parseCertificateList(listOf(encoded, from, until, number))
      expect(list).toMatchObject({ thisUpdate: from, nextUpdate: until, number })
      expect(Buffer.compare(list.issuer, issuer)).toBe(0)
      expect(Buffer.compare(list.signature, signature)).toBe(0)
      expect(
        list.entries.map(({ serialNumber, revokedAt, extensions }) => ({
          serialNumber: Buffer.from(serialNumber),
          revokedAt,
          reason: extensions.find(({ oid }) => oid === oids.crlReason)?.value.at(-1) ?? 0,
          isDated: extensions.some(({ oid }) => oid === oids.invalidityDate),
        })),
      ).toEqual(
        entries.map(({ serialNumber, revokedAt, reason: name, invalidityDate }) => ({
          serialNumber: Buffer.from(serialNumber),
          revokedAt,
          reason: revocationReasons[name],
          isDated: invalidityDate !== undefined,
        })),
      )
    }),
    { numRuns: 200 },
  )
})

test("a list without entries has no revokedCertificates (RFC 5280, section 5.1.2.6)", () => {
  const der = listOf([], 0, 1_000, 1)
  const one = listOf(
    [encodeRevokedEntry({ serialNumber: Uint8Array.of(1), revokedAt: 0, reason: "unspecified" })],
    0,
    1_000,
    1,
  )
  expect(parseCertificateList(der).entries).toEqual([])
  // Tag, length, and an entry of 20 bytes.
  expect(one.length - der.length).toBe(2 + 20)
})

test("an unspecified reason is omitted (RFC 5280, section 5.3.1)", () => {
  const plain = encodeRevokedEntry({ serialNumber: Uint8Array.of(1), revokedAt: 0, reason: "unspecified" })
  expect(Buffer.from(plain).toString("hex")).toBe("3012020101170d3730303130313030303030305a")
  const told = encodeRevokedEntry({ serialNumber: Uint8Array.of(1), revokedAt: 0, reason: "keyCompromise" })
  expect(Buffer.from(told).toString("hex")).toBe("3020020101170d3730303130313030303030305a300c300a0603551d1504030a0101")
})

test("delta lists and partitioned lists have critical extensions", () => {
  expect(deltaCrlIndicator(Uint8Array.of(0, 7))).toEqual({
    oid: "2.5.29.27",
    critical: true,
    value: Uint8Array.of(2, 1, 7),
  })
  const { critical, value } = issuingDistributionPoint(["http://a/1"])
  expect(critical).toBe(true)
  expect(Buffer.from(value).toString("hex")).toBe(`3010a00ea00c860a${Buffer.from("http://a/1").toString("hex")}`)
})

test("a truncated or changed list is malformed or is read as a list", () => {
  const der = listOf(
    [encodeRevokedEntry({ serialNumber: Uint8Array.of(1), revokedAt: 0, reason: "superseded" })],
    0,
    1_000,
    1,
  )
  for (let length = 0; length < der.length; length += 1)
    expect(() => parseCertificateList(der.subarray(0, length))).toThrow(MalformedDer)
  fc.assert(
    fc.property(fc.nat(der.length - 1), fc.nat(255), (at, octet) => {
      const changed = Uint8Array.from(der)
      changed[at] = octet
      try {
        parseCertificateList(changed)
      } catch (error) {
        if (!(error instanceof MalformedDer)) throw error
      }
    }),
    { numRuns: 500 },
  )
})
