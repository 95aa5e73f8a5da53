import { expect, test } from "vitest"
import { CommandError } from "./exit-code.ts"
import { tlsAddressOf } from "./tls-address.ts"

const host = "127.0.0.1"

test.each([
  { why: "the port after", listen: { host, port: 8420 }, tlsListen: "next", expected: { host, port: 8421 } },
  { why: "a free port beside a free port", listen: { host, port: 0 }, tlsListen: "next", expected: { host, port: 0 } },
  { why: "nothing beside a local socket", listen: { path: "/run/x.sock" }, tlsListen: "next", expected: undefined },
  { why: "nothing when it is off", listen: { host, port: 8420 }, tlsListen: "off", expected: undefined },
  {
    why: "what is named",
    listen: { path: "/run/x.sock" },
    tlsListen: { host: "::1", port: 443 },
    expected: { host: "::1", port: 443 },
  },
] as const)("HTTPS is served beside HTTP on $why", ({ listen, tlsListen, expected }) => {
  expect(tlsAddressOf({ listen, tlsListen })).toEqual(expected)
})

test("after the last port there is none", () => {
  expect(() => tlsAddressOf({ listen: { host, port: 65_535 }, tlsListen: "next" })).toThrow(CommandError)
})
