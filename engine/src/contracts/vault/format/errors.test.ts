import { describe, expect, test } from "vitest"
import {
  badRequest,
  busy,
  conflict,
  EngineError,
  type EngineErrorCode,
  forbidden,
  invalid,
  notFound,
  unauthenticated,
  unprocessable,
} from "../../../core/errors.ts"
import { decodeError, encodeError } from "./errors.ts"

function decoded(error: EngineError, names: Record<string, string> = {}): EngineError {
  const { status, document, headers } = encodeError(error)
  return decodeError({ status, document, header: (name) => headers[name] }, names)
}

describe("an error", () => {
  test.each<[error: EngineError, status: number, errors: string[]]>([
    [badRequest("the body is not valid JSON"), 400, ["the body is not valid JSON"]],
    [unprocessable("unknown role: web"), 400, ["unknown role: web"]],
    [unauthenticated(), 403, ["permission denied"]],
    [forbidden("permission denied"), 403, ["permission denied"]],
    [notFound("web"), 404, []],
    [new EngineError("not-found", "unsupported path"), 404, ["unsupported path"]],
    [conflict("path is already in use at pki/"), 409, ["path is already in use at pki/"]],
    [busy("try again"), 503, ["try again"]],
    [new EngineError("out-of-service", "sealed"), 503, ["sealed"]],
    [new EngineError("internal", "x".repeat(5_000)), 500, [`${"x".repeat(1_000)}…`]],
  ])("%s answers %i", (error, status, errors) => {
    expect(encodeError(error)).toMatchObject({ status, document: { errors } })
  })

  test("has one sentence per fault with the wire name of the parameter", () => {
    const error = invalid([
      { field: ["maxTtlMs"], detail: "must not be negative" },
      { field: ["ttlMs"], detail: '"ttl" value must be less than "max_ttl" value' },
      { field: ["ttlMs"], detail: "must not throttle" },
      { field: ["allowedDomains", 3], detail: "is no name" },
      { field: ["isOn"], detail: "must be on" },
      { detail: "names nothing" },
    ])
    const { document, headers } = encodeError(error, { isOn: "enabled" })
    expect(document.errors).toEqual([
      "max_ttl: must not be negative",
      '"ttl" value must be less than "max_ttl" value',
      "ttl: must not throttle",
      "allowed_domains: is no name",
      "enabled: must be on",
      "names nothing",
    ])
    expect(headers).toEqual({
      "x-error-code": "invalid",
      "x-error-fields": "max_ttl,ttl,ttl,allowed_domains/3,enabled,",
    })
  })

  test("has the first hundred of many faults", () => {
    const faults = Array.from({ length: 1_000 }, (_, index) => ({ field: ["altNames", index], detail: "is no name" }))
    expect(encodeError(invalid(faults)).document.errors).toHaveLength(100)
  })

  test("has a Retry-After header when the engine is busy", () => {
    expect(encodeError(busy("try again")).headers).toMatchObject({ "retry-after": "1" })
  })
})

describe("an error of the remote engine", () => {
  const codes: readonly EngineErrorCode[] = [
    "bad-request",
    "unauthenticated",
    "forbidden",
    "conflict",
    "precondition-failed",
    "too-large",
    "unsupported-media-type",
    "unprocessable",
    "rate-limited",
    "pending",
    "busy",
    "out-of-service",
    "internal",
  ]
  test.each(codes)("equals the engine's error with code %s", (code) => {
    const error = code === "unauthenticated" ? unauthenticated() : new EngineError(code, "a sentence")
    expect(decoded(error)).toMatchObject({ code, message: error.message, faults: [] })
  })

  test("equals the engine's error when a resource is not found", () => {
    expect(decoded(notFound("web"))).toMatchObject({ code: "not-found", message: notFound().message })
    expect(decoded(new EngineError("not-found", "unsupported path"))).toMatchObject({ message: "unsupported path" })
  })

  test("has the same faults on the same fields", () => {
    const faults = [
      { field: ["maxTtlMs"], detail: "must not be negative" },
      { field: ["issuerRef"], detail: '"issuer_ref" names nothing' },
      { field: ["allowedDomains", 3], detail: "is no name" },
      { detail: "names nothing" },
    ]
    expect(decoded(invalid(faults), { max_ttl: "maxTtlMs" }).faults).toEqual(faults)
  })

  test("has a code by its status when the server sends no code", () => {
    const header = () => undefined
    expect(decodeError({ status: 403, document: { errors: ["permission denied"] }, header })).toMatchObject({
      code: "forbidden",
      message: "permission denied",
    })
    expect(decodeError({ status: 502, document: "<html>", header })).toMatchObject({
      code: "unavailable",
      message: "The server answered 502.",
    })
  })
})
