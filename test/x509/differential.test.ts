// Compares our DER writer and reader with `pkijs`, which shares no code with them (docs/decisions/der-writer.md).
import { type Arbitrary, array, assert, constantFrom, nat, oneof, property, record } from "fast-check"
import { describe, expect, test } from "vitest"
import { assembleCertificate, encodeTbsCertificate, parseCertificate } from "../../engine/src/x509/certificate.ts"
import {
  assembleCertificationRequest,
  encodeCertificationRequestInfo,
} from "../../engine/src/x509/certification-request.ts"
import { MalformedDer } from "../../engine/src/x509/asn1/malformed-der.ts"
import { type MadeCertificate, type MadeRequest, madeCertificate, madeRequest } from "./arbitraries.ts"
import * as ours from "./our-values.ts"
import * as theirs from "./pkijs-values.ts"

const certificateOf = ({ template, signature }: MadeCertificate): Uint8Array =>
  assembleCertificate(encodeTbsCertificate(template), template.signatureAlgorithm, signature)

const requestOf = ({ template, signatureAlgorithm, signature }: MadeRequest): Uint8Array =>
  assembleCertificationRequest(encodeCertificationRequestInfo(template), signatureAlgorithm, signature)

const hex = (octets: Uint8Array): string => Buffer.from(octets).toString("hex")

describe("documents of our encoder", () => {
  test("pkijs parses to the same values and encodes to the same bytes: certificates", () => {
    assert(
      property(madeCertificate, (made) => {
        const der = certificateOf(made)
        const read = theirs.readCertificate(der)
        expect(read).toEqual(ours.readCertificate(der))
        expect(read).toMatchObject({
          serialNumber: hex(made.template.serialNumber),
          notBefore: made.template.notBefore,
          notAfter: made.template.notAfter,
          subject: hex(made.template.subject),
          values: made.values,
        })
        expect(hex(theirs.rewriteCertificate(der))).toBe(hex(der))
      }),
      { numRuns: 300 },
    )
  })

  test("pkijs parses to the same values and encodes to the same bytes: requests", () => {
    assert(
      property(madeRequest, (made) => {
        const der = requestOf(made)
        const read = theirs.readRequest(der)
        expect(read).toEqual(ours.readRequest(der))
        expect(read).toMatchObject({ subject: hex(made.template.subject), values: made.values })
        expect(hex(theirs.rewriteRequest(der))).toBe(hex(der))
      }),
      { numRuns: 200 },
    )
  })

  test("our parser parses to the original values, and they encode to the same bytes", () => {
    assert(
      property(madeCertificate, (made) => {
        const der = certificateOf(made)
        const certificate = parseCertificate(der)
        expect(certificate).toMatchObject(made.template)
        expect(hex(encodeTbsCertificate(certificate))).toBe(hex(certificate.tbsCertificate))
      }),
    )
  })
})

describe("documents changed after encoding", () => {
  const likely = [0x00, 0x01, 0x02, 0x0c, 0x13, 0x14, 0x16, 0x1c, 0x1e, 0x30, 0x31, 0x80, 0xff]
  const octet = oneof(nat({ max: 255 }), constantFrom(...likely))
  const changes = array(record({ at: nat(), octet }), { minLength: 1, maxLength: 3 })

  function changed<Made>(made: Arbitrary<Made>, write: (made: Made) => Uint8Array): Arbitrary<Uint8Array> {
    return record({ made, changes }).map((input) => {
      const der = Uint8Array.from(write(input.made))
      for (const change of input.changes) der[change.at % der.length] = change.octet
      return der
    })
  }

  /** Returns the parsed value, or undefined if the input was properly refused. */
  function accepted<Read>(read: (octets: Uint8Array) => Read, der: Uint8Array): Read | undefined {
    try {
      return read(der)
    } catch (error) {
      if (error instanceof MalformedDer) return undefined
      throw error
    }
  }

  /** Excludes years below 100, which `pkijs` takes for those of the last century. */
  const isInReach = ({ notBefore, notAfter }: theirs.ReadCertificate) => Math.min(notBefore, notAfter) >= Date.UTC(100)

  test("are rejected, or parsed as pkijs parses them: certificates", () => {
    let count = 0
    assert(
      property(changed(madeCertificate, certificateOf), (der) => {
        const read = accepted(ours.readCertificate, der)
        if (read === undefined || !isInReach(read)) return
        count += 1
        expect(theirs.readCertificate(der)).toEqual(read)
      }),
      { numRuns: 1_000 },
    )
    expect(count).toBeGreaterThan(50)
  })

  test("are rejected, or parsed as pkijs parses them: requests", () => {
    let count = 0
    assert(
      property(changed(madeRequest, requestOf), (der) => {
        const read = accepted(ours.readRequest, der)
        if (read === undefined) return
        count += 1
        expect(theirs.readRequest(der)).toEqual(read)
      }),
      { numRuns: 1_000 },
    )
    expect(count).toBeGreaterThan(50)
  })

  test("are rejected when truncated anywhere", () => {
    assert(
      property(madeCertificate, madeRequest, nat(), (certificate, request, cut) => {
        const [one, other] = [certificateOf(certificate), requestOf(request)]
        expect(accepted(ours.readCertificate, one.subarray(0, cut % one.length))).toBeUndefined()
        expect(accepted(ours.readRequest, other.subarray(0, cut % other.length))).toBeUndefined()
      }),
    )
  })
})
