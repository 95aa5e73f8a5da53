import { describe, expect, test } from "vitest"
import { dayMs, hourMs, minuteMs, secondMs } from "../../core/time.ts"
import type { SerialNumber } from "../../x509/serial-number.ts"
import { readCertificateId, renewalWindow } from "./renewal-info.ts"

test("readCertificateId reads the example of RFC 9773, section 4.1", () => {
  const { keyIdentifier, serialNumber } = readCertificateId("aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE")
  expect(Buffer.from(keyIdentifier).toString("hex")).toBe("69885b6b87464041e1b37b847ba0ae2cde01c8d4")
  expect(serialNumber).toBe("87:65:43:21")
})

describe("[F-A2] a certificate has one identifier (RFC 9773, section 4.1; X.690, section 8.3.2)", () => {
  const key = "aYhba4dGQEHhs3uEe6CuLN4ByNQ"
  const idOf = (serialNumber: string) => `${key}.${Buffer.from(serialNumber, "hex").toString("base64url")}`

  test.each([
    ["7f", "7f"],
    ["0080", "80"],
    ["01", "01"],
    ["00ff01", "ff:01"],
    ["1000", "10:00"],
  ])("the serial number with the octets %s is %s", (octets, serialNumber) => {
    expect(readCertificateId(idOf(octets)).serialNumber).toBe(serialNumber)
  })

  test.each(["007f", "0001", "000080", "80", "ff01", "00", "0000", `01${"00".repeat(20)}`])(
    "the octets %s are rejected as a serial number",
    (octets) => {
      expect(() => readCertificateId(idOf(octets))).toThrow(expect.objectContaining({ status: 400 }))
    },
  )
})

test.each(["", "a", "a.", ".a", "a.b.c", "aYhba4dGQEHhs3uEe6CuLN4ByNQ=.AIdlQyE", "aYhb.AA", "aYhb.AIdlQyF"])(
  "the identifier %j is rejected",
  (text) => {
    expect(() => readCertificateId(text)).toThrow(expect.objectContaining({ status: 400 }))
  },
)

describe("the renewal window", () => {
  const life = { notBefore: 0, notAfter: 90 * dayMs }
  const serialNumber = "01:ff" as SerialNumber
  test.each(["01:00", "01:7f", "01:ff"] as SerialNumber[])(
    "opens at two thirds of the lifetime, and closes while a ninth is left: %s",
    (serial) => {
      const { start, end } = renewalWindow(life, { now: 0, isDue: false, serialNumber: serial })
      expect(start).toBe(60 * dayMs)
      expect(end).toBeGreaterThanOrEqual(70 * dayMs)
      expect(end).toBeLessThanOrEqual(80 * dayMs)
    },
  )
  test("is in the past when the renewal is due", () => {
    const { start, end } = renewalWindow(life, { now: dayMs, isDue: true, serialNumber })
    expect(start).toBeLessThan(end)
    expect(end).toBeLessThan(dayMs)
  })
  describe.each([minuteMs, hourMs, dayMs, 90 * dayMs])(
    "[F-A3] [F-A11] of a certificate with a lifetime of %i ms",
    (lifeMs) => {
      const [notBefore, notAfter] = [dayMs, dayMs + lifeMs]
      const signal = { raisedAt: notBefore, renewBy: notBefore + lifeMs / 2, explanationUrl: null }
      test.each([
        ["usual", { now: notBefore, isDue: false }],
        ["due at its beginning", { now: notBefore + 10 * secondMs, isDue: true }],
        ["due in its middle", { now: notBefore + lifeMs / 2, isDue: true }],
        ["due after its end", { now: notAfter + dayMs, isDue: true }],
        ["wanted by a signal", { now: notBefore, isDue: false, signal }],
      ])("is inside the lifetime: %s", (_how, asked) => {
        for (const serial of ["01:00", "01:ff"] as SerialNumber[]) {
          const { start, end, retryAfterMs } = renewalWindow(
            { notBefore, notAfter },
            { ...asked, serialNumber: serial },
          )
          expect(start).toBeGreaterThanOrEqual(notBefore)
          expect(end).toBeGreaterThan(start)
          expect(end).toBeLessThanOrEqual(notAfter)
          expect(retryAfterMs).toBe(Math.min(6 * hourMs, Math.max(secondMs, lifeMs / 24)))
        }
      })
    },
  )

  test.each([1, 2, 3])("[F-A3] of a certificate with a lifetime of %i seconds is inside the lifetime", (seconds) => {
    const life = { notBefore: dayMs, notAfter: dayMs + seconds * secondMs }
    const { start, end } = renewalWindow(life, { now: dayMs, isDue: false, serialNumber })
    expect(start).toBeGreaterThanOrEqual(life.notBefore)
    expect(end).toBe(start + secondMs)
    expect(end).toBeLessThanOrEqual(life.notAfter)
  })

  const wanted = { raisedAt: dayMs, renewBy: 2 * dayMs, explanationUrl: "https://ca.example/why" }
  test("is that of a renewal signal with an earlier deadline", () => {
    const asked = { now: dayMs, isDue: false, serialNumber }
    expect(renewalWindow(life, { ...asked, signal: wanted })).toMatchObject({
      start: dayMs,
      end: 2 * dayMs,
      explanationUrl: "https://ca.example/why",
    })
    expect(renewalWindow(life, { ...asked, signal: { ...wanted, renewBy: dayMs } })).toMatchObject({
      start: dayMs - 3_601_000,
      end: dayMs - 1_000,
    })
    const late = { ...wanted, renewBy: 85 * dayMs }
    expect(renewalWindow(life, { ...asked, signal: late })).toMatchObject({ start: 60 * dayMs })
  })
})
