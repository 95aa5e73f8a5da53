import { expect, test } from "vitest"
import { addressBounds, isWithinBound, parseBound } from "./address-bounds.ts"

test.each<{ bounds: readonly string[]; address: string | undefined; allowed: boolean; why: string }>([
  { bounds: [], address: undefined, allowed: true, why: "there are no bounds" },
  { bounds: [], address: "192.0.2.1", allowed: true, why: "there are no bounds" },
  { bounds: ["10.0.0.0/8"], address: "10.255.0.1", allowed: true, why: "it is in the range" },
  { bounds: ["10.0.0.0/8"], address: "11.0.0.1", allowed: false, why: "it is in no range" },
  { bounds: ["10.0.0.0/8", "192.0.2.7"], address: "192.0.2.7", allowed: true, why: "it is the bound address" },
  { bounds: ["192.0.2.7"], address: "192.0.2.8", allowed: false, why: "it is another address" },
  { bounds: ["10.0.0.0/8"], address: "::ffff:10.0.0.1", allowed: true, why: "it is the same address, written as IPv6" },
  { bounds: ["0.0.0.0/0"], address: "2001:db8::1", allowed: false, why: "an IPv4 range contains no IPv6 addresses" },
  { bounds: ["2001:db8::/32"], address: "2001:db8:1::1", allowed: true, why: "it is in the range" },
  { bounds: ["0.0.0.0/0", "::/0"], address: undefined, allowed: false, why: "the address is unknown" },
  { bounds: ["10.0.0.0/8"], address: "unknown", allowed: false, why: "it is not an address" },
])("$bounds allow $address: $allowed, because $why", ({ bounds, address, allowed }) => {
  expect(addressBounds(bounds)(address)).toBe(allowed)
})

test.each<[inner: string, outer: string, within: boolean]>([
  ["10.1.0.0/16", "10.0.0.0/8", true],
  ["10.0.0.0/8", "10.0.0.0/8", true],
  ["10.0.0.0/8", "10.1.0.0/16", false],
  ["11.0.0.0/16", "10.0.0.0/8", false],
  ["10.1.2.3", "10.0.0.0/8", true],
  ["::1", "0.0.0.0/0", false],
])("%s is within %s: %s", (inner, outer, within) => {
  const [one, other] = [parseBound(inner), parseBound(outer)]
  expect(one && other && isWithinBound(one, other)).toBe(within)
})
