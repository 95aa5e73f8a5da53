import { assert, property, uint8Array } from "fast-check"
import { expect, test } from "vitest"
import { formatIpAddress, parseIpAddress } from "../../pki/names/ip-address.ts"
import { type AddressKind, isPermitted, kindOf, parsePermittedAddresses } from "./address-guard.ts"

const permitted = (text: string) => {
  const parsed = parsePermittedAddresses(text)
  if (parsed === undefined) throw new Error(`${text} is not read`)
  return parsed
}

test.each<[AddressKind, readonly string[]]>([
  ["public", ["8.8.8.8", "192.0.1.1", "172.32.0.1", "2606:4700::1111", "64:ff9b::808:808", "2002:808:808::1"]],
  ["private", ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "fd00::1", "fc00::1"]],
  ["loopback", ["127.0.0.1", "127.255.255.254", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::1"]],
  ["link-local", ["169.254.0.1", "169.254.255.255", "fe80::1", "febf::1"]],
  [
    "metadata",
    [
      "169.254.169.254",
      "::ffff:169.254.169.254",
      "64:ff9b::a9fe:a9fe",
      "fd00:ec2::254",
      "100.100.100.200",
      "168.63.129.16",
    ],
  ],
  ["multicast", ["224.0.0.1", "239.255.255.255", "ff02::1"]],
  ["unspecified", ["0.0.0.0", "0.1.2.3", "::"]],
  [
    "reserved",
    [
      "255.255.255.255",
      "240.0.0.1",
      "192.0.2.1",
      "198.18.0.1",
      "2001::1",
      "2001:db8::1",
      "fec0::1",
      "::2",
      "100::1",
      "5f00::1",
    ],
  ],
])("%s addresses are recognized in all notations", (kind, addresses) => {
  for (const address of addresses) {
    const octets = parseIpAddress(address)
    expect([address, octets && kindOf(octets)]).toEqual([address, kind])
  }
})

test("[F-W8] an excluded range is never permitted", () => {
  const terms = {
    ...permitted("private,192.0.2.0/24"),
    excluded: permitted("10.1.0.0/16,192.0.2.7/32,8.8.8.8/32").ranges,
  }
  const addresses = ["10.0.0.1", "10.1.0.1", "192.0.2.1", "192.0.2.7", "8.8.4.4", "8.8.8.8", "::ffff:10.1.0.1"]
  expect(addresses.filter((address) => isPermitted(address, terms))).toEqual(["10.0.0.1", "192.0.2.1", "8.8.4.4"])
})

test.each([
  { permit: "none", yes: ["8.8.8.8"], no: ["10.0.0.1", "127.0.0.1", "169.254.169.254", "::1", "nonsense", ""] },
  { permit: "private", yes: ["10.0.0.1", "fd00::1"], no: ["127.0.0.1", "169.254.0.1", "fd00:ec2::254"] },
  { permit: "private, loopback", yes: ["10.0.0.1", "127.0.0.1", "::1", "::ffff:127.0.0.1"], no: ["169.254.169.254"] },
  { permit: "link-local", yes: ["169.254.1.1", "fe80::1"], no: ["169.254.169.254", "10.0.0.1"] },
  { permit: "169.254.169.254/32", yes: ["169.254.169.254"], no: ["169.254.169.253"] },
  { permit: "10.1.0.0/16,fd12::/16", yes: ["10.1.2.3", "::ffff:10.1.2.3", "fd12::1"], no: ["10.2.0.1", "fd13::1"] },
])("with $permit only the named non-public addresses are permitted", ({ permit, yes, no }) => {
  for (const address of yes) expect([address, isPermitted(address, permitted(permit))]).toEqual([address, true])
  for (const address of no) expect([address, isPermitted(address, permitted(permit))]).toEqual([address, false])
})

test.each(["", "public", "private loopback", "10.0.0.0", "10.0.0.0/33", "private,,loopback"])(
  "%j is not a valid setting of permitted addresses",
  (text) => {
    expect(parsePermittedAddresses(text)).toBeUndefined()
  },
)

test("an IPv4-mapped address has the kind of its IPv4 address", () => {
  assert(
    property(uint8Array({ minLength: 4, maxLength: 4 }), (octets) => {
      const text = formatIpAddress(octets)
      for (const permit of ["none", "private", "loopback"]) {
        expect(isPermitted(`::ffff:${text}`, permitted(permit))).toBe(isPermitted(text, permitted(permit)))
      }
    }),
  )
})
