import { expect, test } from "vitest"
import { parseListenAddress, urlOf } from "./listen-address.ts"

test.each([
  ["127.0.0.1:8420", { host: "127.0.0.1", port: 8420 }],
  ["localhost:0", { host: "localhost", port: 0 }],
  ["[::1]:8420", { host: "::1", port: 8420 }],
  [":8420", { host: "::", port: 8420 }],
  ["unix:/run/chancery.sock", { path: "/run/chancery.sock" }],
  ["127.0.0.1", undefined],
  ["127.0.0.1:65536", undefined],
  ["127.0.0.1:port", undefined],
  ["::1:8420", undefined],
  ["[chancery]:8420", undefined],
  ["unix:", undefined],
  ["", undefined],
])("the listen address %j is parsed to %j", (text, address) => {
  expect(parseListenAddress(text)).toEqual(address)
})

test.each([
  [{ host: "127.0.0.1", port: 8420 }, "http", "http://127.0.0.1:8420"],
  [{ host: "::1", port: 8420 }, "https", "https://[::1]:8420"],
  [{ path: "/run/chancery.sock" }, "http", "unix:/run/chancery.sock"],
] as const)("the url of %o over %s is %s", (address, scheme, url) => {
  expect(urlOf(address, scheme)).toBe(url)
})
