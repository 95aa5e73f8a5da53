import * as fc from "fast-check"
import { expect, test } from "vitest"
import { seededRandom } from "../../testing/seeded-random.ts"
import {
  keptSerialNumber,
  newSerialNumber,
  parseSerialNumber,
  serialNumberOctets,
  serialNumberOf,
} from "./serial-number.ts"

test("a new serial number consists of the random bits without the sign bit", () => {
  const drawn = Uint8Array.from({ length: 20 }, (_, index) => 0xf0 + (index % 16))
  expect(newSerialNumber({ bytes: () => drawn.slice() })).toBe(
    "70:f1:f2:f3:f4:f5:f6:f7:f8:f9:fa:fb:fc:fd:fe:ff:f0:f1:f2:f3",
  )
})

test("a stored serial number is read unchanged, and other text is rejected", () => {
  const [kept] = ["4f:00:a1"].map(parseSerialNumber)
  expect(keptSerialNumber(serialNumberOctets(kept!))).toBe(kept)
  for (const octets of [new Uint8Array(), new Uint8Array(20), new Uint8Array(21).fill(1)])
    expect(() => keptSerialNumber(octets)).toThrow("is not valid")
})

test("new serial numbers are positive, at most 20 octets, and do not repeat", () => {
  const random = seededRandom(3)
  const drawn = Array.from({ length: 5_000 }, () => newSerialNumber(random))
  expect(new Set(drawn).size).toBe(drawn.length)
  for (const serialNumber of drawn) {
    const octets = serialNumberOctets(serialNumber)
    expect(octets.length).toBeLessThanOrEqual(20)
    expect(octets[0]).toBeGreaterThan(0)
    expect(octets.length < 20 || octets[0]! < 0x80).toBe(true)
    expect(parseSerialNumber(serialNumber)).toBe(serialNumber)
  }
})

test("newSerialNumber throws when the random source returns only zeros", () => {
  expect(() => newSerialNumber({ bytes: (count) => new Uint8Array(count) })).toThrow("nothing but zeros")
})

test.each([
  { text: "4f:00:a1", serialNumber: "4f:00:a1" },
  { text: "4F-00-A1", serialNumber: "4f:00:a1" },
  { text: "07", serialNumber: "07" },
  { text: "00:c0:01", serialNumber: "c0:01" },
  { text: `00${":ff".repeat(20)}`, serialNumber: "ff:".repeat(20).slice(0, -1) },
])("$text is the serial number $serialNumber", ({ text, serialNumber }) => {
  expect(parseSerialNumber(text)).toBe(serialNumber)
})

test.each([
  { text: "", why: "nothing" },
  { text: "00", why: "zero" },
  { text: "00:00", why: "zero" },
  { text: "4f00a1", why: "octets that are not joined" },
  { text: "4f:0:a1", why: "half an octet" },
  { text: "4f:00-a1", why: "both separators" },
  { text: "4f:00:a1:", why: "a separator at the end" },
  { text: ":4f", why: "a separator at the start" },
  { text: "4g", why: "no hex" },
  { text: "-4f", why: "a sign" },
  { text: " 4f", why: "a space" },
  { text: "4f\n", why: "a newline" },
  { text: "01".repeat(21).match(/../g)!.join(":"), why: "21 octets" },
  { text: "00:".repeat(100_000), why: "no end of zeros" },
])("parseSerialNumber returns undefined for $why", ({ text }) => {
  expect(parseSerialNumber(text)).toBeUndefined()
})

test("octets and text are two forms of one number", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 0, maxLength: 24 }), (octets) => {
      const significant = octets.slice(octets.findIndex((octet) => octet !== 0))
      const isZero = octets.every((octet) => octet === 0)
      const serialNumber = serialNumberOf(octets)
      expect(serialNumber === undefined).toBe(isZero || significant.length > 20)
      if (serialNumber === undefined) return
      expect(Uint8Array.from(serialNumberOctets(serialNumber))).toEqual(significant)
      expect(parseSerialNumber(serialNumber.toUpperCase().replaceAll(":", "-"))).toBe(serialNumber)
    }),
  )
})
