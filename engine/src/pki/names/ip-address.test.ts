import { BlockList, isIP } from "node:net"
import { expect, test } from "vitest"
import * as fc from "fast-check"
import { formatIpAddress, isInRange, parseIpAddress, parseIpRange } from "./ip-address.ts"

const canonical = (text: string) => {
  const octets = parseIpAddress(text)
  return octets && formatIpAddress(octets)
}

test.each([
  { text: "192.0.2.1", expected: "192.0.2.1", why: "IPv4" },
  { text: "0.0.0.0", expected: "0.0.0.0", why: "zero octets" },
  { text: "192.0.2.01", expected: undefined, why: "a leading zero, which some parsers read as octal" },
  { text: "192.0.2", expected: undefined, why: "three parts" },
  { text: "192.0.2.256", expected: undefined, why: "an octet above 255" },
  { text: "192.0.2.1 ", expected: undefined, why: "a space" },
  { text: "", expected: undefined, why: "an empty string" },
  {
    text: "2001:DB8:0:0:1:0:0:1",
    expected: "2001:db8::1:0:0:1",
    why: "the first of two equal runs of zeros is compressed",
  },
  { text: "2001:db8::1:1:1:1:1", expected: "2001:db8:0:1:1:1:1:1", why: "a single zero group is not compressed" },
  { text: "::", expected: "::", why: "the unspecified address" },
  { text: "::1", expected: "::1", why: "loopback" },
  { text: "1::", expected: "1::", why: "zeros at the end" },
  { text: "::ffff:192.0.2.1", expected: "192.0.2.1", why: "IPv4 in IPv6 is IPv4" },
  { text: "::ffff:c000:201", expected: "192.0.2.1", why: "IPv4 in IPv6 is IPv4" },
  { text: "64:ff9b::192.0.2.33", expected: "64:ff9b::c000:221", why: "dots in the last group" },
  { text: "::192.0.2.1:1", expected: undefined, why: "dots before the last group" },
  { text: "192.0.2.1::", expected: undefined, why: "dots before the last group" },
  { text: "1::2::3", expected: undefined, why: "two compressed runs" },
  { text: "1:2:3:4:5:6:7:8:9", expected: undefined, why: "nine groups" },
  { text: "1:2:3:4::5:6:7:8", expected: undefined, why: '"::" without a group to compress' },
  { text: ":1:2:3:4:5:6:7", expected: undefined, why: "an empty group" },
  { text: "12345::", expected: undefined, why: "five digits" },
  { text: "fe80::1%eth0", expected: undefined, why: "a zone" },
  { text: "[::1]", expected: undefined, why: "brackets" },
])('"$text" is the address $expected: $why', ({ text, expected }) => {
  expect(canonical(text)).toBe(expected)
})

const addresses = fc.oneof(fc.ipV4(), fc.ipV6())

test("an address is accepted when the platform accepts it, and formatted alike", () => {
  fc.assert(
    fc.property(
      fc.oneof(addresses, fc.string({ unit: fc.constantFrom(..."0123af:.".split("")), maxLength: 20 })),
      (text) => {
        const octets = parseIpAddress(text)
        expect(octets !== undefined).toBe(isIP(text) !== 0)
        if (octets === undefined) return
        const written = formatIpAddress(octets)
        expect(parseIpAddress(written)).toEqual(octets)
        expect(new URL(`http://${octets.length === 4 ? written : `[${written}]`}/`).hostname).toBe(
          octets.length === 4 ? written : `[${written}]`,
        )
      },
    ),
  )
})

test.each([
  { range: "10.0.0.0/8", address: "10.255.0.1", inside: true, why: "the first octet is the same" },
  { range: "10.0.0.0/8", address: "11.0.0.0", inside: false, why: "the first octet differs" },
  { range: "10.0.0.77/24", address: "10.0.0.1", inside: true, why: "host bits do not count" },
  { range: "0.0.0.0/0", address: "203.0.113.9", inside: true, why: "all of IPv4" },
  { range: "0.0.0.0/0", address: "::1", inside: false, why: "an IPv6 address in an IPv4 range" },
  { range: "::/0", address: "10.0.0.1", inside: false, why: "an IPv4 address in an IPv6 range" },
  { range: "10.0.0.0/8", address: "::ffff:10.1.2.3", inside: true, why: "an IPv4 address in another spelling" },
  { range: "::ffff:10.0.0.0/104", address: "10.1.2.3", inside: true, why: "a range in another spelling" },
  { range: "2001:db8::/33", address: "2001:db8:7fff::", inside: true, why: "a prefix inside an octet" },
  { range: "2001:db8::/33", address: "2001:db8:8000::", inside: false, why: "the bit after the prefix" },
])("$address is in $range: $inside ($why)", ({ range, address, inside }) => {
  expect(isInRange(parseIpAddress(address)!, parseIpRange(range)!)).toBe(inside)
})

test.each(["10.0.0.0", "10.0.0.0/33", "10.0.0.0/08", "::/129", "10.0.0/8", "/8", "10.0.0.0/", "::ffff:0:0/95"])(
  "%s is not a range",
  (text) => {
    expect(parseIpRange(text)).toBeUndefined()
  },
)

test("an address is in a range when the platform's block list contains it", () => {
  const ranges = fc.oneof(
    fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 32 }), fc.ipV4()),
    fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 4 }), fc.ipV4()),
  )
  fc.assert(
    fc.property(ranges, ([network, prefix, address]) => {
      const list = new BlockList()
      list.addSubnet(network, prefix)
      expect(isInRange(parseIpAddress(address)!, parseIpRange(`${network}/${prefix}`)!)).toBe(list.check(address))
    }),
  )
})
