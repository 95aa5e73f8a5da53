import { describe, expect, test } from "vitest"
import type { ApiRoute, Operation } from "../vault/vault-route.ts"
import { routerOf } from "./router.ts"

const route = (operation: Operation, path: string, more: Partial<ApiRoute<unknown>> = {}): ApiRoute<unknown> => ({
  operation,
  path,
  ...more,
  handle: () => Promise.reject(new Error("not called")),
})

const byOperation = { key: ({ operation }: ApiRoute<unknown>) => operation }

const find = routerOf(
  [
    route("list", "/roles"),
    route("read", "/roles/:name"),
    route("write", "/roles/:name"),
    route("read", "/cert/:serial"),
    route("read", "/cert/ca"),
    route("read", "/cert/:serial/raw/pem"),
    route("write", "/issuer/:issuer_ref/issue/:name"),
    route("read", "/issuer/:issuer_ref/json"),
    route("read", "/ocsp/*request", { raw: true }),
    route("read", "/sys/mounts"),
    route("read", "/sys/mounts/*path"),
    route("write", "/sys/mounts/*path/tune"),
  ],
  byOperation,
)

const found = (address: string) => {
  const match = find(address.split("/"))
  return match && [match.pattern, match.params]
}

test("the route pattern contains the patterns of nested routers", () => {
  const below = (address: string) => find.below(address === "" ? [] : address.split("/")).map(({ pattern }) => pattern)
  expect(below("")).toHaveLength(11)
  expect(below("cert")).toEqual(["/cert/:serial", "/cert/ca", "/cert/:serial/raw/pem"])
  expect(below("issuer/default")).toEqual(["/issuer/:issuer_ref/issue/:name", "/issuer/:issuer_ref/json"])
  expect([below("roles/web"), below("role"), below("ocsp/a")]).toEqual([[], [], []])
})

describe("a path", () => {
  test.each<[address: string, pattern: string, params: Record<string, string>]>([
    ["roles", "/roles", {}],
    ["roles/web", "/roles/:name", { name: "web" }],
    ["roles/caf%C3%A9", "/roles/:name", { name: "café" }],
    ["roles/a%2Fb", "/roles/:name", { name: "a/b" }],
    ["%72oles/web", "/roles/:name", { name: "web" }],
    ["cert/ca", "/cert/ca", {}],
    ["cert/01:02", "/cert/:serial", { serial: "01:02" }],
    ["cert/ca/raw/pem", "/cert/:serial/raw/pem", { serial: "ca" }],
    ["issuer/default/issue/web", "/issuer/:issuer_ref/issue/:name", { issuer_ref: "default", name: "web" }],
    ["ocsp/MEQwQjA//A8%2FwPDA+/", "/ocsp/*request", { request: "MEQwQjA//A8%2FwPDA+/" }],
    ["sys/mounts", "/sys/mounts", {}],
    ["sys/mounts/pki", "/sys/mounts/*path", { path: "pki" }],
    ["sys/mounts/team/pki", "/sys/mounts/*path", { path: "team/pki" }],
    ["sys/mounts/team%2Fpki", "/sys/mounts/*path", { path: "team/pki" }],
    ["sys/mounts/team/pki/tune", "/sys/mounts/*path/tune", { path: "team/pki" }],
    ["sys/mounts/tune", "/sys/mounts/*path", { path: "tune" }],
    ["sys/mounts/tune/tune", "/sys/mounts/*path/tune", { path: "tune" }],
  ])("%s is %s", (address, pattern, params) => {
    expect(found(address)).toEqual([pattern, params])
  })

  test.each([
    "",
    "role",
    "roles/",
    "roles/a/b",
    "roles/%00",
    "roles/%zz",
    "roles/%ff",
    "cert",
    "cert/a/raw",
    "ocsp",
    "issuer//issue/web",
    "sys",
    "a/".repeat(5_000),
  ])("%j matches no route", (address) => {
    expect(found(address)).toBeUndefined()
  })

  test("allows every method of its pattern", () => {
    expect([...(find(["roles", "web"])?.routes.keys() ?? [])]).toEqual(["read", "write"])
  })
})

describe("a route table is rejected", () => {
  test.each([
    ["the same endpoint twice", [route("read", "/a/:b"), route("read", "/a/:b")]],
    ["two parameter names for one path", [route("read", "/a/:b"), route("write", "/a/:c")]],
  ])("for %s", (_why, routes) => {
    expect(() => routerOf(routes, byOperation)).toThrow(/two routes|one address/)
  })
})
