import {
  type Arbitrary,
  array,
  assert,
  constant,
  constantFrom,
  nat,
  oneof,
  property,
  stringMatching,
  tuple,
} from "fast-check"
import { describe, expect, test } from "vitest"
import {
  conflict,
  EngineError,
  type EngineErrorCode,
  type FieldPath,
  invalid,
  notFound,
  undecided,
} from "../../../core/errors.ts"
import {
  attributePointers,
  decodeError,
  encodeError,
  fieldAt,
  listPointers,
  type Pointers,
  statusOf,
} from "./errors.ts"

describe("an error document", () => {
  test("has a string status, a title and a detail", () => {
    expect(encodeError(notFound())).toEqual({
      errors: [
        {
          status: "404",
          title: "not found",
          detail: "The resource does not exist, or you are not authorized to perform this action.",
        },
      ],
    })
  })

  test("has one object per fault, each with its source", () => {
    const error = invalid([
      { field: ["name"], detail: "Name can't be blank" },
      { parameter: "page[size]", detail: "page[size] must be a positive integer" },
      { pointer: "/data/type", detail: 'type must be "workspaces"' },
    ])
    expect(encodeError(error).errors.map((object) => object.source)).toEqual([
      { pointer: "/data/attributes/name" },
      { parameter: "page[size]" },
      { pointer: "/data/type" },
    ])
  })

  test.each<{ field: FieldPath; pointer: string }>([
    { field: ["name"], pointer: "/data/attributes/name" },
    { field: ["autoDestroyAt"], pointer: "/data/attributes/auto-destroy-at" },
    { field: ["vcsRepo", "oauthTokenId"], pointer: "/data/attributes/vcs-repo/oauth-token-id" },
    { field: ["triggerPatterns", 2], pointer: "/data/attributes/trigger-patterns/2" },
    { field: ["project", "id"], pointer: "/data/relationships/project/data/id" },
    { field: ["tagBindings"], pointer: "/data/relationships/tag-bindings/data" },
    { field: ["tagBindings", 3], pointer: "/data/relationships/tag-bindings/data/3" },
    { field: ["tagBindings", 0, "key"], pointer: "/data/relationships/tag-bindings/data/0/attributes/key" },
  ])("points to $pointer", ({ field, pointer }) => {
    expect(attributePointers(["project", "tagBindings"])(field)).toBe(pointer)
  })

  test.each<{ field: FieldPath; pointer: string }>([
    { field: ["data"], pointer: "/data" },
    { field: ["data", 1], pointer: "/data/1" },
    { field: ["data", 1, "id"], pointer: "/data/1/id" },
    { field: ["data", 1, "key"], pointer: "/data/1/attributes/key" },
  ])("points into a list to $pointer", ({ field, pointer }) => {
    expect(listPointers(field)).toBe(pointer)
  })

  test("truncates details that repeat long input", () => {
    const long = "💥".repeat(100_000)
    const document = encodeError(invalid([{ detail: `${long} is not a member`, field: ["name"] }]))
    expect(document.errors[0]?.detail).toHaveLength(1_001)
    expect(document.errors[0]?.detail).toMatch(/^💥.*…$/u)
  })
})

const memberName = stringMatching(/^[a-z]{1,6}([A-Z][a-z]{1,5}){0,2}$/).filter((name) => !["id", "type"].includes(name))
const anyMember = oneof(memberName, constantFrom("id", "type"))
const index = nat(99)
const rest = array(oneof(memberName, index), { maxLength: 2 })
const one = oneof(constant([]), tuple(anyMember))
const oneOfMany = tuple(index, one).map(([at, more]) => [at, ...more])

describe("a domain field", () => {
  test.each<{ what: string; pointers: Pointers; fields: Arbitrary<FieldPath> }>([
    {
      what: "a nested attribute",
      pointers: attributePointers(),
      fields: tuple(memberName, rest).map(([first, more]) => [first, ...more]),
    },
    {
      what: "a to-one or to-many relationship",
      pointers: attributePointers(["tagBindings"]),
      fields: oneof(one, oneOfMany).map((more) => ["tagBindings", ...more]),
    },
    {
      what: "a list of resources",
      pointers: listPointers,
      fields: oneof(constant([]), oneOfMany).map((more) => ["data", ...more]),
    },
  ])("is decoded from its pointer when it is $what", ({ pointers, fields }) => {
    assert(
      property(fields, (field) => {
        expect(fieldAt(pointers(field))).toEqual(field)
      }),
    )
  })

  test("has a pointer next to the attributes when it is the id or the type", () => {
    expect(fieldAt("/data/type")).toEqual(["type"])
  })

  test.each(["/data/attributes", "", "/meta", "/data/relationships/x"])(
    "is undefined for the pointer %j",
    (pointer) => {
      expect(fieldAt(pointer)).toBeUndefined()
    },
  )
})

describe("a decoded error", () => {
  test.each<EngineErrorCode>([
    "bad-request",
    "unauthenticated",
    "forbidden",
    "not-found",
    "conflict",
    "precondition-failed",
    "too-large",
    "unsupported-media-type",
    "unprocessable",
    "rate-limited",
    "unavailable",
    "internal",
  ])("keeps its code %s", (code) => {
    expect(decodeError(statusOf(code), encodeError(new EngineError(code, "why"))).code).toBe(code)
  })

  test("keeps its detail and faults", () => {
    const decoded = decodeError(422, encodeError(invalid([{ field: ["name"], detail: "Name has already been taken" }])))
    expect(decoded).toMatchObject({
      code: "invalid",
      message: "Name has already been taken",
      faults: [{ detail: "Name has already been taken", field: ["name"] }],
    })
    expect(decodeError(409, encodeError(conflict("workspace already locked"))).message).toBe("workspace already locked")
  })

  test("distinguishes a pending unlock from a busy database", () => {
    const error = new EngineError("pending", "The latest state version is still pending")
    expect(decodeError(503, encodeError(error)).code).toBe("pending")
    expect(decodeError(503, encodeError(new EngineError("busy", "busy"))).code).toBe("busy")
  })

  test("distinguishes a change that may have been made from one that was not", () => {
    const document = encodeError(undecided(new Error("the connection was cut")))
    expect(document.errors[0]).toMatchObject({ status: "503", meta: { outcome: "unknown" } })
    expect(decodeError(503, document, { retryAfterMs: 1_000 })).toMatchObject({
      code: "unavailable",
      retryAfterMs: 1_000,
      facts: { outcome: "unknown" },
    })
  })

  test("is created from a body that is not an error document", () => {
    expect(decodeError(502, "<html>").code).toBe("unavailable")
  })
})
