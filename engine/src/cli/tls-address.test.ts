import { expect, test } from "vitest"
import { CommandError } from "./exit-code.ts"
import { tlsAddressOf } from "./tls-address.ts"

const host = "127.0.0.1"

test.each([
  { why: "the next port", listen: { host, port: 8420 }, tlsListen: "next", expected: { host, port: 8421 } },
  { why: "a free port when HTTP does", listen: { host, port: 0 }, tlsListen: "next", expected: { host, port: 0 } },
  {
    why: "no address when HTTP uses a unix socket",
    listen: { path: "/run/x.sock" },
    tlsListen: "next",
    expected: undefined,
  },
  { why: "no address when it is off", listen: { host, port: 8420 }, tlsListen: "off", expected: undefined },
  {
    why: "the address that is set",
    listen: { path: "/run/x.sock" },
    tlsListen: { host: "::1", port: 443 },
    expected: { host: "::1", port: 443 },
  },
] as const)("HTTPS listens on $why", ({ listen, tlsListen, expected }) => {
  expect(tlsAddressOf({ listen, tlsListen })).toEqual(expected)
})

test("HTTPS needs an address when HTTP listens on the last port", () => {
  expect(() => tlsAddressOf({ listen: { host, port: 65_535 }, tlsListen: "next" })).toThrow(CommandError)
})
