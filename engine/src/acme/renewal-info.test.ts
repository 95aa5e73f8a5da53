import { describe, expect, test } from "vitest"
import { dayMs } from "../core/time.ts"
import type { SerialNumber } from "../x509/serial-number.ts"
import { readCertificateId, renewalWindow } from "./renewal-info.ts"

test("a certificate is named as RFC 9773, section 4.1, names one", () => {
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
  ])("the serial number of the octets %s is %s", (octets, serialNumber) => {
    expect(readCertificateId(idOf(octets)).serialNumber).toBe(serialNumber)
  })

  test.each(["007f", "0001", "000080", "80", "ff01", "00", "0000", `01${"00".repeat(20)}`])(
    "the octets %s are no serial number in DER",
    (octets) => {
      expect(() => readCertificateId(idOf(octets))).toThrow(expect.objectContaining({ status: 400 }))
    },
  )
})

test.each(["", "a", "a.", ".a", "a.b.c", "aYhba4dGQEHhs3uEe6CuLN4ByNQ=.AIdlQyE", "aYhb.AA", "aYhb.AIdlQyF"])(
  "%j names none",
  (text) => {
    expect(() => readCertificateId(text)).toThrow(expect.objectContaining({ status: 400 }))
  },
)

describe("the window in which a certificate is best renewed", () => {
  const life = { notBefore: 0, notAfter: 90 * dayMs }
  const serialNumber = "01:ff" as SerialNumber
  test.each(["01:00", "01:7f", "01:ff"] as SerialNumber[])(
    "opens at two thirds of its life, and closes while a ninth is left: %s",
    (serial) => {
      const { start, end } = renewalWindow(life, { now: 0, isDue: false, serialNumber: serial })
      expect(start).toBe(60 * dayMs)
      expect(end).toBeGreaterThanOrEqual(70 * dayMs)
      expect(end).toBeLessThanOrEqual(80 * dayMs)
    },
  )
  test("lies behind where it is due at once", () => {
    const { start, end } = renewalWindow(life, { now: dayMs, isDue: true, serialNumber })
    expect(start).toBeLessThan(end)
    expect(end).toBeLessThan(dayMs)
  })
  const wanted = { raisedAt: dayMs, renewBy: 2 * dayMs, explanationUrl: "https://ca.example/why" }
  test("is that of a signal where one wants it sooner", () => {
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
