import { expect, test } from "vitest"
import { dialectOf } from "./dialect.ts"

test.each<[dialect: string, headers: Record<string, string>]>([
  ["native", {}],
  ["native", { "x-service-token": "t" }],
  ["native", { "x-service-token": "t", "x-vault-token": "t" }],
  ["native", { "x-service-token": "t", "x-vault-request": "true" }],
  ["native", { "x-service-token": "t", authorization: "Bearer t" }],
  ["native", { "x-service-token": "", "x-vault-token": "t" }],
  ["vault", { "x-vault-token": "t" }],
  ["vault", { "x-vault-request": "true" }],
  ["vault", { authorization: "Bearer t" }],
  ["vault", { authorization: "bearer  t" }],
  ["native", { authorization: "Basic cm9vdDpyb290" }],
  ["native", { authorization: "Bearer" }],
  ["native", { "x-vault-namespace": "root" }],
])("[F-P12] the dialect is %s when the headers are %j", (dialect, headers) => {
  expect(dialectOf(new Headers(headers))).toBe(dialect)
})
